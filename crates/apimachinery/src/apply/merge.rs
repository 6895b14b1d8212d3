//! Merging of fields by the schema of their type, as server-side apply merges.

use crate::wire::{Field, FieldType, JsonForm, ListType, Schema};
use hashbrown::{HashMap, HashSet};
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
                let mut known: HashSet<Value> = old.iter().cloned().collect();
                old.extend(new.into_iter().filter(|item| known.insert(item.clone())));
            }
            (Some(keys), FieldType::MessageList(schema)) => upsert_all(schema, keys, old, new),
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

/// Merges each item into the one with its keys, or adds it.
fn upsert_all(schema: &Schema, keys: &[&str], items: &mut Vec<Value>, new: Vec<Value>) {
    let keys: Vec<Key<'_>> = keys.iter().map(|name| Key::new(schema, name)).collect();
    let identity = |item: &Value| -> Vec<Value> { keys.iter().map(|it| it.of(item)).collect() };
    let mut places: HashMap<Vec<Value>, usize> = HashMap::with_capacity(items.len() + new.len());
    for (place, item) in items.iter().enumerate() {
        places.entry(identity(item)).or_insert(place);
    }
    for item in new {
        let place = *places.entry(identity(&item)).or_insert(items.len());
        match items.get_mut(place) {
            Some(old) => combine_items(schema, old, item),
            None => items.push(item),
        }
    }
}

/// A key of items.
struct Key<'a> {
    name: &'a str,
    /// What it is if it is absent.
    default: Value,
}

impl<'a> Key<'a> {
    fn new(schema: &Schema, name: &'a str) -> Self {
        let default = schema.defaults.iter().find(|(found, _)| *found == name);
        let default = default.and_then(|(_, text)| serde_json::from_str(text).ok());
        Self {
            name,
            default: default.unwrap_or_default(),
        }
    }

    fn of(&self, item: &Value) -> Value {
        item.get(self.name).unwrap_or(&self.default).clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::ObjectMeta;
    use crate::OwnerReference;
    use crate::apply::{ApplyConfiguration as _, ObjectMetaApply};
    use std::time::{Duration, Instant};

    /// Quadratic, it took half a minute.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "it measures")]
    fn many_items_do_not_take_quadratic_time() {
        let began = Instant::now();
        let names = || (0..20_000).map(|number| format!("example.com/{number}"));
        let owners = || {
            names().map(|uid| OwnerReference {
                uid: uid.into(),
                ..OwnerReference::default()
            })
        };
        let meta = ObjectMetaApply::new()
            .finalizers(names())
            .finalizers(names());
        let meta = meta.owner_references(owners()).owner_references(owners());
        let meta: ObjectMeta = serde_json::from_value(meta.into_value()).expect("metadata");
        assert_eq!(
            (meta.finalizers.len(), meta.owner_references.len()),
            (20_000, 20_000)
        );
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}
