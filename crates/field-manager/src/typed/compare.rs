//! The differences of two values.

use super::list_items::path_element;
use super::sides::{Sides, types, zip_members};
use super::{Comparison, TypedError, TypedErrors, TypedValue, prefix};
use crate::path_element::PathElement;
use crate::schema::{Atom, ListType, MapType, Schema, TypeRef};
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

struct Walker<'a> {
    schema: &'a Schema,
    path: Vec<PathElement>,
    found: Comparison,
    errors: Vec<TypedError>,
}

impl Walker<'_> {
    fn values(&mut self, type_ref: &TypeRef, old: Option<&Value>, new: Option<&Value>) {
        let (of_old, of_new) = match types(self.schema, type_ref, old, new) {
            Ok(types) => types,
            Err(error) => return self.errors.push(error),
        };
        if let Some(of_old) = of_old {
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
        match Sides::of(atom, type_ref, old, new) {
            Ok(Sides::Leaf) => {
                self.leaf(old, new);
                return true;
            }
            Ok(Sides::Maps(map, old, new)) => self.map(&map, old, new),
            Ok(Sides::Lists(list, old, new)) => self.list(&list, old, new),
            Err(errors) => self.errors.extend(errors),
        }
        false
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
