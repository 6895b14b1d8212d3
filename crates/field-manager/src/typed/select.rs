//! A value without some of its fields, or with only some.

use super::list_items::path_element;
use super::{TypedErrors, TypedValue};
use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use crate::schema::{ListType, MapType, Relationship, Schema, TypeRef};
use serde_json::{Map, Value};

/// The fields of a value that are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Those of the set. Atomic maps and lists are kept as a whole, and empty ones stay empty.
    Only,
    /// All but those of the set. A map or list of which nothing is left becomes null.
    AllBut,
}

pub(super) fn select(typed: &TypedValue, fields: &FieldSet, keep: Keep) -> Value {
    let walker = Walker {
        schema: &typed.schema,
        keep,
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
    keep: Keep,
}

impl Walker<'_> {
    /// Returns what is kept of a value; null if nothing is.
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
                Value::Object(_) => self.whole(value),
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
                Value::Array(_) => self.whole(value),
                _ => Value::Null,
            }
        } else {
            Value::Null
        }
    }

    /// A map or list that is atomic or empty.
    fn whole(&self, value: &Value) -> Value {
        match self.keep {
            Keep::Only => value.clone(),
            Keep::AllBut => Value::Null,
        }
    }

    fn map(&self, map: &MapType, members: &Map<String, Value>, fields: &FieldSet) -> Value {
        let mut out = Map::new();
        for (name, value) in members {
            let element = map.element(name);
            let type_ref = map.type_of(name);
            let kept = match (self.keep, fields.has_member(&element)) {
                (Keep::AllBut, true) => None,
                // As upstream, with the set of this level.
                (Keep::Only, true) => Some(self.value(type_ref, value, fields)),
                (_, false) => self.below(type_ref, value, fields.child(&element)),
            };
            out.extend(kept.map(|it| (name.clone(), it)));
        }
        if out.is_empty() {
            return Value::Null;
        }
        Value::Object(out)
    }

    fn list(&self, list: &ListType, items: &[Value], fields: &FieldSet) -> Value {
        let mut out = Vec::new();
        for item in items {
            // An item without a key is in no set.
            let element = path_element(self.schema, list, item).ok();
            let is_member = element.as_ref().is_some_and(|it| fields.has_member(it));
            let below = element.and_then(|it| fields.child(&it));
            out.extend(match (self.keep, is_member, below) {
                (Keep::AllBut, true, _) => None,
                (Keep::Only, true, None) => Some(item.clone()),
                (_, _, below) => self.below(&list.element_type, item, below),
            });
        }
        if out.is_empty() {
            return Value::Null;
        }
        Value::Array(out)
    }

    /// Returns what is kept of a member or item that is not in the set itself; none if it is not.
    fn below(&self, type_ref: &TypeRef, value: &Value, fields: Option<&FieldSet>) -> Option<Value> {
        match (fields, self.keep) {
            (Some(fields), _) => Some(self.value(type_ref, value, fields)),
            (None, Keep::AllBut) => Some(value.clone()),
            (None, Keep::Only) => None,
        }
    }
}
