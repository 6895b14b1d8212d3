//! The differences of two messages, without making JSON of them.
//!
//! As comparing their JSON, which it falls back to where JSON is more general than messages: for
//! sets, maps of messages, repeated keys, and raw JSON.

use super::compare::{Node, Walker};
use super::{Comparison, TypedErrors};
use crate::path_element::{KeyField, PathElement};
use crate::schema::{Atom, ListType, MapType, Relationship, Schema, TypeRef};
use kubist_apimachinery::Str;
use kubist_apimachinery::wire::{
    JsonForm, Message, MessageList, View, is_json_null, same_view, view_to_json, written_field,
};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;

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
    let found = walker.views(type_ref, Some(View::Message(old)), Some(View::Message(new)));
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
        let schema: &'a Schema = self.values.schema;
        let Some(atom) = schema.resolve(type_ref) else {
            return self.trees(type_ref, old, new);
        };
        match form(&atom, old, new) {
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
            Form::Texts(map) => {
                let mut node = texts(map, old.and_then(text_map), new.and_then(text_map));
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
        let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
        let mut node = Node::default();
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => old.0.cmp(&new.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Some(node),
            };
            let of_old = order.is_le().then(|| old.next()).flatten();
            let of_new = order.is_ge().then(|| new.next()).flatten();
            let views = [&of_old, &of_new].map(|it| it.as_ref().map(|it| View::Message(it.1)));
            let found = self.views(&list.element_type, views[0], views[1]);
            if let Some((element, _)) = of_old.or(of_new) {
                node.insert(|| element, found);
            }
        }
    }
}

/// How two fields are compared.
enum Form<'t> {
    /// As a whole.
    Leaf,
    /// By their fields.
    Object(&'t MapType),
    /// As maps of texts.
    Texts(&'t MapType),
    /// As lists with keys.
    Keyed(&'t ListType),
    /// As JSON.
    Tree,
}

fn form<'t>(atom: &'t Atom, old: Option<View<'_>>, new: Option<View<'_>>) -> Form<'t> {
    let Some(either) = old.or(new) else {
        return Form::Leaf;
    };
    // Null, and what only one type of JSON can be, is simple; the rest has its own rules.
    let both = |fits: fn(View<'_>) -> bool| old.is_none_or(fits) && new.is_none_or(fits);
    match (either, &atom.map, &atom.list, atom.scalar) {
        (View::Message(_) | View::OptMessage(_), Some(map), None, None) if both(is_object) => {
            match map.relationship {
                Relationship::Atomic => Form::Leaf,
                Relationship::Granular => Form::Object(map),
            }
        }
        (View::StrMap(_), Some(map), None, None) if both(is_text_map) => match map.relationship {
            Relationship::Atomic => Form::Leaf,
            Relationship::Granular if has_texts(map) => Form::Texts(map),
            Relationship::Granular => Form::Tree,
        },
        (View::MessageList(_), None, Some(list), None) if both(is_filled_list) => {
            match list.relationship {
                Relationship::Atomic => Form::Leaf,
                Relationship::Granular if !list.keys.is_empty() => Form::Keyed(list),
                Relationship::Granular => Form::Tree,
            }
        }
        (
            View::Bool(_)
            | View::I32(_)
            | View::I64(_)
            | View::F64(_)
            | View::Str(_)
            | View::OptBool(_)
            | View::OptI32(_)
            | View::OptI64(_)
            | View::OptF64(_)
            | View::OptStr(_),
            None,
            None,
            Some(_),
        ) => Form::Leaf,
        (View::Message(_) | View::OptMessage(_), _, _, Some(_)) if both(is_scalar) => Form::Leaf,
        _ => Form::Tree,
    }
}

/// Reports whether the members of a map are scalars without declared fields.
fn has_texts(map: &MapType) -> bool {
    let members = &map.element_type;
    let inlined = &members.inlined;
    map.fields.is_empty()
        && members.name.is_empty()
        && inlined.scalar.is_some()
        && inlined.map.is_none()
        && inlined.list.is_none()
}

fn message(view: View<'_>) -> Option<&dyn Message> {
    match view {
        View::Message(message) | View::OptMessage(Some(message)) => Some(message),
        _ => None,
    }
}

fn is_object(view: View<'_>) -> bool {
    message(view).is_some_and(|it| it.schema().form == JsonForm::Object)
}

fn is_scalar(view: View<'_>) -> bool {
    message(view).is_some_and(|it| it.schema().form == JsonForm::Scalar)
}

fn is_empty(message: Option<&dyn Message>) -> bool {
    message.is_none_or(|it| {
        let fields = it.schema().fields.len();
        it.schema().kind.is_none()
            && (0..fields).all(|index| written_field(it, index).is_none())
            && it.others().is_none_or(|it| it.is_empty())
    })
}

fn text_map(view: View<'_>) -> Option<&BTreeMap<Str, Str>> {
    match view {
        View::StrMap(map) => Some(map),
        _ => None,
    }
}

fn is_text_map(view: View<'_>) -> bool {
    text_map(view).is_some_and(|it| !it.is_empty())
}

fn items(view: View<'_>) -> Option<&dyn MessageList> {
    match view {
        View::MessageList(list) => Some(list),
        _ => None,
    }
}

fn is_filled_list(view: View<'_>) -> bool {
    items(view).is_some_and(|it| !it.is_empty())
}

fn texts(
    map: &MapType,
    old: Option<&BTreeMap<Str, Str>>,
    new: Option<&BTreeMap<Str, Str>>,
) -> Node {
    let mut node = Node::default();
    for (name, value) in old.into_iter().flatten() {
        let of_new = new.and_then(|it| it.get(name));
        if of_new != Some(value) {
            node.insert(|| map.element(name), Node::leaf(true, of_new.is_some()));
        }
    }
    for name in new.into_iter().flat_map(BTreeMap::keys) {
        if old.is_none_or(|it| !it.contains_key(name)) {
            node.insert(|| map.element(name), Node::leaf(false, true));
        }
    }
    node
}

/// Returns the items of a list by key, in order; none if a key is missing or repeated.
fn elements<'m>(
    list: &ListType,
    item: &MapType,
    items: Option<&'m dyn MessageList>,
) -> Option<Vec<(PathElement, &'m dyn Message)>> {
    let Some(items) = items else {
        return Some(Vec::new());
    };
    let mut all = Vec::with_capacity(items.len());
    for index in 0..items.len() {
        let message = items.at(index)?;
        all.push((key(list, item, message)?, message));
    }
    all.sort_by(|left, right| left.0.cmp(&right.0));
    let repeated = all
        .windows(2)
        .any(|pair| matches!(pair, [left, right] if left.0 == right.0));
    (!repeated).then_some(all)
}

fn key(list: &ListType, item: &MapType, message: &dyn Message) -> Option<PathElement> {
    let mut fields = Vec::with_capacity(list.keys.len());
    for name in &list.keys {
        let index = message.schema().index_by_name(name, 0)?;
        let value = match written_field(message, index) {
            Some((_, view)) if is_json_null(view) => return None,
            Some((_, View::Str(text) | View::OptStr(Some(text)))) => Value::from(text.as_str()),
            Some((_, view)) => view_to_json(view),
            None => match item.field(name).and_then(|it| it.default.clone()) {
                Some(default) => default,
                None => continue,
            },
        };
        fields.push(KeyField {
            name: name.clone(),
            value,
        });
    }
    if fields.is_empty() {
        return None;
    }
    fields.sort();
    Some(PathElement::Key(fields.into()))
}

#[cfg(test)]
mod tests;
