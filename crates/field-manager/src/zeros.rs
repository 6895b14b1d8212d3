//! Zeros that a manager owns and that JSON omits.
//!
//! Go's types, and those made from them, leave a zero out of their JSON, so an object that was read
//! does not show whether it has one. Who owns the field has set it, and then zero is its value.

use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use hashbrown::HashMap;
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
            let keyed = owned.children().iter().filter_map(|it| match &it.0 {
                PathElement::Key(keys) => Some((keys, &it.1)),
                _ => None,
            });
            let keyed: Vec<_> = keyed.collect();
            // The items of a list have the same keys.
            let Some((first, _)) = keyed.first() else {
                return;
            };
            let names: Vec<String> = first.iter().map(|it| it.name.to_string()).collect();
            let mut by_keys = HashMap::with_capacity(items.len());
            for object in items.iter_mut().filter_map(Value::as_object_mut) {
                let keys: Option<Vec<Value>> =
                    names.iter().map(|it| object.get(it).cloned()).collect();
                if let Some(keys) = keys {
                    by_keys.entry(Value::from(keys)).or_insert(object);
                }
            }
            for (keys, owned) in keyed {
                let keys: Vec<Value> = keys.iter().map(|it| it.value.clone()).collect();
                if let Some(object) = by_keys.get_mut(&Value::from(keys)) {
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
