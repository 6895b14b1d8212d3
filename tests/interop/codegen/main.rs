//! Reads objects into generated types and writes them again: each line of the files that are named
//! on the command line is an object. It prints a line for each file: how many objects were kept,
//! or else what was lost.
//!
//! `crds` are the generated types, and `table` lists them.

mod crds;
mod table;

use kubist_custom_resource::apimachinery::wire::{DecodeContext, Wire};
use kubist_custom_resource::apimachinery::{KubeObject, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::process::ExitCode;

/// A kind in a version.
struct Kind {
    api_version: &'static str,
    kind: &'static str,
    again: fn(&str) -> Result<[Value; 2], String>,
}

/// Returns the row of a kind.
fn row<K: KubeObject + Serialize + DeserializeOwned>() -> Kind {
    Kind {
        api_version: <K as Resource>::API_VERSION,
        kind: <K as Resource>::KIND,
        again: again::<K>,
    }
}

/// Reads and writes, with the engine that clients use and with serde.
fn again<K: KubeObject + Serialize + DeserializeOwned>(text: &str) -> Result<[Value; 2], String> {
    let cx = &mut DecodeContext::new();
    let by_engine = <K as Wire>::from_json(text.as_bytes(), cx).map_err(|it| it.to_string())?;
    let by_serde: K = serde_json::from_str(text).map_err(|it| it.to_string())?;
    let written = serde_json::from_slice(&by_engine.to_json()).map_err(|it| it.to_string())?;
    let serialized = serde_json::to_value(&by_serde).map_err(|it| it.to_string())?;
    Ok([written, serialized])
}

/// Returns the path of the first difference. Numbers are equal if they have the same value: `1` and
/// `1.0` are.
fn difference(before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let added = after.keys().find(|it| !before.contains_key(*it));
            let added = added.map(|name| format!(".{name} is new"));
            let changed = before.iter().find_map(|(name, value)| match after.get(name) {
                None => Some(format!(".{name} is gone")),
                Some(other) => difference(value, other).map(|it| format!(".{name}{it}")),
            });
            changed.or(added)
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let mut pairs = before.iter().zip(after).enumerate();
            pairs.find_map(|(index, (before, after))| {
                difference(before, after).map(|it| format!("[{index}]{it}"))
            })
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        _ if before == after => None,
        _ => Some(format!(": {before} is now {after}")),
    }
}

/// An object without a spec may be written with an empty one, as by Go.
fn with_spec(mut object: Value, after: &Value) -> Value {
    if object.get("spec").is_none() && after["spec"] == serde_json::json!({}) {
        object["spec"] = after["spec"].clone();
    }
    object
}

/// Checks an object.
fn check(kinds: &[Kind], line: &str) -> Result<(), String> {
    let object: Value = serde_json::from_str(line).map_err(|it| it.to_string())?;
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let named = |problem: String| format!("{api_version} {kind}: {problem}");
    let mut rows = kinds.iter();
    let row = rows.find(|it| it.api_version == api_version && it.kind == kind);
    let row = row.ok_or_else(|| named("there is no type".to_owned()))?;
    for after in (row.again)(line).map_err(named)? {
        if let Some(difference) = difference(&with_spec(object.clone(), &after), &after) {
            return Err(named(difference));
        }
    }
    Ok(())
}

/// Objects must be read on the stack of an ordinary thread (2 MiB), even if it is not optimized.
fn main() -> ExitCode {
    let checks = std::thread::spawn(check_all);
    checks.join().unwrap_or(ExitCode::FAILURE)
}

fn check_all() -> ExitCode {
    let kinds = table::kinds();
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut kept = 0;
        for line in text.lines() {
            match check(&kinds, line) {
                Ok(()) => kept += 1,
                Err(problem) => {
                    code = ExitCode::FAILURE;
                    println!("{path}: {problem}");
                }
            }
        }
        if kept == 0 {
            code = ExitCode::FAILURE;
        }
        println!("{path}: {kept} objects kept");
    }
    code
}
