//! Zeros that a manager owns and that JSON omits.
//!
//! Go's types, and those made from them, leave a zero out of their JSON, so an object that was read
//! does not show whether it has one. Who owns the field has set it, and then zero is its value.

use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use kubist_apimachinery::wire::{Field, FieldFlags, FieldType, Schema};
use serde_json::{Map, Value};

/// Adds to an object the owned fields that it does not have.
pub(crate) fn add_zeros(owned: &FieldSet, schema: &Schema, object: &mut Map<String, Value>) {
    for member in owned.members() {
        let PathElement::Field(name) = member else {
            continue;
        };
        let zero = schema.field(name).and_then(zero);
        if let Some(zero) = zero.filter(|_| !object.contains_key(name.as_str())) {
            object.insert(name.to_string(), zero);
        }
    }
    for (element, owned) in owned.children() {
        let PathElement::Field(name) = element else {
            continue;
        };
        let Some(field) = schema.field(name) else {
            continue;
        };
        match object.get_mut(name.as_str()) {
            Some(value) => add_below(owned, field, value),
            // A struct of zeros is left out, too.
            None if matches!(field.ty, FieldType::Message(_)) && !is_pointer(field) => {
                let mut value = Value::Object(Map::new());
                add_below(owned, field, &mut value);
                if value.as_object().is_some_and(|it| !it.is_empty()) {
                    object.insert(name.to_string(), value);
                }
            }
            None => {}
        }
    }
}

fn add_below(owned: &FieldSet, field: &Field, value: &mut Value) {
    match (field.ty, value) {
        (FieldType::Message(schema), Value::Object(object)) => add_zeros(owned, schema, object),
        (FieldType::MessageMap(schema), Value::Object(map)) => {
            for (element, owned) in owned.children() {
                if let PathElement::Field(key) = element
                    && let Some(Value::Object(object)) = map.get_mut(key.as_str())
                {
                    add_zeros(owned, schema, object);
                }
            }
        }
        (FieldType::MessageList(schema), Value::Array(items)) => {
            for (element, owned) in owned.children() {
                let PathElement::Key(keys) = element else {
                    continue;
                };
                let mut objects = items.iter_mut().filter_map(Value::as_object_mut);
                let is_it = |object: &&mut Map<String, Value>| {
                    let mut keys = keys.iter();
                    keys.all(|it| object.get(it.name.as_str()) == Some(&it.value))
                };
                if let Some(object) = objects.find(is_it) {
                    add_zeros(owned, schema, object);
                }
            }
        }
        _ => {}
    }
}

fn is_pointer(field: &Field) -> bool {
    field.flags.has(FieldFlags::POINTER)
}

/// Returns the value of a field that is set and left out; none for those that are never left out.
fn zero(field: &Field) -> Option<Value> {
    if is_pointer(field) {
        return None;
    }
    Some(match field.ty {
        FieldType::Bool => Value::from(false),
        FieldType::I32 | FieldType::I64 | FieldType::F64 => Value::from(0),
        FieldType::Str | FieldType::Bytes => Value::from(""),
        FieldType::Message(_) => return None,
        FieldType::StrMap | FieldType::BytesMap | FieldType::MessageMap(_) => {
            Value::Object(Map::new())
        }
        _ => Value::Array(Vec::new()),
    })
}
