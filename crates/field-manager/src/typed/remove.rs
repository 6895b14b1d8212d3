//! A value without some of its fields.

use super::TypedValue;
use super::list_items::path_element;
use crate::field_set::FieldSet;
use crate::schema::{ListType, MapType, Relationship, Schema, TypeRef};
use serde_json::{Map, Value};

pub(super) fn remove(typed: &TypedValue, fields: &FieldSet) -> Value {
    let walker = Walker {
        schema: &typed.schema,
    };
    walker.value(&typed.type_ref, &typed.value, fields)
}

struct Walker<'a> {
    schema: &'a Schema,
}

impl Walker<'_> {
    /// Returns what is left of a value; null if nothing is.
    fn value(&self, type_ref: &TypeRef, value: &Value, fields: &FieldSet) -> Value {
        let Some(atom) = self.schema.resolve(type_ref) else {
            return Value::Null;
        };
        let atom = atom.of_value(Some(value));
        if let Some(map) = &atom.map {
            match value {
                Value::Object(members) if map.relationship == Relationship::Granular => {
                    self.map(map, members, fields)
                }
                _ => Value::Null,
            }
        } else if atom.scalar.is_some() {
            value.clone()
        } else if let Some(list) = &atom.list {
            match value {
                Value::Array(items) if list.relationship == Relationship::Granular => {
                    self.list(list, items, fields)
                }
                _ => Value::Null,
            }
        } else {
            Value::Null
        }
    }

    fn map(&self, map: &MapType, members: &Map<String, Value>, fields: &FieldSet) -> Value {
        let mut out = Map::new();
        for (name, value) in members {
            let element = map.element(name);
            if fields.has_member(&element) {
                continue;
            }
            let left = match fields.child(&element) {
                None => value.clone(),
                Some(below) => self.value(map.type_of(name), value, below),
            };
            out.insert(name.clone(), left);
        }
        if out.is_empty() {
            return Value::Null;
        }
        Value::Object(out)
    }

    fn list(&self, list: &ListType, items: &[Value], fields: &FieldSet) -> Value {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            let element = path_element(self.schema, list, item).ok();
            if element.as_ref().is_some_and(|it| fields.has_member(it)) {
                continue;
            }
            let left = match element.and_then(|it| fields.child(&it)) {
                None => item.clone(),
                Some(below) => self.value(&list.element_type, item, below),
            };
            out.push(left);
        }
        if out.is_empty() {
            return Value::Null;
        }
        Value::Array(out)
    }
}
