//! The differences of two values.

use super::list_items::path_element;
use super::validate::{no_type, resolve, scalar};
use super::{Comparison, TypedError, TypedErrors, TypedValue, prefix};
use crate::path_element::PathElement;
use crate::schema::{Atom, ListType, MapType, Relationship, Schema, TypeRef};
use crate::value_order::equal;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn compare(old: &TypedValue, new: &TypedValue) -> Result<Comparison, TypedErrors> {
    let mut walker = Walker {
        schema: &old.schema,
        path: Vec::new(),
        found: Comparison::default(),
        errors: Vec::new(),
    };
    walker.values(&old.type_ref, Some(&old.value), Some(&new.value));
    TypedErrors::check(walker.errors)?;
    Ok(walker.found)
}

/// Returns the type for each side. A side that is absent takes the other's.
pub(super) fn of_sides(
    atom: Atom,
    old: Option<&Value>,
    new: Option<&Value>,
) -> (Option<Atom>, Atom) {
    let (of_old, of_new) = (atom.clone().of_value(old), atom.of_value(new));
    let kinds = |it: &Atom| (it.scalar.is_some(), it.list.is_some(), it.map.is_some());
    if new.is_none() {
        (None, of_old)
    } else if old.is_none() || kinds(&of_old) == kinds(&of_new) {
        (None, of_new)
    } else {
        (Some(of_old), of_new)
    }
}

/// The members of a map; none if the value is absent, null or no map.
pub(super) fn members(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

/// The items of a list; none if the value is absent, null or no list.
pub(super) fn items(value: Option<&Value>) -> Option<&Vec<Value>> {
    value.and_then(Value::as_array)
}

/// Visits the members of two maps in step.
pub(super) fn zip_members<'a>(
    old: Option<&'a Map<String, Value>>,
    new: Option<&'a Map<String, Value>>,
    mut visit: impl FnMut(&'a str, Option<&'a Value>, Option<&'a Value>),
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

struct Walker<'a> {
    schema: &'a Schema,
    path: Vec<PathElement>,
    found: Comparison,
    errors: Vec<TypedError>,
}

impl Walker<'_> {
    fn values(&mut self, type_ref: &TypeRef, old: Option<&Value>, new: Option<&Value>) {
        let atom = match resolve(self.schema, type_ref) {
            Ok(atom) => atom,
            Err(error) => return self.errors.push(error),
        };
        let (of_old, of_new) = of_sides(atom, old, new);
        if let Some(of_old) = of_old {
            // The value changed its type: what it was is compared as that, too.
            self.atom(&of_old, type_ref, old, new);
        }
        if self.atom(&of_new, type_ref, old, new) {
            return;
        }
        // Items of sets and of lists with keys, and members, are fields of their own.
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    /// Compares values as one type; reports whether they were compared as a whole.
    fn atom(
        &mut self,
        atom: &Atom,
        type_ref: &TypeRef,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> bool {
        if let Some(map) = &atom.map {
            let (old_map, new_map) = (members(old), members(new));
            let is_empty = |it: Option<&Map<_, _>>| it.is_none_or(Map::is_empty);
            let is_leaf = map.relationship == Relationship::Atomic
                || (is_empty(old_map) && is_empty(new_map));
            if is_leaf {
                self.leaf(old, new);
            } else {
                self.map(map, old_map, new_map);
            }
            is_leaf
        } else if let Some(expected) = atom.scalar {
            let sides = (
                scalar(expected, old, "lhs: "),
                scalar(expected, new, "rhs: "),
            );
            if let (Some(old), Some(new)) = sides {
                self.errors.extend([old, new]);
                return false;
            }
            self.leaf(old, new);
            true
        } else if let Some(list) = &atom.list {
            let (old_list, new_list) = (items(old), items(new));
            let is_empty = |it: Option<&Vec<_>>| it.is_none_or(Vec::is_empty);
            let is_leaf = list.relationship == Relationship::Atomic
                || (is_empty(old_list) && is_empty(new_list));
            if is_leaf {
                self.leaf(old, new);
            } else {
                self.list(list, old_list, new_list);
            }
            is_leaf
        } else {
            self.errors.push(no_type(type_ref));
            false
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if !equal(old, new) => self.found.modified.insert(&self.path),
            _ => {}
        }
    }

    fn below(
        &mut self,
        element: PathElement,
        type_ref: &TypeRef,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        let start = self.errors.len();
        self.path.push(element);
        self.values(type_ref, old, new);
        if let Some(element) = self.path.pop() {
            prefix(&mut self.errors, start, &element);
        }
    }

    fn map(
        &mut self,
        map: &MapType,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
    ) {
        zip_members(old, new, |name, old, new| {
            self.below(PathElement::from(name), map.type_of(name), old, new);
        });
    }

    fn list(&mut self, list: &ListType, old: Option<&Vec<Value>>, new: Option<&Vec<Value>>) {
        let mut all: BTreeMap<PathElement, [Vec<&Value>; 2]> = BTreeMap::new();
        for (side, items) in [old, new].into_iter().enumerate() {
            for (index, item) in items.into_iter().flatten().enumerate() {
                match path_element(self.schema, list, item) {
                    Ok(element) => all.entry(element).or_default()[side].push(item),
                    Err(why) => {
                        let why = format!("element {index}: {why}");
                        self.errors.push(TypedError::new(why));
                    }
                }
            }
        }
        for (element, [old, new]) in all {
            self.items(list, element, &old, &new);
        }
    }

    /// Compares the items with one path element. Repeated ones are compared as a whole.
    fn items(&mut self, list: &ListType, element: PathElement, old: &[&Value], new: &[&Value]) {
        let item_type = &list.element_type;
        let mut path = self.path.clone();
        path.push(element.clone());
        match (old, new) {
            ([] | [_], [] | [_]) => {
                self.below(
                    element,
                    item_type,
                    old.first().copied(),
                    new.first().copied(),
                );
            }
            ([_, _, ..], [_, _, ..]) => {
                let same = old.len() == new.len() && old.iter().zip(new).all(|(l, r)| equal(l, r));
                if !same {
                    self.found.modified.insert(&path);
                }
            }
            ([_, _, ..], _) => {
                if let Some(new) = new.first() {
                    self.below(element, item_type, None, Some(new));
                }
                self.found.removed.insert(&path);
            }
            (_, [_, _, ..]) => {
                if let Some(old) = old.first() {
                    self.below(element, item_type, Some(old), None);
                }
                self.found.added.insert(&path);
            }
        }
    }
}
