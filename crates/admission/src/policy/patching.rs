//! What the expressions of mutating policies make of an object.

use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::Status;
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_cel::{Map, Value};
use kubist_codec::patch::Reading;
use kubist_codec::patch::json::JsonPatch;
use kubist_field_manager::schema::{Relationship, Schema, TypeRef};
use kubist_field_manager::{Duplicates, ObjectType};
use serde_json::Value as Json;
use std::fmt::{self, Write as _};

/// Why an object was not changed.
#[derive(Debug)]
pub(super) enum Unpatched {
    /// The policy failed: its failure policy decides.
    Failed(String),
    /// The request is refused.
    Refused(Box<Status>),
}

impl Unpatched {
    pub(super) fn failed(why: impl fmt::Display) -> Self {
        Self::Failed(why.to_string())
    }
}

/// Applies a list of `JSONPatch` messages. An operation `test` that finds another value leaves the
/// object as it is.
pub(super) fn json_patch(value: &Value<'_>, object: &Json) -> Result<Json, Unpatched> {
    let Value::List(list) = value else {
        return Err(Unpatched::failed(
            "type mismatch: JSONPatchType.expression should evaluate to array",
        ));
    };
    let mut operations = Vec::with_capacity(list.len());
    for item in list.iter() {
        let item = item.map_err(Unpatched::failed)?;
        operations.push(operation(&item)?);
    }
    let text = Json::Array(operations).to_string();
    let failed = |error| Unpatched::Failed(format!("JSON Patch: {error}"));
    let patch = JsonPatch::parse(text.as_bytes(), Reading::Loose).map_err(failed)?;
    match patch.apply(object.clone()) {
        Ok(patched) => {
            check_fields(&patched)?;
            Ok(patched)
        }
        Err(error) if error.is_failed_test() => Ok(object.clone()),
        Err(error) => Err(failed(error)),
    }
}

/// Checks that an object of a built-in kind has no fields that its kind lacks.
fn check_fields(object: &Json) -> Result<(), Unpatched> {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let kind = find_kind_by_api_version(text("apiVersion"), text("kind"));
    let Some(mut decoded) = kind.and_then(Kind::new_object) else {
        return Ok(());
    };
    let refused =
        |why: &dyn fmt::Display| Unpatched::Refused(Box::new(Status::internal_error(why)));
    let mut cx = DecodeContext::new().strict();
    let merged = merge_json(&mut *decoded, object.to_string().as_bytes(), &mut cx);
    merged.map_err(|error| refused(&error))?;
    let problems: Vec<String> = cx.take_problems().iter().map(ToString::to_string).collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(refused(&format_args!(
        "strict decoding error: {}",
        problems.join(", ")
    )))
}

fn operation(item: &Value<'_>) -> Result<Json, Unpatched> {
    let is_patch = |map: &&Map<'_>| map.message_name() == Some("JSONPatch");
    let message = match item {
        Value::Map(map) => Some(map).filter(is_patch),
        _ => None,
    };
    let Some(message) = message else {
        return Err(Unpatched::failed(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch",
        ));
    };
    let field = |name| message.find_str(name).map_err(Unpatched::failed);
    let mut operation = serde_json::Map::new();
    for name in ["op", "path", "from"] {
        let value = field(name)?;
        let text = value.as_ref().and_then(Value::as_str).unwrap_or_default();
        // As upstream, an operation without `from` has none, and one without `path` an empty one.
        if name != "from" || !text.is_empty() {
            operation.insert(name.to_owned(), text.into());
        }
    }
    if let Some(value) = field("value")? {
        if let Value::Map(map) = &value
            && let Some(name) = map.message_name()
        {
            check_types(&value, name)?;
        }
        let json = value.to_json().map_err(|error| {
            Unpatched::Failed(format!(
                "JSONPath valueExpression evaluated to a type that could not marshal to JSON: \
                 {error}"
            ))
        })?;
        operation.insert("value".to_owned(), json);
    }
    Ok(Json::Object(operation))
}

/// Merges an `Object` message into the object, by the type of the object.
pub(super) fn apply(
    value: &Value<'_>,
    object: &Json,
    object_type: Option<&ObjectType>,
) -> Result<Json, Unpatched> {
    let is_object = matches!(value, Value::Map(map) if map.message_name() == Some("Object"));
    if !is_object {
        return Err(Unpatched::Failed(format!(
            "unsupported return type from ApplyConfiguration expression: {}",
            value.type_name()
        )));
    }
    check_types(value, "Object")?;
    let mut config = value.to_json().map_err(Unpatched::failed)?;
    let kind = quote(object["kind"].as_str().unwrap_or_default());
    for name in ["apiVersion", "kind"] {
        if let Some(members) = config.as_object_mut() {
            members.insert(name.to_owned(), object[name].clone());
        }
    }
    let Some(object_type) = object_type else {
        return Err(Unpatched::Refused(Box::new(Status::service_unavailable(
            format!(
                "Resource kind {kind} not found. There can be a delay between when \
                 CustomResourceDefinitions are created and when they are available."
            ),
        ))));
    };
    let failed = |what: &str, why: &dyn fmt::Display| {
        Unpatched::Failed(format!("error applying patch: {what}: {why}"))
    };
    let of_config = object_type
        .typed(config, Duplicates::Refused)
        .map_err(|error| failed("failed to convert patch object to typed object", &error))?;
    let mut found = Vec::new();
    let path = &mut String::new();
    let ObjectType { schema, root } = object_type;
    find_atomics(path, (schema, root), of_config.value(), &mut found);
    if !found.is_empty() {
        let why = format!(
            "may not mutate atomic arrays, maps or structs: {}",
            found.join(", ")
        );
        return Err(failed("invalid ApplyConfiguration", &why));
    }
    let live = object_type
        .typed(object.clone(), Duplicates::Allowed)
        .map_err(|error| failed("failed to convert original object to typed object", &error))?;
    let merged = live
        .merge(&of_config)
        .map_err(|error| failed("failed to merge patch", &error))?;
    Ok(merged.into_value())
}

/// Collects the paths of what is atomic, which would be replaced and not merged.
fn find_atomics(
    path: &mut String,
    (schema, type_ref): (&Schema, &TypeRef),
    value: &Json,
    found: &mut Vec<String>,
) {
    let Some(atom) = schema.resolve(type_ref) else {
        return;
    };
    let length = path.len();
    match value {
        Json::Object(members) => {
            let Some(map) = &atom.map else {
                return;
            };
            if map.relationship == Relationship::Atomic {
                found.push(path.clone());
            }
            for (name, member) in members {
                if let Some(field) = map.field(name) {
                    path.push('.');
                    path.push_str(name);
                    find_atomics(path, (schema, &field.type_ref), member, found);
                    path.truncate(length);
                }
            }
        }
        Json::Array(items) => {
            let Some(list) = &atom.list else {
                return;
            };
            if list.relationship == Relationship::Atomic {
                found.push(path.clone());
            }
            for (index, item) in items.iter().enumerate() {
                // Writing to a string cannot fail.
                let _written = write!(path, "[{index}]");
                find_atomics(path, (schema, &list.element_type), item, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// Checks that the types of messages are the paths of their fields: `Object.spec` at `spec`.
fn check_types(value: &Value<'_>, path: &str) -> Result<(), Unpatched> {
    let mut errors = Vec::new();
    misplaced(value, path, &mut errors).map_err(Unpatched::failed)?;
    if errors.is_empty() {
        return Ok(());
    }
    Err(Unpatched::Failed(format!(
        "type mismatch: {}",
        errors.join("\n")
    )))
}

fn misplaced(
    value: &Value<'_>,
    path: &str,
    errors: &mut Vec<String>,
) -> Result<(), kubist_cel::EvalError> {
    match value {
        Value::Map(map) => {
            let name = map.message_name();
            if let Some(name) = name.filter(|it| *it != path) {
                let (found, wanted) = (quote(name), quote(path));
                errors.push(format!(
                    "unexpected type name {found}, expected {wanted}, which matches field name \
                     path from root Object type"
                ));
            }
            for key in map.keys() {
                let Some(inner) = map.find(&key)? else {
                    continue;
                };
                match (name, key.as_str()) {
                    (Some(_), Some(field)) => {
                        misplaced(&inner, &format!("{path}.{field}"), errors)?;
                    }
                    _ => misplaced(&inner, path, errors)?,
                }
            }
        }
        Value::List(list) => {
            for item in list.iter() {
                misplaced(&item?, path, errors)?;
            }
        }
        _ => {}
    }
    Ok(())
}
