//! The fields of a value.

use super::list_items::path_element;
use super::validate::{no_type, resolve};
use super::{TypedErrors, TypedValue, prefix};
use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use crate::schema::{ListType, MapType, Relationship, Schema, TypeRef};
use crate::typed::TypedError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn to_field_set(typed: &TypedValue) -> Result<FieldSet, TypedErrors> {
    let mut errors = Vec::new();
    let walker = Walker {
        schema: &typed.schema,
    };
    let node = walker.value(&mut errors, &typed.type_ref, &typed.value);
    TypedErrors::check(errors)?;
    Ok(node.below)
}

/// The fields of a value: itself, and what is in it.
#[derive(Default)]
struct Node {
    is_field: bool,
    below: FieldSet,
}

struct Walker<'a> {
    schema: &'a Schema,
}

impl Walker<'_> {
    fn value(&self, errors: &mut Vec<TypedError>, type_ref: &TypeRef, value: &Value) -> Node {
        let field = Node {
            is_field: true,
            below: FieldSet::default(),
        };
        let atom = match resolve(self.schema, type_ref) {
            Ok(atom) => atom.of_value(Some(value)),
            Err(error) => {
                errors.push(error);
                return Node::default();
            }
        };
        if let Some(map) = &atom.map {
            match value {
                _ if map.relationship == Relationship::Atomic => field,
                Value::Object(members) => self.map(errors, map, members),
                _ => Node::default(),
            }
        } else if atom.scalar.is_some() {
            field
        } else if let Some(list) = &atom.list {
            match value {
                _ if list.relationship == Relationship::Atomic => field,
                Value::Array(items) => self.list(errors, list, items),
                _ => Node::default(),
            }
        } else {
            errors.push(no_type(type_ref));
            Node::default()
        }
    }

    fn map(
        &self,
        errors: &mut Vec<TypedError>,
        map: &MapType,
        members: &Map<String, Value>,
    ) -> Node {
        let mut node = Node::default();
        for (name, value) in members {
            let start = errors.len();
            let below = self.value(errors, map.type_of(name), value);
            let element = map.element(name);
            prefix(errors, start, &element);
            // Members of maps are fields of their own, as are empty ones of declared fields.
            let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
            if below.is_field || is_empty || map.field(name).is_none() {
                node.below.insert_member(element.clone());
            }
            node.below.set_child(element, below.below);
        }
        node
    }

    fn list(&self, errors: &mut Vec<TypedError>, list: &ListType, items: &[Value]) -> Node {
        let mut counts: BTreeMap<PathElement, usize> = BTreeMap::new();
        let elements: Vec<_> = items
            .iter()
            .map(|item| path_element(self.schema, list, item).ok())
            .collect();
        for element in elements.iter().flatten() {
            *counts.entry(element.clone()).or_default() += 1;
        }
        let mut node = Node::default();
        for (item, element) in items.iter().zip(elements) {
            let Some(element) = element else { continue };
            // Repeated items have one owner as a whole.
            if counts.get(&element) == Some(&1) {
                let start = errors.len();
                let below = self.value(errors, &list.element_type, item);
                prefix(errors, start, &element);
                node.below.set_child(element.clone(), below.below);
            }
            node.below.insert_member(element);
        }
        node
    }
}
