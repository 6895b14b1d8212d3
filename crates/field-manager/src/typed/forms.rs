//! How fields of messages are compared: by their types, and by what they are.

use crate::path_element::{KeyField, PathElement};
use crate::schema::{Atom, ListType, MapType, Relationship, Schema};
use kubist_apimachinery::Str;
use kubist_apimachinery::wire::{
    JsonForm, Message, MessageList, View, is_json_null, view_to_json, written_field,
};
use serde_json::{Map, Value};

/// How two fields are compared.
pub(super) enum Form<'t> {
    /// As a whole.
    Leaf,
    /// By their fields.
    Object(&'t MapType),
    /// As maps of scalars.
    Leaves(&'t MapType),
    /// As lists with keys.
    Keyed(&'t ListType),
    /// As JSON.
    Tree,
}

/// Returns how two fields of a type are compared.
pub(super) fn form<'t>(
    schema: &Schema,
    atom: &'t Atom,
    old: Option<View<'_>>,
    new: Option<View<'_>>,
) -> Form<'t> {
    let Some(either) = old.or(new) else {
        return Form::Leaf;
    };
    // Null, and what only one type of JSON can be, is simple; the rest has its own rules.
    let both = |fits: fn(View<'_>) -> bool| old.is_none_or(fits) && new.is_none_or(fits);
    let is_none_filled = !old.is_some_and(is_filled) && !new.is_some_and(is_filled);
    match (either, &atom.map, &atom.list, atom.scalar) {
        (View::Message(_) | View::OptMessage(_), Some(map), None, None) if both(is_object) => {
            match map.relationship {
                Relationship::Atomic => Form::Leaf,
                Relationship::Granular => Form::Object(map),
            }
        }
        (View::StrMap(_) | View::MessageMap(_), Some(map), None, None) if both(is_map) => {
            match map.relationship {
                _ if is_none_filled => Form::Leaf,
                Relationship::Atomic => Form::Leaf,
                Relationship::Granular if has_leaves(schema, map) => Form::Leaves(map),
                Relationship::Granular => Form::Tree,
            }
        }
        (View::MessageList(_), None, Some(list), None) if both(is_list) => {
            match list.relationship {
                _ if is_none_filled => Form::Leaf,
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
        (View::OptMessage(None), None, None, Some(_)) if both(is_scalar_or_null) => Form::Leaf,
        (View::Message(_) | View::OptMessage(_), _, _, Some(_)) if both(is_scalar) => Form::Leaf,
        _ => Form::Tree,
    }
}

/// Reports whether the members of a map are scalars without declared fields.
fn has_leaves(schema: &Schema, map: &MapType) -> bool {
    let members = schema.resolve(&map.element_type);
    map.fields.is_empty()
        && members.is_some_and(|it| it.scalar.is_some() && it.map.is_none() && it.list.is_none())
}

pub(super) fn message(view: View<'_>) -> Option<&dyn Message> {
    match view {
        View::Message(message) | View::OptMessage(Some(message)) => Some(message),
        _ => None,
    }
}

fn is_object(view: View<'_>) -> bool {
    message(view).is_some_and(|it| it.schema().form == JsonForm::Object)
}

fn is_scalar_or_null(view: View<'_>) -> bool {
    matches!(view, View::OptMessage(None)) || is_scalar(view)
}

fn is_scalar(view: View<'_>) -> bool {
    message(view).is_some_and(|it| it.schema().form == JsonForm::Scalar)
}

pub(super) fn is_empty(message: Option<&dyn Message>) -> bool {
    message.is_none_or(|it| {
        let fields = it.schema().fields.len();
        it.schema().kind.is_none()
            && (0..fields).all(|index| written_field(it, index).is_none())
            && it.others().is_none_or(Map::is_empty)
    })
}

fn is_map(view: View<'_>) -> bool {
    matches!(view, View::StrMap(_) | View::MessageMap(_))
}

fn is_list(view: View<'_>) -> bool {
    matches!(view, View::MessageList(_))
}

/// Reports whether a map or list has members or items.
fn is_filled(view: View<'_>) -> bool {
    match view {
        View::StrMap(map) => !map.is_empty(),
        View::MessageMap(map) => !map.is_empty(),
        View::MessageList(list) => !list.is_empty(),
        _ => false,
    }
}

/// Returns the members of a map of texts or messages, in order.
pub(super) fn members<'v>(view: View<'v>) -> Box<dyn Iterator<Item = (&'v Str, View<'v>)> + 'v> {
    match view {
        View::StrMap(map) => Box::new(map.iter().map(|(name, text)| (name, View::Str(text)))),
        View::MessageMap(map) => {
            Box::new(map.entries().map(|(name, it)| (name, View::Message(it))))
        }
        _ => Box::new(std::iter::empty()),
    }
}

pub(super) fn items(view: View<'_>) -> Option<&dyn MessageList> {
    match view {
        View::MessageList(list) => Some(list),
        _ => None,
    }
}

/// Returns the items of a list by key, in order; none if a key is missing or repeated.
pub(super) fn elements<'m>(
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
