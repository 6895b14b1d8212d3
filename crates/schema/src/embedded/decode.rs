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
    let meta = ObjectMeta::from_json(text.as_bytes(), &mut cx).map_err(|it| go_text(&it))?;
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
fn go_text(error: &WireError) -> String {
    match &error.kind {
        WireErrorKind::TypeMismatch {
            found,
            expected,
            message,
        } => {
            let names: Vec<&str> = error
                .path
                .split('.')
                .map(|it| it.split('[').next().unwrap_or_default())
                .collect();
            let path = names.join(".");
            let expected = go_type(expected);
            if matches!(*message, "Time" | "MicroTime") || expected == "v1.Time" {
                return format!("json: cannot unmarshal {found} into Go value of type string");
            }
            format!(
                "json: cannot unmarshal {found} into Go struct field {message}.{path} of type \
                 {expected}"
            )
        }
        WireErrorKind::Invalid { reason } => reason.clone(),
        other => other.to_string(),
    }
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
