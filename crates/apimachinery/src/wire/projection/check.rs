//! Compile-time checks of projection paths against a schema.
//!
//! They apply the plan's rules with what constant evaluation allows.

use crate::wire::serde_field::is_serde_field;
use crate::wire::{Entry, Field, FieldType, JsonForm, Schema};

/// The result of checking a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the derive handles each")]
pub enum PathCheck {
    /// It leads to a field that fits the Rust type.
    Fits,
    /// There is no such field.
    NoField,
    /// The field has another type.
    OtherType,
}

/// Reports whether `path` leads through `schema` to a field that a Rust type of `takes` can hold.
pub const fn check_path(schema: &'static Schema, path: &str, takes: FieldType) -> PathCheck {
    match leaf(schema, path.as_bytes()) {
        // Not checked, except that the values of list items need a list.
        Some((FieldType::Message(schema), listed, _)) if is_serde_field(schema) => {
            if listed && !is_list(takes) {
                PathCheck::OtherType
            } else {
                PathCheck::Fits
            }
        }
        Some((ty, listed, _)) => {
            let fits = if listed {
                fits_list(ty, takes)
            } else {
                fits(ty, takes)
            };
            if fits {
                PathCheck::Fits
            } else {
                PathCheck::OtherType
            }
        }
        None => PathCheck::NoField,
    }
}

/// Reports whether `path` ends in a map key, so that a longer path may begin with it.
pub const fn is_key_path(schema: &'static Schema, path: &str) -> bool {
    matches!(leaf(schema, path.as_bytes()), Some((_, _, true)))
}

/// Returns the field with this name for the schema of a partial message: a field of the message
/// itself.
///
/// # Panics
/// There is no such field, or protobuf has it in a nested message.
pub const fn part_field(schema: &'static Schema, name: &str) -> Field {
    let Some(index) = find(schema, name.as_bytes(), 0, name.len()) else {
        panic!("the message has no such field");
    };
    let mut at = 0;
    while at < schema.order.len() {
        if let Entry::Field(field) = schema.order[at]
            && field as usize == index
        {
            let field = &schema.fields[index];
            return Field {
                json: field.json,
                number: field.number,
                ty: field.ty,
                flags: field.flags,
                merge: field.merge,
                list: field.list,
            };
        }
        at += 1;
    }
    panic!("protobuf has this field in a message of its own: use its path from the kind");
}

/// Returns the type at the end of a path, whether it is in list items, and whether it is under a
/// map key.
const fn leaf(mut schema: &'static Schema, path: &[u8]) -> Option<(FieldType, bool, bool)> {
    let (mut at, mut listed) = (0, false);
    loop {
        let mut end = at;
        while end < path.len() && path[end] != b'.' && path[end] != b'[' {
            end += 1;
        }
        if !matches!(schema.form, JsonForm::Object) {
            return None;
        }
        let Some(index) = find(schema, path, at, end) else {
            return None;
        };
        let items = end + 1 < path.len() && path[end] == b'[' && path[end + 1] == b']';
        let next = if items { end + 2 } else { end };
        let last = next == path.len();
        if !last && path[next] != b'.' {
            return None;
        }
        let ty = schema.fields[index].ty;
        if last {
            if items && !is_list(ty) {
                return None;
            }
            return Some((ty, listed, false));
        }
        match ty {
            FieldType::Message(inner) if !items && is_serde_field(inner) => {
                return match names_below(path, next + 1) {
                    Some(listed) => Some((ty, listed, false)),
                    None => None,
                };
            }
            FieldType::Message(inner) if !items => schema = inner,
            FieldType::MessageList(inner) if items => {
                schema = inner;
                listed = true;
            }
            FieldType::StrMap if !items => return Some((FieldType::Str, listed, true)),
            FieldType::BytesMap if !items => return Some((FieldType::Bytes, listed, true)),
            FieldType::MessageMap(inner) if !items => {
                return Some((FieldType::Message(inner), listed, true));
            }
            _ => return None,
        }
        at = next + 1;
    }
}

/// Reports whether names below a `SerdeField` enter list items; none if they are not names.
const fn names_below(path: &[u8], mut at: usize) -> Option<bool> {
    let mut listed = false;
    loop {
        let start = at;
        while at < path.len() && path[at] != b'.' && path[at] != b'[' {
            at += 1;
        }
        if at == start {
            return None;
        }
        let items = at + 1 < path.len() && path[at] == b'[' && path[at + 1] == b']';
        if items {
            at += 2;
        }
        if at == path.len() {
            return Some(listed);
        }
        if path[at] != b'.' {
            return None;
        }
        listed |= items;
        at += 1;
    }
}

const fn is_list(ty: FieldType) -> bool {
    matches!(
        ty,
        FieldType::BoolList
            | FieldType::I32List
            | FieldType::I64List
            | FieldType::StrList
            | FieldType::BytesList
            | FieldType::MessageList(_)
    )
}

const fn fits(ty: FieldType, takes: FieldType) -> bool {
    match (ty, takes) {
        (FieldType::Bool, FieldType::Bool)
        | (FieldType::I32, FieldType::I32)
        | (FieldType::I64, FieldType::I64)
        | (FieldType::F64, FieldType::F64)
        | (FieldType::Str, FieldType::Str)
        | (FieldType::Bytes, FieldType::Bytes)
        | (FieldType::BoolList, FieldType::BoolList)
        | (FieldType::I32List, FieldType::I32List)
        | (FieldType::I64List, FieldType::I64List)
        | (FieldType::StrList, FieldType::StrList)
        | (FieldType::BytesList, FieldType::BytesList)
        | (FieldType::StrMap, FieldType::StrMap)
        | (FieldType::BytesMap, FieldType::BytesMap) => true,
        (FieldType::Message(a), FieldType::Message(b))
        | (FieldType::MessageList(a), FieldType::MessageList(b))
        | (FieldType::MessageMap(a), FieldType::MessageMap(b)) => {
            let (a, b) = (a.full_name.as_bytes(), b.full_name.as_bytes());
            equal(a, b, 0, b.len())
        }
        _ => false,
    }
}

/// For a field of list items, whose values are collected.
const fn fits_list(ty: FieldType, takes: FieldType) -> bool {
    let gathered = match ty {
        FieldType::Bool => FieldType::BoolList,
        FieldType::I32 => FieldType::I32List,
        FieldType::I64 => FieldType::I64List,
        FieldType::Str => FieldType::StrList,
        FieldType::Bytes => FieldType::BytesList,
        FieldType::Message(inner) => FieldType::MessageList(inner),
        list if is_list(list) => list,
        _ => return false,
    };
    fits(gathered, takes)
}

const fn find(schema: &Schema, path: &[u8], start: usize, end: usize) -> Option<usize> {
    let mut index = 0;
    while index < schema.fields.len() {
        if equal(schema.fields[index].json.as_bytes(), path, start, end) {
            return Some(index);
        }
        index += 1;
    }
    None
}

const fn equal(name: &[u8], path: &[u8], start: usize, end: usize) -> bool {
    if name.len() != end - start {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if name[at] != path[start + at] {
            return false;
        }
        at += 1;
    }
    true
}
