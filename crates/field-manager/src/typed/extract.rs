//! A value with only some of its fields.

use super::list_items::path_element;
use super::{TypedError, TypedErrors, TypedValue};
use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use crate::schema::{ListType, MapType, Relationship, Schema, TypeRef};
use serde_json::{Map, Value};

pub(super) fn extract(typed: &TypedValue, fields: &FieldSet) -> Value {
    let walker = Walker {
        schema: &typed.schema,
    };
    walker.value(&typed.type_ref, &typed.value, fields)
}

/// Returns the key fields of the list items that a set goes through, as far as the value has them.
pub(super) fn key_fields(typed: &TypedValue, fields: &FieldSet) -> Result<FieldSet, TypedErrors> {
    let present = typed.to_field_set()?;
    let mut keys = FieldSet::default();
    fields.for_each(&mut |path| {
        if !present.has(path) {
            return;
        }
        for (at, element) in path.iter().enumerate() {
            if let PathElement::Key(key) = element {
                for field in key.iter() {
                    let mut path = path[..=at].to_vec();
                    path.push(PathElement::Field(field.name.clone()));
                    keys.insert(&path);
                }
            }
        }
    });
    Ok(keys)
}

struct Walker<'a> {
    schema: &'a Schema,
}

impl Walker<'_> {
    /// Returns what the set has of a value; null if that is nothing.
    fn value(&self, type_ref: &TypeRef, value: &Value, fields: &FieldSet) -> Value {
        let Some(atom) = self.schema.resolve(type_ref) else {
            return Value::Null;
        };
        let atom = atom.of_value(Some(value));
        if let Some(map) = &atom.map {
            match value {
                Value::Object(members)
                    if map.relationship == Relationship::Granular && !members.is_empty() =>
                {
                    self.map(map, members, fields)
                }
                Value::Object(_) | Value::Null => value.clone(),
                _ => Value::Null,
            }
        } else if atom.scalar.is_some() {
            value.clone()
        } else if let Some(list) = &atom.list {
            match value {
                Value::Array(items)
                    if list.relationship == Relationship::Granular && !items.is_empty() =>
                {
                    self.list(list, items, fields)
                }
                Value::Array(_) | Value::Null => value.clone(),
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
            let type_ref = map.type_of(name);
            let kept = if fields.has_member(&element) {
                // As upstream, with the set of this level.
                self.value(type_ref, value, fields)
            } else if let Some(below) = fields.child(&element) {
                self.value(type_ref, value, below)
            } else {
                continue;
            };
            out.insert(name.clone(), kept);
        }
        if out.is_empty() {
            return Value::Null;
        }
        Value::Object(out)
    }

    fn list(&self, list: &ListType, items: &[Value], fields: &FieldSet) -> Value {
        let mut out = Vec::new();
        for item in items {
            let Ok(element) = path_element(self.schema, list, item) else {
                continue;
            };
            if let Some(below) = fields.child(&element) {
                out.push(self.value(&list.element_type, item, below));
            } else if fields.has_member(&element) {
                out.push(item.clone());
            }
        }
        if out.is_empty() {
            return Value::Null;
        }
        Value::Array(out)
    }
}

impl TypedErrors {
    /// Returns the error of an object that is no object.
    pub(crate) fn not_a_map() -> Self {
        Self(vec![TypedError::new("expected map")])
    }
}
