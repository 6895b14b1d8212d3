//! The differences of two messages, without making JSON of them.
//!
//! As comparing their JSON, which it falls back to where JSON is more general than messages: for
//! sets, maps of messages, repeated keys, and raw JSON.

use super::compare::{Node, Walker};
use super::forms::{Form, elements, form, is_empty, items, members, message};
use super::{Comparison, TypedErrors};
use crate::schema::{ListType, MapType, Schema, TypeRef};
use crate::zip::zip_sorted;
use kubist_apimachinery::wire::{
    Message, MessageList, View, same_view, view_to_json, written_field,
};

/// Compares two messages of one type, the old one and the new one.
///
/// # Errors
/// An item of an associative list has no key.
pub(crate) fn compare_messages(
    schema: &Schema,
    type_ref: &TypeRef,
    old: &dyn Message,
    new: &dyn Message,
) -> Result<Comparison, TypedErrors> {
    let mut walker = Messages {
        values: Walker::new(schema),
    };
    let found = walker.differing(type_ref, Some(View::Message(old)), Some(View::Message(new)));
    TypedErrors::check(walker.values.errors)?;
    Ok(found.into_comparison())
}

struct Messages<'a> {
    values: Walker<'a>,
}

impl<'a> Messages<'a> {
    fn views(&mut self, type_ref: &TypeRef, old: Option<View<'_>>, new: Option<View<'_>>) -> Node {
        if let (Some(old), Some(new)) = (old, new)
            && same_view(old, new)
        {
            return Node::default();
        }
        self.differing(type_ref, old, new)
    }

    /// Compares fields that are not the same, or of which some are expected not to be.
    fn differing(
        &mut self,
        type_ref: &TypeRef,
        old: Option<View<'_>>,
        new: Option<View<'_>>,
    ) -> Node {
        let schema: &'a Schema = self.values.schema;
        let Some(atom) = schema.resolve(type_ref) else {
            return self.trees(type_ref, old, new);
        };
        match form(schema, &atom, old, new) {
            Form::Leaf => Node::leaf(old.is_some(), new.is_some()),
            Form::Tree => self.trees(type_ref, old, new),
            Form::Object(map) => {
                let (of_old, of_new) = (old.and_then(message), new.and_then(message));
                let mut node = self.objects(map, of_old, of_new);
                if node.is_same() && is_empty(of_old) && is_empty(of_new) {
                    return match (old, new) {
                        (Some(_), Some(_)) => node,
                        _ => Node::leaf(old.is_some(), new.is_some()),
                    };
                }
                node.note_absent(old.is_some(), new.is_some());
                node
            }
            Form::Leaves(map) => {
                let mut node = leaves(map, old, new);
                node.note_absent(old.is_some(), new.is_some());
                node
            }
            Form::Keyed(list) => {
                let (of_old, of_new) = (old.and_then(items), new.and_then(items));
                let Some(mut node) = self.keyed(list, of_old, of_new) else {
                    return self.trees(type_ref, old, new);
                };
                node.note_absent(old.is_some(), new.is_some());
                node
            }
        }
    }

    /// Compares as JSON.
    fn trees(&mut self, type_ref: &TypeRef, old: Option<View<'_>>, new: Option<View<'_>>) -> Node {
        let (old, new) = (old.map(view_to_json), new.map(view_to_json));
        self.values.values(type_ref, old.as_ref(), new.as_ref())
    }

    fn objects(
        &mut self,
        map: &MapType,
        old: Option<&dyn Message>,
        new: Option<&dyn Message>,
    ) -> Node {
        let mut node = Node::default();
        let Some(either) = old.or(new) else {
            return node;
        };
        for index in 0..either.schema().fields.len() {
            let of_old = old.and_then(|it| written_field(it, index));
            let of_new = new.and_then(|it| written_field(it, index));
            let Some((field, _)) = of_old.or(of_new) else {
                continue;
            };
            let (old, new) = (of_old.map(|it| it.1), of_new.map(|it| it.1));
            let found = self.views(map.type_of(field.json), old, new);
            node.insert(|| map.element(field.json), found);
        }
        let others = (old.and_then(Message::others), new.and_then(Message::others));
        if others.0.is_some() || others.1.is_some() {
            self.values.map(&mut node, map, others.0, others.1);
        }
        node
    }

    /// Compares lists with keys; returns none if a key is missing or repeated.
    fn keyed(
        &mut self,
        list: &ListType,
        old: Option<&dyn MessageList>,
        new: Option<&dyn MessageList>,
    ) -> Option<Node> {
        let schema: &'a Schema = self.values.schema;
        let item = schema.resolve(&list.element_type)?;
        let item = item.map.as_deref()?;
        let (old, new) = (elements(list, item, old)?, elements(list, item, new)?);
        let mut node = Node::default();
        zip_sorted(
            old,
            new,
            |old, new| old.0.cmp(&new.0),
            |old, new| {
                let views = [&old, &new].map(|it| it.as_ref().map(|it| View::Message(it.1)));
                let found = self.views(&list.element_type, views[0], views[1]);
                if let Some((element, _)) = old.or(new) {
                    node.insert(|| element, found);
                }
            },
        );
        Some(node)
    }
}

fn leaves(map: &MapType, old: Option<View<'_>>, new: Option<View<'_>>) -> Node {
    let mut node = Node::default();
    zip_sorted(
        old.into_iter().flat_map(members),
        new.into_iter().flat_map(members),
        |old, new| old.0.cmp(new.0),
        |old, new| {
            let is_same = old
                .zip(new)
                .is_some_and(|(old, new)| same_view(old.1, new.1));
            if let (false, Some((name, _))) = (is_same, old.or(new)) {
                let leaf = Node::leaf(old.is_some(), new.is_some());
                node.insert(|| map.element(name), leaf);
            }
        },
    );
    node
}

#[cfg(test)]
mod tests;
