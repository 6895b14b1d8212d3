//! How errors quote the outcome of a JSON or merge patch. Upstream applies those to text: an
//! object that the patch goes into is written anew, its members sorted; all others stand as they
//! were encoded, in the order of their struct.

use kubist_apimachinery::wire::{FieldType, JsonForm, Schema};
use kubist_codec::negotiate::PatchType;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a patch went into.
enum Touched {
    No,
    All,
    Members(BTreeMap<String, Self>),
}

static NO: Touched = Touched::No;
static ALL: Touched = Touched::All;

/// The text of an object that a patch made.
pub(super) fn text(
    patched: &Value,
    patch_type: PatchType,
    patch: &[u8],
    schema: &'static Schema,
) -> String {
    let patch: Value = serde_json::from_slice(patch).unwrap_or_default();
    let touched = match patch_type {
        PatchType::Json => Touched::by_operations(&patch),
        _ => Touched::by_merge(&patch),
    };
    let mut out = String::new();
    write(
        patched,
        &touched,
        Some(FieldType::Message(schema)),
        &mut out,
    );
    out
}

impl Touched {
    fn by_merge(patch: &Value) -> Self {
        match patch {
            Value::Object(members) => Self::Members(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), Self::by_merge(value)))
                    .collect(),
            ),
            _ => Self::All,
        }
    }

    /// Operations go into all objects on their ways; what they add is written anew.
    fn by_operations(patch: &Value) -> Self {
        let mut touched = Self::Members(BTreeMap::new());
        for operation in patch.as_array().map_or(&[][..], Vec::as_slice) {
            let adds = operation["op"] != "test" && operation["op"] != "remove";
            for (member, adds) in [("path", adds), ("from", false)] {
                if let Some(pointer) = operation[member].as_str() {
                    touched.go(pointer, adds);
                }
            }
        }
        touched
    }

    fn go(&mut self, pointer: &str, adds: bool) {
        let mut parts: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        if !adds {
            parts.pop();
        }
        let mut place = self;
        for part in parts {
            place = match place {
                Self::Members(members) => members
                    .entry(part)
                    .or_insert_with(|| Self::Members(BTreeMap::new())),
                Self::No | Self::All => return,
            };
        }
        if adds {
            *place = Self::All;
        }
    }

    fn member(&self, name: &str) -> &Self {
        match self {
            Self::No => &NO,
            Self::All => &ALL,
            Self::Members(members) => members.get(name).unwrap_or(&NO),
        }
    }
}

fn write(value: &Value, touched: &Touched, ty: Option<FieldType>, out: &mut String) {
    match value {
        Value::Object(map) => {
            let schema = match ty {
                Some(FieldType::Message(schema)) if schema.form == JsonForm::Object => Some(schema),
                _ => None,
            };
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            if let (Touched::No, Some(schema)) = (touched, schema) {
                members.sort_by_key(|(name, _)| place(schema, name));
            }
            for (index, (name, value)) in members.into_iter().enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                let ty = match (schema, ty) {
                    (Some(schema), _) => schema.field(name).map(|field| field.ty),
                    (None, Some(FieldType::MessageMap(schema))) => Some(FieldType::Message(schema)),
                    _ => None,
                };
                write(value, touched.member(name), ty, out);
            }
            out.push_str(if map.is_empty() { "{}" } else { "}" });
        }
        Value::Array(list) => {
            let ty = match ty {
                Some(FieldType::MessageList(schema)) => Some(FieldType::Message(schema)),
                _ => None,
            };
            out.push('[');
            for (index, value) in list.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(value, touched.member(&index.to_string()), ty, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Where a member stands in its struct; what a kind says of itself comes first.
fn place(schema: &Schema, name: &str) -> usize {
    match (schema.index_by_name(name, 0), name) {
        (Some(index), _) => index + 2,
        (None, "kind") => 0,
        (None, "apiVersion") => 1,
        (None, _) => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::find_kind;
    use serde_json::json;

    fn quoted(patch_type: PatchType, patch: &str) -> String {
        let pod = find_kind("", "v1", "Pod").expect("it is built in");
        let patched = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p",
            "namespace": "n", "labels": {"b": "1", "a": "2"}}, "spec": {"nodeName": "a",
            "containers": [{"name": "c", "image": "i"}]}});
        text(&patched, patch_type, patch.as_bytes(), pod.schema())
    }

    const METADATA: &str = r#""metadata":{"name":"p","namespace":"n","labels":{"a":"2","b":"1"}}"#;
    const SORTED: &str = r#""metadata":{"labels":{"a":"2","b":"1"},"name":"p","namespace":"n"}"#;
    const SPEC: &str = r#""spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"a"}"#;
    const SORTED_SPEC: &str = r#""spec":{"containers":[{"image":"i","name":"c"}],"nodeName":"a"}"#;

    #[test]
    fn only_what_a_patch_went_into_is_sorted() {
        let kind = r#""apiVersion":"v1","kind":"Pod""#;
        for (patch_type, patch, metadata, spec) in [
            (PatchType::Merge, r#"{"kind":"Pod"}"#, METADATA, SPEC),
            (
                PatchType::Merge,
                r#"{"metadata":{"labels":{"a":"2"}}}"#,
                SORTED,
                SPEC,
            ),
            (
                PatchType::Merge,
                r#"{"spec":{"containers":[{"name":"c","image":"i"}]}}"#,
                METADATA,
                SORTED_SPEC,
            ),
            (
                PatchType::Json,
                r#"[{"op":"add","path":"/metadata/labels/a","value":"2"}]"#,
                SORTED,
                SPEC,
            ),
            (
                PatchType::Json,
                r#"[{"op":"replace","path":"/spec/containers/0/image","value":"i"}]"#,
                METADATA,
                SORTED_SPEC,
            ),
        ] {
            let expected = format!("{{{kind},{metadata},{spec}}}");
            assert_eq!(quoted(patch_type, patch), expected, "{patch}");
        }
    }
}
