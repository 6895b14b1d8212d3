//! Protobuf encoding, driven by schemas, written back to front.
//!
//! A length-delimited field has its length before its contents. Written backwards, the contents
//! come first, so one pass without computing sizes gives upstream's exact bytes.

use super::varint::{VARINT_BYTES_MAX, write_varint};
use super::{Entry, FieldFlags, JsonForm, Message, Schema, View};

/// A buffer that grows towards its front.
#[derive(Debug, Default)]
pub struct ReverseWriter {
    bytes: Vec<u8>,
    start: usize,
}

impl ReverseWriter {
    /// Creates an empty buffer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: vec![0; capacity],
            start: capacity,
        }
    }

    /// Returns the number of bytes written.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Reports whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Prepends `bytes`.
    pub fn prepend(&mut self, bytes: &[u8]) {
        if bytes.len() > self.start {
            self.grow(bytes.len());
        }
        let start = self.start - bytes.len();
        self.bytes[start..self.start].copy_from_slice(bytes);
        self.start = start;
    }

    /// Prepends a varint.
    pub fn prepend_varint(&mut self, value: u64) {
        let mut bytes = [0; VARINT_BYTES_MAX];
        let length = write_varint(value, &mut bytes);
        self.prepend(&bytes[..length]);
    }

    /// Prepends a tag.
    pub fn prepend_tag(&mut self, number: u32, wire_type: u8) {
        self.prepend_varint(u64::from(number) << 3 | u64::from(wire_type));
    }

    /// Prepends the header of a length-delimited field to the bytes written since `mark`, an
    /// earlier [`len`](Self::len).
    pub fn prepend_header(&mut self, number: u32, mark: usize) {
        self.prepend_varint((self.len() - mark) as u64);
        self.prepend_tag(number, 2);
    }

    /// Prepends a length-delimited field.
    pub fn prepend_delimited(&mut self, number: u32, contents: &[u8]) {
        let mark = self.len();
        self.prepend(contents);
        self.prepend_header(number, mark);
    }

    /// Returns the written bytes.
    pub fn into_vec(mut self) -> Vec<u8> {
        self.bytes.drain(..self.start);
        self.bytes.shrink_to_fit();
        self.bytes
    }

    fn grow(&mut self, more: usize) {
        let written = self.len();
        let size = (written + more).next_power_of_two().max(64) * 2;
        let mut bytes = vec![0; size];
        bytes[size - written..].copy_from_slice(&self.bytes[self.start..]);
        self.bytes = bytes;
        self.start = size - written;
    }
}

/// Encodes a message to protobuf, byte-exact with upstream's encoder (no envelope).
pub fn to_protobuf(message: &dyn Message) -> Vec<u8> {
    let mut out = ReverseWriter::with_capacity(1024);
    prepend_message(message, &mut out);
    out.into_vec()
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
            Entry::Field(index) => prepend_field(message, schema, usize::from(index), out),
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

fn prepend_double(number: u32, value: f64, out: &mut ReverseWriter) {
    out.prepend(&value.to_le_bytes());
    out.prepend_tag(number, 1);
}

fn prepend_nested(number: u32, message: &dyn Message, out: &mut ReverseWriter) {
    let mark = out.len();
    prepend_message(message, out);
    out.prepend_header(number, mark);
}

fn prepend_field(
    message: &dyn Message,
    schema: &'static Schema,
    index: usize,
    out: &mut ReverseWriter,
) {
    let field = &schema.fields[index];
    let number = field.number;
    let Some(view) = message.view(index) else {
        return;
    };
    if field.flags.has(FieldFlags::JSON_ONLY) {
        return;
    }
    match view {
        View::Bool(value) | View::OptBool(Some(value)) => {
            prepend_int(number, i64::from(value), out);
        }
        View::I32(value) | View::OptI32(Some(value)) => prepend_int(number, i64::from(value), out),
        View::I64(value) | View::OptI64(Some(value)) => prepend_int(number, value, out),
        View::F64(value) | View::OptF64(Some(value)) => prepend_double(number, value, out),
        View::Str(value) | View::OptStr(Some(value)) => {
            out.prepend_delimited(number, value.as_bytes());
        }
        // Go cannot distinguish an empty slice from an absent one after a round trip; nil is not
        // written.
        View::Bytes(value) if value.is_empty() => {}
        View::Bytes(value) | View::OptBytes(Some(value)) => out.prepend_delimited(number, value),
        View::Message(value) | View::OptMessage(Some(value)) => prepend_nested(number, value, out),
        // A zero Go value (`metav1.Time`) is an empty message.
        View::OptMessage(None) if !field.flags.has(FieldFlags::POINTER) => {
            out.prepend_delimited(number, &[]);
        }
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
        View::MessageList(list) => {
            for item in (0..list.len()).rev().filter_map(|index| list.at(index)) {
                prepend_nested(number, item, out);
            }
        }
        View::StrMap(map) => {
            for (key, value) in map.iter().rev() {
                let mark = out.len();
                out.prepend_delimited(2, value.as_bytes());
                out.prepend_delimited(1, key.as_bytes());
                out.prepend_header(number, mark);
            }
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
