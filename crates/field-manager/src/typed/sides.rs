//! Two values of one type, side by side: what comparing and merging share.

use super::TypedError;
use super::validate::{no_type, resolve, scalar};
use crate::schema::{Atom, ListType, MapType, Relationship, Schema, TypeRef};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What two values are as one type. A side is none if it is absent, null or of another type.
pub(super) enum Sides<'v> {
    /// One field: a scalar, something atomic, or two empty maps or lists.
    Leaf,
    /// Maps with members.
    Maps(
        Arc<MapType>,
        Option<&'v Map<String, Value>>,
        Option<&'v Map<String, Value>>,
    ),
    /// Lists with items.
    Lists(
        Arc<ListType>,
        Option<&'v Vec<Value>>,
        Option<&'v Vec<Value>>,
    ),
}

/// Returns the types of two values. There are two if the value changed its type: what the old one
/// was, and what the new one is. An absent side takes the other's type.
pub(super) fn types(
    schema: &Schema,
    type_ref: &TypeRef,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Result<(Option<Atom>, Atom), TypedError> {
    let atom = resolve(schema, type_ref)?;
    let (of_old, of_new) = (atom.of_value(old), atom.of_value(new));
    let kinds = |it: &Atom| (it.scalar.is_some(), it.list.is_some(), it.map.is_some());
    Ok(if new.is_none() {
        (None, of_old)
    } else if old.is_none() || kinds(&of_old) == kinds(&of_new) {
        (None, of_new)
    } else {
        (Some(of_old), of_new)
    })
}

impl<'v> Sides<'v> {
    /// Looks at two values as one type.
    ///
    /// # Errors
    /// Both are no scalars of the type, or there is no type.
    pub(super) fn of(
        atom: &Atom,
        type_ref: &TypeRef,
        old: Option<&'v Value>,
        new: Option<&'v Value>,
    ) -> Result<Self, Vec<TypedError>> {
        if let Some(map) = &atom.map {
            let members = |it: Option<&'v Value>| it.and_then(Value::as_object);
            let (old, new) = (members(old), members(new));
            let is_empty = |it: Option<&Map<_, _>>| it.is_none_or(Map::is_empty);
            let is_leaf =
                map.relationship == Relationship::Atomic || (is_empty(old) && is_empty(new));
            return Ok(if is_leaf {
                Self::Leaf
            } else {
                Self::Maps(Arc::clone(map), old, new)
            });
        }
        if let Some(expected) = atom.scalar {
            let sides = (
                scalar(expected, old, "lhs: "),
                scalar(expected, new, "rhs: "),
            );
            return match sides {
                (Some(old), Some(new)) => Err(vec![old, new]),
                _ => Ok(Self::Leaf),
            };
        }
        let Some(list) = &atom.list else {
            return Err(vec![no_type(type_ref)]);
        };
        let items = |it: Option<&'v Value>| it.and_then(Value::as_array);
        let (old, new) = (items(old), items(new));
        let is_empty = |it: Option<&Vec<_>>| it.is_none_or(Vec::is_empty);
        let is_leaf = list.relationship == Relationship::Atomic || (is_empty(old) && is_empty(new));
        Ok(if is_leaf {
            Self::Leaf
        } else {
            Self::Lists(Arc::clone(list), old, new)
        })
    }
}

/// Visits the members of two maps, each name once.
pub(super) fn zip_members<'v>(
    old: Option<&'v Map<String, Value>>,
    new: Option<&'v Map<String, Value>>,
    mut visit: impl FnMut(&'v str, Option<&'v Value>, Option<&'v Value>),
) {
    for (name, value) in old.into_iter().flatten() {
        visit(name, Some(value), new.and_then(|it| it.get(name)));
    }
    for (name, value) in new.into_iter().flatten() {
        if old.is_none_or(|it| !it.contains_key(name)) {
            visit(name, None, Some(value));
        }
    }
}
