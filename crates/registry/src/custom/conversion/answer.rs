//! Converted objects: each must be the same object in the requested version.
//!
//! A conversion may change everything outside of the metadata, and labels and annotations. All
//! other metadata comes from the original.

use crate::strategy::validate_metadata::validate_annotations;
use kubist_api::Kind;
use kubist_apimachinery::wire::Message as _;
use kubist_apimachinery::{CustomObject, FieldError, FieldPath, ObjectMeta, Str, validate_labels};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The reason why a converted object is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not an object.
    NoObject(String),
    /// Its version or kind is wrong.
    Type(String),
    /// It is another object.
    Identity(String),
    /// Its metadata is invalid.
    Metadata(String),
}

/// The maximum length of an object without a kind that an error shows.
const SHOWN_MAX: usize = 512;

/// Returns the converted form of `original`.
pub(crate) fn converted(
    original: &CustomObject,
    answer: &RawValue,
    to: &'static Kind,
) -> Result<CustomObject, Refusal> {
    let mut members: Map<String, Value> =
        serde_json::from_str(answer.get()).map_err(|error| Refusal::NoObject(error.to_string()))?;
    let kind = text(&members, "kind").to_owned();
    if kind.is_empty() {
        let shown: String = answer.get().chars().take(SHOWN_MAX).collect();
        return Err(Refusal::NoObject(format!(
            "Object 'Kind' is missing in '{shown}'"
        )));
    }
    let (expected, received) = (to.facts().api_version, text(&members, "apiVersion"));
    if expected != received {
        return Err(Refusal::Type(format!(
            "invalid groupVersion (expected {expected}, received {received})"
        )));
    }
    let expected = original.schema().kind.map_or("", |it| it.kind);
    if expected != kind {
        return Err(Refusal::Type(format!(
            "invalid kind (expected {expected}, received {kind})"
        )));
    }
    let meta = members.remove("metadata");
    check_identity(&original.metadata, meta.as_ref()).map_err(Refusal::Identity)?;
    let restored = restored(&original.metadata, meta.as_ref()).map_err(Refusal::Metadata)?;
    members.remove("apiVersion");
    members.remove("kind");
    let mut object = CustomObject::new(to.schema());
    object.metadata = restored;
    *object.content_mut() = members;
    Ok(object)
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> &'a str {
    members
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn check_identity(original: &ObjectMeta, meta: Option<&Value>) -> Result<(), String> {
    let found = |name: &str| meta.and_then(|it| it[name].as_str()).unwrap_or_default();
    for (what, name, expected) in [
        ("name", "name", &original.name),
        ("namespace", "namespace", &original.namespace),
        ("UID", "uid", &original.uid),
    ] {
        let found = found(name);
        if *expected != *found {
            return Err(format!("must have the same {what}: {expected} != {found}"));
        }
    }
    Ok(())
}

/// Returns the metadata of the original with the labels and annotations of the answer.
fn restored(original: &ObjectMeta, meta: Option<&Value>) -> Result<ObjectMeta, String> {
    let meta = meta.ok_or("missing metadata in converted object")?;
    let Value::Object(meta) = meta else {
        let of = go_type(meta);
        return Err(format!("invalid metadata of type {of} in converted object"));
    };
    let mut restored = original.clone();
    if let Some(labels) = changed(meta, "labels", &original.labels)? {
        let path = FieldPath::new("metadata").child("labels");
        valid(&validate_labels(&labels, &path))?;
        restored.labels = labels;
    }
    if let Some(annotations) = changed(meta, "annotations", &original.annotations)? {
        // Upstream's path has no `s`.
        let path = FieldPath::new("metadata").child("annotation");
        valid(&validate_annotations(&annotations, &path))?;
        restored.annotations = annotations;
    }
    Ok(restored)
}

/// Returns the labels or annotations of the answer, if they differ from the original's.
fn changed(
    meta: &Map<String, Value>,
    name: &str,
    original: &BTreeMap<Str, Str>,
) -> Result<Option<BTreeMap<Str, Str>>, String> {
    let found = match meta.get(name) {
        None | Some(Value::Null) => return Ok(Some(BTreeMap::new())),
        Some(Value::Object(found)) => found,
        Some(other) => {
            let of = go_type(other);
            return Err(format!(
                "invalid metadata.{name} of type {of} in converted object"
            ));
        }
    };
    let mut texts = BTreeMap::new();
    for (key, value) in found {
        let Value::String(value) = value else {
            let of = go_type(value);
            return Err(format!(
                "metadata.{name}[{key}] must be a string, but is {of} in converted object"
            ));
        };
        texts.insert(key.as_str().into(), value.as_str().into());
    }
    Ok((texts != *original).then_some(texts))
}

fn valid(errors: &[FieldError]) -> Result<(), String> {
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match &messages[..] {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

/// Returns the Go type of a JSON value, as upstream's messages name it.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
