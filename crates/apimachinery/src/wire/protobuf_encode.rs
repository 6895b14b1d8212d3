//! Protobuf encoding, driven by schemas, written back to front.
//!
//! A length-delimited field has its length before its contents. Written backwards, the contents
//! come first, so one pass without computing sizes gives upstream's exact bytes.

use super::{
    Entry, Field, FieldFlags, JsonForm, Message, MessageList, ReverseWriter, Schema, View,
};
use crate::Str;
use std::collections::BTreeMap;

/// Encodes a message to protobuf, byte-exact with upstream's encoder (no envelope).
pub fn to_protobuf(message: &dyn Message) -> Vec<u8> {
    ReverseWriter::written_by(|out| prepend_message(message, out))
}

/// Prepends the fields of a message, without a header.
pub(super) fn prepend_message(message: &dyn Message, out: &mut ReverseWriter) {
    let schema = message.schema();
    if schema.form == JsonForm::Scalar {
        message.prepend_scalar(out);
        return;
    }
    prepend_entries(message, schema, schema.order, out);
}

fn prepend_entries(
    message: &dyn Message,
    schema: &'static Schema,
    order: &'static [Entry],
    out: &mut ReverseWriter,
) {
    for &entry in order.iter().rev() {
        match entry {
            Entry::Field(index) => {
                let index = usize::from(index);
                message.prepend_field(index, &schema.fields[index], out);
            }
            Entry::Group { number, entries } => {
                let mark = out.len();
                prepend_entries(message, schema, entries, out);
                out.prepend_header(number, mark);
            }
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "protobuf stores negative numbers so")]
pub(super) fn prepend_int(number: u32, value: i64, out: &mut ReverseWriter) {
    out.prepend_varint(value as u64);
    out.prepend_tag(number, 0);
}

pub(super) fn prepend_double(number: u32, value: f64, out: &mut ReverseWriter) {
    out.prepend(&value.to_le_bytes());
    out.prepend_tag(number, 1);
}

pub(super) fn prepend_nested(number: u32, message: &dyn Message, out: &mut ReverseWriter) {
    let mark = out.len();
    prepend_message(message, out);
    out.prepend_header(number, mark);
}

/// Prepends a field by its view; nothing if it has none. Types whose fields do not write themselves
/// are encoded by it.
pub fn prepend_view(field: &Field, view: Option<View<'_>>, out: &mut ReverseWriter) {
    let number = field.number;
    match view {
        Some(View::Bool(value) | View::OptBool(Some(value))) => {
            prepend_int(number, i64::from(value), out);
        }
        Some(View::I32(value) | View::OptI32(Some(value))) => {
            prepend_int(number, i64::from(value), out);
        }
        Some(View::I64(value) | View::OptI64(Some(value))) => prepend_int(number, value, out),
        Some(View::Str(value) | View::OptStr(Some(value))) => {
            out.prepend_delimited(number, value.as_bytes());
        }
        Some(View::Message(value) | View::OptMessage(Some(value))) => {
            prepend_nested(number, value, out);
        }
        // A zero Go value (`metav1.Time`) is an empty message.
        Some(View::OptMessage(None)) if !field.flags.has(FieldFlags::POINTER) => {
            out.prepend_delimited(number, &[]);
        }
        Some(View::MessageList(list)) => prepend_list(number, list, out),
        Some(View::StrMap(map)) => prepend_map(number, map, out),
        Some(
            View::OptBool(None)
            | View::OptI32(None)
            | View::OptI64(None)
            | View::OptStr(None)
            | View::OptMessage(None),
        )
        | None => {}
        Some(view) => prepend_rare(field, view, out),
    }
}

pub(super) fn prepend_map(number: u32, map: &BTreeMap<Str, Str>, out: &mut ReverseWriter) {
    for (key, value) in map.iter().rev() {
        let mark = out.len();
        out.prepend_delimited(2, value.as_bytes());
        out.prepend_delimited(1, key.as_bytes());
        out.prepend_header(number, mark);
    }
}

pub(super) fn prepend_list(number: u32, list: &dyn MessageList, out: &mut ReverseWriter) {
    for item in (0..list.len()).rev().filter_map(|index| list.at(index)) {
        prepend_nested(number, item, out);
    }
}

/// Prepends a field of a type that few messages have.
fn prepend_rare(field: &Field, view: View<'_>, out: &mut ReverseWriter) {
    let number = field.number;
    match view {
        View::F64(value) | View::OptF64(Some(value)) => prepend_double(number, value, out),
        // Go cannot distinguish an empty slice from an absent one after a round trip; nil is not
        // written.
        View::Bytes(value) if value.is_empty() => {}
        View::Bytes(value) | View::OptBytes(Some(value)) => out.prepend_delimited(number, value),
        View::Serde(field) => {
            let mark = out.len();
            if let Ok(raw) = field.to_raw() {
                out.prepend_delimited(1, raw.get().as_bytes());
            }
            out.prepend_header(number, mark);
        }
        _ => prepend_collection(number, view, out),
    }
}

fn prepend_collection(number: u32, view: View<'_>, out: &mut ReverseWriter) {
    match view {
        View::StrList(list) => {
            list.iter()
                .rev()
                .for_each(|item| out.prepend_delimited(number, item.as_bytes()));
        }
        View::BoolList(list) => {
            list.iter()
                .rev()
                .for_each(|&item| prepend_int(number, i64::from(item), out));
        }
        View::I32List(list) => {
            list.iter()
                .rev()
                .for_each(|&item| prepend_int(number, i64::from(item), out));
        }
        View::I64List(list) => {
            list.iter()
                .rev()
                .for_each(|&item| prepend_int(number, item, out));
        }
        View::BytesList(list) => {
            list.iter()
                .rev()
                .for_each(|item| out.prepend_delimited(number, item));
        }
        View::BytesMap(map) => {
            for (key, value) in map.iter().rev() {
                let mark = out.len();
                out.prepend_delimited(2, value);
                out.prepend_delimited(1, key.as_bytes());
                out.prepend_header(number, mark);
            }
        }
        View::MessageMap(map) => {
            for (key, value) in map.entries().rev() {
                let mark = out.len();
                prepend_nested(2, value, out);
                out.prepend_delimited(1, key.as_bytes());
                out.prepend_header(number, mark);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
