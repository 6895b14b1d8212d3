//! The fields of a new message: its differences from an empty one, without those that it lacks.
//!
//! Finds the same as comparing, and is faster: fields come in order, and nothing is removed.

use super::TypedErrors;
use super::compare::{self, Walker};
use super::forms::{Form, elements, form, is_empty, items, members, message};
use crate::field_set::FieldSet;
use crate::path_element::PathElement;
use crate::schema::{ListType, MapType, Schema, TypeRef};
use kubist_apimachinery::wire::{
    Message, MessageList, View, same_view, view_to_json, written_field,
};

/// Returns the fields in which a message differs from an empty one, and that it has.
///
/// # Errors
/// An item of an associative list has no key.
pub(crate) fn created_fields(
    schema: &Schema,
    type_ref: &TypeRef,
    empty: &dyn Message,
    new: &dyn Message,
) -> Result<FieldSet, TypedErrors> {
    let mut walker = Created {
        values: Walker::new(schema),
    };
    let node = walker.view(type_ref, Some(View::Message(empty)), View::Message(new));
    TypedErrors::check(walker.values.errors)?;
    Ok(node.below)
}

#[derive(Default)]
struct Node {
    is_field: bool,
    below: FieldSet,
}

struct Created<'a> {
    values: Walker<'a>,
}

impl<'a> Created<'a> {
    fn view(&mut self, type_ref: &TypeRef, empty: Option<View<'_>>, new: View<'_>) -> Node {
        let schema: &'a Schema = self.values.schema;
        let Some(atom) = schema.resolve(type_ref) else {
            return self.tree(type_ref, empty, new);
        };
        let is_field = empty.is_none();
        let below = match form(schema, &atom, empty, Some(new)) {
            Form::Leaf => return Node::leaf(),
            Form::Tree => return self.tree(type_ref, empty, new),
            Form::Object(map) => {
                let (empty, new) = (empty.and_then(message), message(new));
                match new.filter(|_| !(is_empty(empty) && is_empty(new))) {
                    Some(new) => self.object(map, empty, new),
                    None => FieldSet::default(),
                }
            }
            Form::Leaves(map) => leaves(map, empty, new),
            Form::Keyed(list) => match self.keyed(list, empty.and_then(items), items(new)) {
                Some(below) => below,
                None => return self.tree(type_ref, empty, new),
            },
        };
        Node { is_field, below }
    }

    /// Compares as JSON.
    fn tree(&mut self, type_ref: &TypeRef, empty: Option<View<'_>>, new: View<'_>) -> Node {
        let (empty, new) = (empty.map(view_to_json), view_to_json(new));
        let node = self.values.values(type_ref, empty.as_ref(), Some(&new));
        let is_field = node.added || node.modified;
        let below = node.into_comparison();
        Node {
            is_field,
            below: below.added.into_union(below.modified),
        }
    }

    fn object(
        &mut self,
        map: &MapType,
        empty: Option<&dyn Message>,
        new: &dyn Message,
    ) -> FieldSet {
        let mut below = FieldSet::default();
        let indexes = 0..new.schema().fields.len();
        let mut written: Vec<_> = indexes
            .filter_map(|index| Some((index, written_field(new, index)?)))
            .collect();
        // Elements are appended in order.
        written.sort_unstable_by_key(|(_, (field, _))| field.json);
        for (index, (field, view)) in written {
            let of_empty = empty.and_then(|it| written_field(it, index));
            let of_empty = of_empty.map(|it| it.1);
            if of_empty.is_some_and(|it| same_view(it, view)) {
                continue;
            }
            let declared = map.fields.get_key_value(field.json);
            let type_ref = declared.map_or(&map.element_type, |(_, it)| &it.type_ref);
            let node = self.view(type_ref, of_empty, view);
            let name = || declared.map_or_else(|| field.json.into(), |(name, _)| name.clone());
            below.append(|| PathElement::Field(name()), node);
        }
        let Some(others) = new.others() else {
            return below;
        };
        let mut node = compare::Node::default();
        let of_empty = empty.and_then(Message::others);
        self.values.map(&mut node, map, of_empty, Some(others));
        let found = node.into_comparison();
        below.into_union(found.added.into_union(found.modified))
    }

    /// Returns none if a key is missing or repeated, or the empty message has items.
    fn keyed(
        &mut self,
        list: &ListType,
        empty: Option<&dyn MessageList>,
        new: Option<&dyn MessageList>,
    ) -> Option<FieldSet> {
        if empty.is_some_and(|it| !it.is_empty()) {
            return None;
        }
        let schema: &'a Schema = self.values.schema;
        let item = schema.resolve(&list.element_type)?;
        let mut below = FieldSet::default();
        for (element, message) in elements(list, item.map.as_deref()?, new)? {
            let node = self.view(&list.element_type, None, View::Message(message));
            below.append(|| element, node);
        }
        Some(below)
    }
}

/// Returns the members of a map of scalars that the empty map lacks.
fn leaves(map: &MapType, empty: Option<View<'_>>, new: View<'_>) -> FieldSet {
    let mut below = FieldSet::default();
    for (name, view) in members(new) {
        let mut of_empty = empty.into_iter().flat_map(members);
        if !of_empty.any(|it| it.0 == name && same_view(it.1, view)) {
            below.insert_member(map.element(name));
        }
    }
    below
}

impl Node {
    fn leaf() -> Self {
        Self {
            is_field: true,
            below: FieldSet::default(),
        }
    }
}

impl FieldSet {
    /// Adds what was found below an element.
    fn append(&mut self, element: impl FnOnce() -> PathElement, node: Node) {
        match (node.is_field, node.below.is_empty()) {
            (false, true) => {}
            (true, true) => self.insert_member(element()),
            (is_field, false) => {
                let element = element();
                if is_field {
                    self.insert_member(element.clone());
                }
                self.set_child(element, node.below);
            }
        }
    }
}
