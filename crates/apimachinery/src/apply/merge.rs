//! Merging of fields by the schema of their type, as server-side apply merges.

use crate::wire::{Field, FieldType, JsonForm, ListType, Schema};
use serde_json::{Map, Value};

/// Sets one field: merges the value into the one that is there.
pub(super) fn set(schema: &Schema, into: &mut Map<String, Value>, name: &str, value: Value) {
    match (into.get_mut(name), schema.field(name)) {
        (Some(old), Some(field)) => combine(field, old, value),
        (Some(old), None) => *old = value,
        (None, field) => {
            let mut empty = Value::Array(Vec::new());
            let value = match (field, value) {
                // Items with the same keys become one.
                (Some(field), value @ Value::Array(_)) if field.list_keys().is_some() => {
                    combine(field, &mut empty, value);
                    empty
                }
                (_, value) => value,
            };
            into.insert(name.to_owned(), value);
        }
    }
}

/// Adds fields to others.
pub(super) fn merge(schema: &Schema, into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, value) in from {
        set(schema, into, &name, value);
    }
}

fn combine(field: &Field, old: &mut Value, new: Value) {
    let is_atomic = field.list == ListType::Atomic;
    match (old, new) {
        (Value::Object(old), Value::Object(new)) if !is_atomic => match field.ty {
            FieldType::Message(schema) if schema.form == JsonForm::Object => {
                if schema.atomic && field.list != ListType::Granular {
                    *old = new;
                } else {
                    merge(schema, old, new);
                }
            }
            FieldType::MessageMap(schema) => {
                for (key, value) in new {
                    combine_items(schema, old.entry(key).or_insert(Value::Null), value);
                }
            }
            FieldType::StrMap | FieldType::BytesMap => old.extend(new),
            _ => *old = new,
        },
        (Value::Array(old), Value::Array(new)) => match (field.list_keys(), field.ty) {
            (Some([]), _) => {
                for item in new {
                    if !old.contains(&item) {
                        old.push(item);
                    }
                }
            }
            (Some(keys), FieldType::MessageList(schema)) => {
                for item in new {
                    upsert(schema, keys, old, item);
                }
            }
            _ => *old = new,
        },
        (old, new) => *old = new,
    }
}

fn combine_items(schema: &Schema, old: &mut Value, new: Value) {
    match (old, new) {
        (Value::Object(old), Value::Object(new))
            if schema.form == JsonForm::Object && !schema.atomic =>
        {
            merge(schema, old, new);
        }
        (old, new) => *old = new,
    }
}

/// Merges an item into the one with its keys, or adds it.
fn upsert(schema: &Schema, keys: &[&str], items: &mut Vec<Value>, item: Value) {
    let wanted: Vec<Value> = keys.iter().map(|key| key_of(schema, &item, key)).collect();
    let is_same = |it: &&mut Value| {
        let mut pairs = keys.iter().zip(&wanted);
        pairs.all(|(key, value)| key_of(schema, it, key) == *value)
    };
    match items.iter_mut().find(is_same) {
        Some(old) => combine_items(schema, old, item),
        None => items.push(item),
    }
}

/// Returns a key of an item; its default if it is absent.
fn key_of(schema: &Schema, item: &Value, key: &str) -> Value {
    if let Some(value) = item.get(key) {
        return value.clone();
    }
    let default = schema.defaults.iter().find(|(name, _)| *name == key);
    let default = default.and_then(|(_, text)| serde_json::from_str(text).ok());
    default.unwrap_or_default()
}
