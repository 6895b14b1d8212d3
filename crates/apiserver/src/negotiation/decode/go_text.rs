//! Decoding errors in the words of Go's JSON decoder.

use crate::negotiation::go_decode::{self, go_type};
use kubist_apimachinery::wire::{Field, FieldType, Schema, WireError, WireErrorKind};
use kubist_codec::go_json;

/// Returns Go's error for JSON that does not match a schema.
pub(crate) fn decode_text(error: &WireError, json: &[u8], schema: &'static Schema) -> String {
    let of_go = matches!(
        error.kind,
        WireErrorKind::TypeMismatch { .. }
            | WireErrorKind::Invalid { .. }
            | WireErrorKind::Syntax { .. }
    );
    if of_go && let Some(words) = go_decode::first_error(json, schema) {
        return words;
    }
    match &error.kind {
        WireErrorKind::TypeMismatch {
            found,
            expected,
            message,
        } => {
            let (path, field) = go_field(&error.path, schema);
            let expected = match field.and_then(|field| field.ty.schema()) {
                Some(item) if expected == item.name => go_type(item),
                Some(item) if expected.strip_prefix("[]") == Some(item.name) => {
                    format!("[]{}", go_type(item))
                }
                _ => expected.clone(),
            };
            format!(
                "json: cannot unmarshal {found} into Go struct field {message}.{path} of type \
                 {expected}"
            )
        }
        WireErrorKind::Invalid { reason } => reason.clone(),
        syntax @ WireErrorKind::Syntax { .. } => {
            go_json::refusal(json).unwrap_or_else(|| syntax.to_string())
        }
        other => other.to_string(),
    }
}

/// Returns the error for CBOR with this JSON form, of a message of a Go package.
pub(crate) fn cbor_text(
    error: &WireError,
    json: &[u8],
    (schema, package): (&'static Schema, &'static str),
) -> String {
    let of_go = matches!(
        error.kind,
        WireErrorKind::TypeMismatch { .. } | WireErrorKind::Invalid { .. }
    );
    let words = of_go.then(|| go_decode::cbor_error(json, schema, package));
    let words = words.flatten();
    words.unwrap_or_else(|| decode_text(error, json, schema))
}

/// Returns Go's path of a field, which has no list indexes and no map keys, and the field.
pub(super) fn go_field(path: &str, root: &'static Schema) -> (String, Option<&'static Field>) {
    let mut schema = Some(root);
    let (mut names, mut last) = (Vec::new(), None);
    let mut segments = path.split('.');
    while let (Some(within), Some(segment)) = (schema, segments.next()) {
        let name = segment.split('[').next().unwrap_or_default();
        let Some(field) = within.field(name) else {
            break;
        };
        names.push(name);
        last = Some(field);
        if let FieldType::MessageMap(_) = field.ty {
            segments.next();
        }
        schema = field.ty.schema();
    }
    (names.join("."), last)
}
