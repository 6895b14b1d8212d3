//! Field sets after a change of the schema: maps and lists that became atomic.
//!
//! A type that became granular is treated as if it had always been, as upstream.

use super::validate::{no_type, resolve};
use super::{TypedError, TypedErrors, prefix};
use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use crate::schema::{DEDUCED, ListType, MapType, Relationship, Scalar, Schema, TypeRef};

/// Returns a set as it is with a schema; none if it is the same.
pub(crate) fn reconcile(
    fields: &FieldSet,
    schema: &Schema,
    type_ref: &TypeRef,
) -> Result<Option<FieldSet>, TypedErrors> {
    let mut walker = Walker {
        schema,
        path: Vec::new(),
        atomic: FieldSet::default(),
        errors: Vec::new(),
    };
    walker.node(type_ref, Some(fields), false);
    TypedErrors::check(walker.errors)?;
    if walker.atomic.is_empty() {
        return Ok(None);
    }
    let rest = fields.recursive_difference(&walker.atomic);
    Ok(Some(rest.union(&walker.atomic)))
}

struct Walker<'a> {
    schema: &'a Schema,
    path: Vec<PathElement>,
    /// Paths of which parts are owned, and which have become atomic.
    atomic: FieldSet,
    errors: Vec<TypedError>,
}

impl Walker<'_> {
    /// Visits a value. `fields` are the owned ones below it; `as_whole` is whether only the value
    /// itself is owned.
    fn node(&mut self, type_ref: &TypeRef, fields: Option<&FieldSet>, as_whole: bool) {
        let atom = match resolve(self.schema, type_ref) {
            Ok(atom) => atom,
            Err(error) => return self.errors.push(error),
        };
        if let Some(map) = &atom.map {
            self.map(map, fields, as_whole);
        } else if atom.scalar.is_some() {
            // Nothing below it is owned.
        } else if let Some(list) = &atom.list {
            self.list(list, fields, as_whole);
        } else {
            self.errors.push(no_type(type_ref));
        }
    }

    fn map(&mut self, map: &MapType, fields: Option<&FieldSet>, as_whole: bool) {
        if is_deduced(map) {
            return;
        }
        let Some(fields) = fields else { return };
        if map.relationship == Relationship::Atomic && !as_whole {
            if !fields.is_empty() {
                self.atomic.insert(&self.path);
            }
            return;
        }
        self.each(fields, |element| {
            let type_ref = match element {
                PathElement::Field(name) => map.type_of(name),
                _ => &map.element_type,
            };
            // Fields that the schema lacks stay.
            (!type_ref.is_none()).then_some(type_ref)
        });
    }

    fn list(&mut self, list: &ListType, fields: Option<&FieldSet>, as_whole: bool) {
        if list.relationship == Relationship::Atomic && !as_whole {
            self.atomic.insert(&self.path);
            return;
        }
        if let Some(fields) = fields {
            self.each(fields, |_| Some(&list.element_type));
        }
    }

    fn each<'t>(
        &mut self,
        fields: &FieldSet,
        type_of: impl Fn(&PathElement) -> Option<&'t TypeRef>,
    ) {
        for (element, below) in fields.children() {
            if let Some(type_ref) = type_of(element) {
                self.below(element, type_ref, Some(below), false);
            }
        }
        for element in fields.members() {
            if fields.child(element).is_none()
                && let Some(type_ref) = type_of(element)
            {
                self.below(element, type_ref, None, true);
            }
        }
    }

    fn below(
        &mut self,
        element: &PathElement,
        type_ref: &TypeRef,
        fields: Option<&FieldSet>,
        as_whole: bool,
    ) {
        let start = self.errors.len();
        self.path.push(element.clone());
        self.node(type_ref, fields, as_whole);
        self.path.pop();
        prefix(&mut self.errors, start, element);
    }
}

/// Reports whether a map has no declared fields and members of any type.
fn is_deduced(map: &MapType) -> bool {
    let members = &map.element_type;
    let untyped = if members.name.is_empty() {
        members.inlined.scalar == Some(Scalar::Untyped)
    } else {
        *members.name == *DEDUCED
    };
    untyped && map.fields.is_empty()
}
