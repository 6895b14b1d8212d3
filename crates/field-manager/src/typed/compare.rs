//! The differences of two values.
//!
//! Values that are equal are not looked into, so the cost is that of the differing parts and of one
//! comparison of the rest for each level.

use super::list_items::path_element;
use super::sides::{Sides, types, zip_members};
use super::{Comparison, TypedError, TypedErrors, TypedValue, prefix};
use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use crate::schema::{Atom, ListType, MapType, Schema, TypeRef};
use crate::value_order::equal;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) fn compare(old: &TypedValue, new: &TypedValue) -> Result<Comparison, TypedErrors> {
    let mut walker = Walker::new(&old.schema);
    let found = walker.values(&old.type_ref, Some(&old.value), Some(&new.value));
    TypedErrors::check(walker.errors)?;
    Ok(found.into_comparison())
}

/// The differences of two values.
#[derive(Default)]
pub(super) struct Node {
    /// Whether the value itself is added, removed or modified: it can be several.
    pub(super) added: bool,
    pub(super) removed: bool,
    pub(super) modified: bool,
    /// The differences in it.
    below: Option<Box<Comparison>>,
}

impl Node {
    /// Returns the difference of values that are one field, and not the same.
    pub(super) fn leaf(has_old: bool, has_new: bool) -> Self {
        let mut node = Self {
            modified: has_old && has_new,
            ..Self::default()
        };
        node.note_absent(has_old, has_new);
        node
    }

    /// Notes that one of the values is absent.
    pub(super) fn note_absent(&mut self, has_old: bool, has_new: bool) {
        self.added |= !has_old;
        self.removed |= has_old && !has_new;
    }

    pub(super) fn is_same(&self) -> bool {
        !(self.added || self.removed || self.modified || self.below.is_some())
    }

    /// Returns the differences in the value.
    pub(super) fn into_comparison(self) -> Comparison {
        self.below.map(|it| *it).unwrap_or_default()
    }

    /// Notes the differences of a member or item.
    pub(super) fn insert(&mut self, element: impl FnOnce() -> PathElement, node: Self) {
        if node.is_same() {
            return;
        }
        let element = element();
        let (added, removed, modified) = (node.added, node.removed, node.modified);
        let below = node.into_comparison();
        let to = self.below.get_or_insert_default();
        for (set, is_member, child) in [
            (&mut to.added, added, below.added),
            (&mut to.removed, removed, below.removed),
            (&mut to.modified, modified, below.modified),
        ] {
            insert(set, &element, is_member, child);
        }
    }
}

fn insert(set: &mut FieldSet, element: &PathElement, is_member: bool, child: FieldSet) {
    if is_member {
        set.insert_member(element.clone());
    }
    if !child.is_empty() {
        set.set_child(element.clone(), child);
    }
}

pub(super) struct Walker<'a> {
    pub(super) schema: &'a Schema,
    pub(super) errors: Vec<TypedError>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        Self {
            schema,
            errors: Vec::new(),
        }
    }

    pub(super) fn values(
        &mut self,
        type_ref: &TypeRef,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> Node {
        let mut node = Node::default();
        if let (Some(old), Some(new)) = (old, new)
            && equal(old, new)
        {
            return node;
        }
        let (of_old, of_new) = match types(self.schema, type_ref, old, new) {
            Ok(types) => types,
            Err(error) => {
                self.errors.push(error);
                return node;
            }
        };
        if let Some(of_old) = of_old {
            self.atom(&mut node, &of_old, type_ref, old, new);
        }
        if !self.atom(&mut node, &of_new, type_ref, old, new) {
            // Items of sets and of lists with keys, and members, are fields of their own.
            node.note_absent(old.is_some(), new.is_some());
        }
        node
    }

    /// Compares values as one type; reports whether they were compared as a whole.
    fn atom(
        &mut self,
        node: &mut Node,
        atom: &Atom,
        type_ref: &TypeRef,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> bool {
        match Sides::of(atom, type_ref, old, new) {
            Ok(Sides::Leaf) => {
                node.note_absent(old.is_some(), new.is_some());
                // Equal ones do not come here.
                node.modified |= old.is_some() && new.is_some();
                return true;
            }
            Ok(Sides::Maps(map, old, new)) => self.map(node, &map, old, new),
            Ok(Sides::Lists(list, old, new)) => self.list(node, &list, old, new),
            Err(errors) => self.errors.extend(errors),
        }
        false
    }

    pub(super) fn map(
        &mut self,
        node: &mut Node,
        map: &MapType,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
    ) {
        zip_members(old, new, |name, old, new| {
            let type_ref = map.type_of(name);
            if type_ref.is_none() {
                return; // A field that the type lacks has no owner.
            }
            let start = self.errors.len();
            let found = self.values(type_ref, old, new);
            if self.errors.len() > start {
                prefix(&mut self.errors, start, &PathElement::from(name));
            }
            node.insert(|| map.element(name), found);
        });
    }

    fn list(
        &mut self,
        node: &mut Node,
        list: &ListType,
        old: Option<&Vec<Value>>,
        new: Option<&Vec<Value>>,
    ) {
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
            let start = self.errors.len();
            let found = self.items(list, &old, &new);
            if self.errors.len() > start {
                prefix(&mut self.errors, start, &element);
            }
            node.insert(|| element, found);
        }
    }

    /// Compares the items with one path element. Repeated ones are compared as a whole.
    fn items(&mut self, list: &ListType, old: &[&Value], new: &[&Value]) -> Node {
        let item_type = &list.element_type;
        match (old, new) {
            ([] | [_], [] | [_]) => {
                self.values(item_type, old.first().copied(), new.first().copied())
            }
            ([_, _, ..], [_, _, ..]) => {
                let same = old.len() == new.len() && old.iter().zip(new).all(|(l, r)| equal(l, r));
                Node {
                    modified: !same,
                    ..Node::default()
                }
            }
            ([_, _, ..], _) => {
                let new = new
                    .first()
                    .map(|new| self.values(item_type, None, Some(new)));
                Node {
                    removed: true,
                    ..new.unwrap_or_default()
                }
            }
            (_, [_, _, ..]) => {
                let old = old
                    .first()
                    .map(|old| self.values(item_type, Some(old), None));
                Node {
                    added: true,
                    ..old.unwrap_or_default()
                }
            }
        }
    }
}
