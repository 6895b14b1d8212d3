//! Decoding of metadata, with the errors of Go's decoder.

use kubist_apimachinery::ObjectMeta;
use kubist_apimachinery::wire::{
    DecodeContext, StrictProblem, Wire as _, WireError, WireErrorKind,
};
use serde_json::Value;

/// Metadata, and the paths of its unknown fields.
pub(super) struct Decoded {
    pub(super) meta: ObjectMeta,
    pub(super) unknown: Vec<String>,
}

/// Decodes metadata; null is empty metadata.
///
/// # Errors
/// The text of Go's error.
pub(super) fn decode(metadata: &Value) -> Result<Decoded, String> {
    if metadata.is_null() {
        return Ok(Decoded {
            meta: ObjectMeta::default(),
            unknown: Vec::new(),
        });
    }
    if !metadata.is_object() {
        let found = kind_of(metadata);
        return Err(format!(
            "json: cannot unmarshal {found} into Go value of type v1.ObjectMeta"
        ));
    }
    let text = metadata.to_string();
    let mut cx = DecodeContext::new().strict();
    let meta =
        ObjectMeta::from_json(text.as_bytes(), &mut cx).map_err(|it| go_text(&it, metadata))?;
    let unknown = cx.take_problems().into_iter().filter_map(|it| match it {
        StrictProblem::Unknown(path) => Some(path),
        _ => None,
    });
    Ok(Decoded {
        meta,
        unknown: unknown.collect(),
    })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns Go's text of an error.
fn go_text(error: &WireError, metadata: &Value) -> String {
    let names: Vec<&str> = error
        .path
        .split('.')
        .map(|it| it.split('[').next().unwrap_or_default())
        .collect();
    let path = names.join(".");
    if let Some(last) = names.last()
        && TIMES.contains(last)
        && let Some(found) = at(metadata, &error.path).filter(|it| !it.is_string())
    {
        let owner = if *last == "time" {
            "ManagedFieldsEntry"
        } else {
            "ObjectMeta"
        };
        return mismatch(kind_of(found), owner, &path, "string");
    }
    match &error.kind {
        WireErrorKind::TypeMismatch {
            found,
            expected,
            message,
        } => {
            // Go shows a number only if its type is another number.
            let is_text = expected == "string" && found.starts_with("number");
            let found = if is_text { "number" } else { found.as_str() };
            mismatch(found, message, &path, &go_type(expected))
        }
        WireErrorKind::Invalid { reason } => reason.clone(),
        other => other.to_string(),
    }
}

/// The fields that are times.
const TIMES: [&str; 3] = ["creationTimestamp", "deletionTimestamp", "time"];

fn mismatch(found: &str, owner: &str, path: &str, expected: &str) -> String {
    format!("json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {expected}")
}

/// Returns the value at a path such as `managedFields[0].time`.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, step| {
        let (name, index) = match step.split_once('[') {
            Some((name, index)) => (name, Some(index.strip_suffix(']')?)),
            None => (step, None),
        };
        let value = value.get(name)?;
        match index {
            Some(index) => value.get(index.parse::<usize>().ok()?),
            None => Some(value),
        }
    })
}

fn go_type(expected: &str) -> String {
    let (list, name) = match expected.strip_prefix("[]") {
        Some(name) => ("[]", name),
        None => ("", expected),
    };
    let is_struct = name.starts_with(|c: char| c.is_ascii_uppercase());
    let package = if is_struct { "v1." } else { "" };
    format!("{list}{package}{name}")
}
