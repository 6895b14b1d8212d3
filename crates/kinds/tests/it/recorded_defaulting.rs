//! Recorded responses of a real API server, for requests that the registry alone can answer: those
//! with one object and without headers. The test is skipped if the recordings are not beside the
//! workspace.

use crate::fixture::Fixture;
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{AnyObject, PostOptions, ResourceVersion, Status};
use kubist_codec::negotiate::PatchType;
use kubist_codec::patch::{Reading, apply};
use kubist_registry::{Created, Replacement, Rest, UpdatedObject};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAMESPACE: &str = "recorded";

/// The numbers of equal and of tested steps by area, and the differences.
#[derive(Default)]
struct Score {
    equal: BTreeMap<String, (usize, usize)>,
    differences: Vec<String>,
}

#[tokio::test]
async fn objects_are_filled_in_and_checked_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/recorded");
    if !folder.is_dir() {
        println!("skipped: there are no recordings in ../shared/data/recorded");
        return;
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("it is a folder")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    files.sort();
    let mut score = Score::default();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let scenario: Value = serde_json::from_str(&text).expect("it is JSON");
        play(&scenario, &mut score).await;
    }
    for difference in &score.differences {
        println!("{difference}");
    }
    println!("{:?}", score.equal);
    for (area, least) in [("defaulting", 95), ("validation", 95)] {
        let (equal, tried) = score.equal[area];
        let percent = equal * 100 / tried;
        assert!(
            percent >= least,
            "{area}: {equal} of {tried} steps are equal"
        );
    }
}

async fn play(scenario: &Value, score: &mut Score) {
    let area = scenario["area"].as_str().expect("there is an area");
    if !matches!(area, "defaulting" | "validation") {
        return;
    }
    let fixture = Fixture::new().await;
    let namespace = format!(r#"{{"metadata":{{"name":"{NAMESPACE}"}}}}"#);
    let namespaces = fixture.rest("", "v1", "namespaces");
    let created = post(&fixture, &namespaces, "", namespace.as_bytes()).await;
    created.expect("it is decoded").expect("it is valid");
    for step in scenario["steps"].as_array().expect("there are steps") {
        let plain = step["headers"]
            .as_object()
            .is_none_or(|headers| headers.keys().all(|header| header == "Content-Type"));
        if !plain || !(step["body"].is_object() || step["method"] == "GET") {
            continue;
        }
        let Some(answer) = ask(&fixture, step).await else {
            continue;
        };
        let expected: Value = substitute(&step["response"]["body"]);
        let (code, got) = match answer {
            Ok(object) => (if step["method"] == "POST" { 201 } else { 200 }, object),
            Err(status) => (status.code, to_json_value(&status)),
        };
        let entry = score.equal.entry(area.to_owned()).or_default();
        entry.1 += 1;
        let difference = if step["response"]["status"] == code {
            difference("", &expected, &got)
        } else {
            Some(format!("code {code}: {got}"))
        };
        match difference {
            None => entry.0 += 1,
            Some(text) => {
                let (scenario, name) = (&scenario["name"], &step["name"]);
                score.differences.push(format!("{scenario} {name}: {text}"));
            }
        }
    }
}

/// Runs a step. Returns `None` if it is not about an object of a served kind.
async fn ask(fixture: &Fixture, step: &Value) -> Option<Result<Value, Status>> {
    let path = text(&substitute(&step["path"]));
    let (rest, namespace, name) = resource(fixture, &path)?;
    let body = substitute(&step["body"]).to_string().into_bytes();
    let (cx, options) = (fixture.cx(), PostOptions::default());
    let result = match (step["method"].as_str()?, name) {
        ("POST", None) => return post(fixture, &rest, &namespace, &body).await,
        ("GET", Some(name)) => {
            rest.get(&cx, &namespace, &name, &ResourceVersion::default())
                .await
        }
        ("PUT", Some(name)) => {
            let object = decode(&rest, &body)?;
            let update = Replacement(object);
            let updated = rest.update(&cx, &namespace, &name, &update, &options);
            updated.await.map(|updated| updated.object)
        }
        ("PATCH", Some(name)) => {
            let update = Patch {
                rest: Arc::clone(&rest),
                kind: patch_type(step)?,
                body,
            };
            let updated = rest.update(&cx, &namespace, &name, &update, &options);
            updated.await.map(|updated| updated.object)
        }
        _ => return None,
    };
    Some(result.map(|stored| {
        serde_json::from_slice(&stored.json().expect("it is encoded")).expect("it is JSON")
    }))
}

async fn post(
    fixture: &Fixture,
    rest: &Rest,
    namespace: &str,
    body: &[u8],
) -> Option<Result<Value, Status>> {
    let object = decode(rest, body)?;
    let created = rest
        .create(
            &fixture.cx(),
            namespace,
            "",
            object,
            &PostOptions::default(),
        )
        .await;
    Some(created.map(|created| match created {
        Created::Object(stored) => {
            serde_json::from_slice(&stored.json().expect("it is encoded")).expect("it is JSON")
        }
        Created::Status(status) => to_json_value(&*status),
    }))
}

struct Patch {
    rest: Arc<Rest>,
    kind: PatchType,
    body: Vec<u8>,
}

impl UpdatedObject for Patch {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.ok_or_else(|| Status::bad_request("there is nothing to patch"))?;
        let schema = Some(self.rest.kind().schema());
        let patched = apply(
            self.kind,
            Reading::Checked,
            to_json_value(old),
            &self.body,
            schema,
        )
        .map_err(|error| Status::bad_request(error.to_string()))?;
        decode(&self.rest, patched.to_string().as_bytes())
            .ok_or_else(|| Status::bad_request("it does not decode"))
    }
}

fn patch_type(step: &Value) -> Option<PatchType> {
    match step["headers"]["Content-Type"].as_str() {
        Some("application/merge-patch+json") => Some(PatchType::Merge),
        Some("application/strategic-merge-patch+json") => Some(PatchType::Strategic),
        _ => None,
    }
}

fn decode(rest: &Rest, body: &[u8]) -> Option<Box<dyn AnyObject>> {
    let mut object = rest.kind().new_object()?;
    merge_json(&mut *object, body, &mut DecodeContext::new()).ok()?;
    Some(object)
}

/// Returns the resource, the namespace and the name in a path.
fn resource(fixture: &Fixture, path: &str) -> Option<(Arc<Rest>, String, Option<String>)> {
    if path.contains('?') {
        return None;
    }
    let mut parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, version) = match parts.remove(0) {
        "api" => ("", parts.remove(0)),
        "apis" => (parts.remove(0), parts.remove(0)),
        _ => return None,
    };
    let namespaced = parts.len() > 2 && parts[0] == "namespaces";
    let namespace = if namespaced {
        parts[1].to_owned()
    } else {
        String::new()
    };
    let rest = &parts[if namespaced { 2 } else { 0 }..];
    let found = fixture.registry.resource(group, version, rest.first()?)?;
    match rest {
        [_] => Some((found, namespace, None)),
        [_, name] => Some((found, namespace, Some((*name).to_owned()))),
        _ => None,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn substitute(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let text = text.replace("{{ns}}", NAMESPACE);
            match text
                .strip_prefix("{{fill:")
                .and_then(|it| it.strip_suffix("}}"))
            {
                Some(count) => "x".repeat(count.parse().expect("it is a number")).into(),
                None => text.into(),
            }
        }
        Value::Array(items) => items.iter().map(substitute).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (text(&substitute(&key.clone().into())), substitute(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Returns the first difference between two values. Placeholders for values that change on each run
/// match anything.
fn difference(path: &str, expected: &Value, got: &Value) -> Option<String> {
    let differs = || Some(format!("{path}: expected {expected}, got {got}"));
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (key, value) in expected {
                let path = format!("{path}.{key}");
                let Some(got) = got.get(key) else {
                    return Some(format!("{path}: expected {value}, got nothing"));
                };
                if let Some(difference) = difference(&path, value, got) {
                    return Some(difference);
                }
            }
            let more = got
                .iter()
                .find(|(key, _)| !expected.contains_key(*key) && *key != "managedFields");
            more.map(|(key, value)| format!("{path}.{key}: expected nothing, got {value}"))
        }
        (Value::Array(expected), Value::Array(list)) if expected.len() == list.len() => expected
            .iter()
            .zip(list)
            .enumerate()
            .find_map(|(index, (expected, got))| {
                difference(&format!("{path}[{index}]"), expected, got)
            }),
        (Value::String(pattern), Value::String(text)) if fits(pattern, text) => None,
        (Value::String(pattern), Value::Number(_)) if pattern == "<nodeport>" => None,
        _ if expected == got => None,
        _ => differs(),
    }
}

/// Reports whether a string matches a pattern, in which placeholders such as `<rv1>` match
/// anything.
fn fits(pattern: &str, text: &str) -> bool {
    const NAMES: [&str; 7] = ["uid", "rv", "time", "microtime", "ip", "nodeport", "gen"];
    let Some(start) = pattern.find('<') else {
        return pattern == text;
    };
    let Some(length) = pattern[start..].find('>') else {
        return pattern == text;
    };
    let name = pattern[start + 1..start + length].trim_end_matches(|c: char| c.is_ascii_digit());
    let (head, tail) = (&pattern[..start], &pattern[start + length + 1..]);
    if !NAMES.contains(&name) {
        let shown = &pattern[..=start + length];
        return text
            .strip_prefix(shown)
            .is_some_and(|rest| fits(tail, rest));
    }
    let Some(rest) = text.strip_prefix(head) else {
        return false;
    };
    (0..=rest.len()).any(|end| rest.is_char_boundary(end) && fits(tail, &rest[end..]))
}
