//! The text of a patched object in errors of JSON and merge patches.
//!
//! Upstream applies those patches to text: objects that the patch modifies are re-encoded with
//! sorted members, and all others keep their encoding, in the order of their Go struct.

use kubist_apimachinery::wire::{FieldType, JsonForm, Schema};
use kubist_codec::negotiate::PatchType;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The parts of a tree that a patch modified.
enum Touched {
    No,
    All,
    Members(BTreeMap<String, Self>),
}

/// The target of an operation.
struct Place {
    way: Vec<String>,
    key: String,
    /// The final length of the list, if it is one.
    length: Option<usize>,
}

impl Place {
    fn new(pointer: &str, patched: &Value) -> Option<Self> {
        let (parent, _) = pointer.rsplit_once('/')?;
        let mut way: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        let key = way.pop()?;
        let length = patched
            .pointer(parent)
            .and_then(Value::as_array)
            .map(Vec::len);
        Some(Self { way, key, length })
    }
}

/// Shifts the modified items of a list to other indexes.
fn shift(members: &mut BTreeMap<String, Touched>, to: impl Fn(usize) -> Option<usize>) {
    let before = std::mem::take(members);
    for (key, touched) in before {
        let place = match key.parse::<usize>() {
            Ok(index) => to(index).map(|index| index.to_string()),
            Err(_) => Some(key),
        };
        if let Some(place) = place {
            members.insert(place, touched);
        }
    }
}

static NO: Touched = Touched::No;
static ALL: Touched = Touched::All;

/// Returns the text of a patched object.
pub(super) fn text(
    patched: &Value,
    patch_type: PatchType,
    patch: &[u8],
    schema: &'static Schema,
) -> String {
    let patch: Value = serde_json::from_slice(patch).unwrap_or_default();
    let touched = match patch_type {
        PatchType::Json => Touched::by_operations(&patch, patched),
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

    /// Operations modify all objects on their paths; what they add or compare is re-encoded.
    /// `patched` is the result.
    fn by_operations(patch: &Value, patched: &Value) -> Self {
        let mut touched = Self::Members(BTreeMap::new());
        for operation in patch.as_array().map_or(&[][..], Vec::as_slice) {
            let op = operation["op"].as_str().unwrap_or_default();
            let place = |member| {
                let pointer = operation[member].as_str()?;
                Place::new(pointer, patched)
            };
            match (op, place("from")) {
                ("move", Some(from)) => touched.take_out(&from),
                ("copy", Some(from)) => drop(touched.container(&from)),
                _ => {}
            }
            match (op, place("path")) {
                ("remove", Some(path)) => touched.take_out(&path),
                ("add" | "copy" | "move", Some(path)) => touched.put_in(&path),
                ("replace" | "test", Some(path)) => touched.mark(&path.way, &path.key),
                ("replace", None) if operation["path"] == "" => touched = Self::All,
                _ => {}
            }
        }
        touched
    }

    /// Returns what was modified in the object or list at a path, unless all of it was.
    fn container(&mut self, place: &Place) -> Option<&mut BTreeMap<String, Self>> {
        self.within(&place.way)
    }

    fn within(&mut self, way: &[String]) -> Option<&mut BTreeMap<String, Self>> {
        let Self::Members(members) = self else {
            return None;
        };
        match way.split_first() {
            None => Some(members),
            Some((first, rest)) => members
                .entry(first.clone())
                .or_insert_with(|| Self::Members(BTreeMap::new()))
                .within(rest),
        }
    }

    fn mark(&mut self, way: &[String], key: &str) {
        if let Some(members) = self.within(way) {
            members.insert(key.to_owned(), Self::All);
        }
    }

    /// An insertion shifts the items after it.
    fn put_in(&mut self, place: &Place) {
        let key = match (place.length, place.key.parse::<usize>()) {
            (Some(_), Ok(index)) => {
                if let Some(members) = self.container(place) {
                    shift(members, |it| {
                        Some(it.saturating_add(usize::from(it >= index)))
                    });
                }
                place.key.clone()
            }
            (Some(length), Err(_)) => length.saturating_sub(1).to_string(),
            (None, _) => place.key.clone(),
        };
        self.mark(&place.way, &key);
    }

    /// A removal shifts the items after it.
    fn take_out(&mut self, place: &Place) {
        let Some(members) = self.container(place) else {
            return;
        };
        match (place.length, place.key.parse::<usize>()) {
            (Some(_), Ok(index)) => shift(members, |it| match it.cmp(&index) {
                Ordering::Less => Some(it),
                Ordering::Equal => None,
                Ordering::Greater => it.checked_sub(1),
            }),
            _ => drop(members.remove(&place.key)),
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

/// Returns the position of a member in its Go struct; `kind` and `apiVersion` come first.
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

    const PORT: &str = r#"{"name":"a","protocol":"TCP","port":1}"#;
    const SORTED_PORT: &str = r#"{"name":"b","port":2,"protocol":"UDP"}"#;

    #[test]
    fn what_was_touched_in_a_list_is_found_where_it_is_in_the_end() {
        let service = find_kind("", "v1", "Service").expect("it is built in");
        let patched = json!({"spec": {"ports": [null, {"name": "a", "port": 1, "protocol": "TCP"},
            {"name": "b", "port": 2, "protocol": "UDP"}]}});
        let text = |patch: &str| {
            let schema = service.schema();
            text(&patched, PatchType::Json, patch.as_bytes(), schema)
        };
        let expected = format!(r#"{{"spec":{{"ports":[null,{PORT},{SORTED_PORT}]}}}}"#);
        for patch in [
            r#"[{"op":"add","path":"/spec/ports/1/name","value":"b"},
                {"op":"add","path":"/spec/ports/0","value":null}]"#,
            r#"[{"op":"test","path":"/spec/ports/3","value":{"name":"b"}},
                {"op":"remove","path":"/spec/ports/0"}]"#,
            r#"[{"op":"add","path":"/spec/ports/-","value":{"name":"b"}}]"#,
        ] {
            assert_eq!(text(patch), expected, "{patch}");
        }
    }
}
