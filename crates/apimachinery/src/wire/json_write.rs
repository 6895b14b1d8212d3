//! JSON encoding to text, driven by schemas.
//!
//! It writes what [`json_encode`](super::json_encode) gives a serializer, as text and without one:
//! a field is looked at once, which decides whether it is written and how, and texts without
//! escapes are copied as they are. Tests compare both.

use super::json_check::is_json;
use super::json_encode::{is_null, is_written, is_zero_message, union_view, whole};
use super::json_text::plain_run;
use super::{EncodeError, Field, FieldFlags, JsonForm, JsonScalar, Message, MessageList, View};
use crate::ByteString;
use std::cell::Cell;

type Written = Result<(), EncodeError>;

/// Returns the JSON text of a message.
pub fn to_json(message: &dyn Message) -> Vec<u8> {
    // Only a `SerdeField` without a JSON form can fail: `RawExtension` writes null for bytes that
    // are not JSON. `try_encode` reports it.
    try_to_json(message).unwrap_or_else(|_| NULL.to_vec())
}

/// The same.
///
/// # Errors
/// A [`SerdeField`](super::SerdeField) has no JSON form.
pub(super) fn try_to_json(message: &dyn Message) -> Result<Vec<u8>, EncodeError> {
    let mut out = KEPT.take();
    out.clear();
    out.reserve(SIZE_MIN);
    let written = write_message(message, true, &mut out);
    if out.capacity() > SIZE_KEPT_MAX {
        written?;
        out.shrink_to_fit();
        return Ok(out);
    }
    let written = written.map(|()| Vec::from(out.as_slice()));
    KEPT.set(out);
    written
}

/// The size of a new buffer, and the largest that a thread keeps for the next message.
const SIZE_MIN: usize = 1 << 10;
const SIZE_KEPT_MAX: usize = 256 << 10;

thread_local! {
    /// A buffer that has grown is not grown again for the next message.
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Appends the JSON of a message. A kind begins with `kind` and `apiVersion` if `type_meta` is set.
///
/// # Errors
/// A [`SerdeField`](super::SerdeField) has no JSON form.
fn write_message(message: &dyn Message, type_meta: bool, out: &mut Vec<u8>) -> Written {
    let schema = message.schema();
    match schema.form {
        JsonForm::Object => write_object(message, type_meta, out)?,
        JsonForm::Scalar => write_scalar(&message.scalar(), out),
        JsonForm::Transparent => match message.view(0) {
            Some(view) => write_value(view, out)?,
            None => out.extend_from_slice(NULL),
        },
        JsonForm::Raw => {
            let text = message.raw_json();
            // Space around it is none of the value.
            let text = text.trim_matches([' ', '\t', '\n', '\r']);
            out.extend_from_slice(if is_json(text) { text.as_bytes() } else { NULL });
        }
        JsonForm::Union => write_value(union_view(message), out)?,
    }
    Ok(())
}

const NULL: &[u8] = b"null";
const HEX: &[u8; 16] = b"0123456789abcdef";

fn write_object(message: &dyn Message, type_meta: bool, out: &mut Vec<u8>) -> Written {
    let schema = message.schema();
    // Each member begins with a comma, the first of which becomes the bracket.
    let start = out.len();
    if type_meta && let Some(kind) = &schema.kind {
        write_name("kind", out);
        write_text(kind.kind, out);
        write_name("apiVersion", out);
        write_text(kind.api_version, out);
    }
    for (index, field) in schema.fields.iter().enumerate() {
        if !field.flags.has(FieldFlags::PROTOBUF_ONLY) {
            write_field(message, index, field, out)?;
        }
    }
    for (name, value) in message.others().into_iter().flatten() {
        out.push(b',');
        write_text(name, out);
        out.push(b':');
        serde_json::to_writer(&mut *out, value)?;
    }
    match out.get_mut(start) {
        Some(first) => *first = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
    Ok(())
}

/// Appends a field name, which needs no escapes.
#[inline]
fn write_name(name: &str, out: &mut Vec<u8>) {
    out.reserve(name.len() + 4);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Appends a field, if JSON includes it.
fn write_field(message: &dyn Message, index: usize, field: &Field, out: &mut Vec<u8>) -> Written {
    let flags = field.flags;
    let omit_zero = flags.has(FieldFlags::OMIT_ZERO);
    let omits = omit_zero || flags.has(FieldFlags::OMIT_EMPTY);
    // Matched where it is: a view that is moved first is read before the processor has written it.
    match message.view(index) {
        Some(View::Str(text)) if omits && text.is_empty() => {}
        Some(View::Bool(value)) if omits && !value => {}
        Some(View::I32(value)) if omits && value == 0 => {}
        Some(View::I64(value)) if omits && value == 0 => {}
        Some(View::MessageList(list)) if omits && list.is_empty() => {}
        // A Go struct value is never empty, but it may be zero.
        Some(View::Message(part)) if omit_zero && is_zero_message(part) => {}
        // A zero `metav1.Time` value is written as null.
        Some(View::OptMessage(None)) if omit_zero || (omits && flags.has(FieldFlags::POINTER)) => {}
        Some(View::Str(text) | View::OptStr(Some(text))) => {
            write_name(field.json, out);
            write_text(text, out);
        }
        Some(View::Bool(value) | View::OptBool(Some(value))) => {
            write_name(field.json, out);
            write_bool(value, out);
        }
        Some(View::I32(value) | View::OptI32(Some(value))) => {
            write_name(field.json, out);
            write_integer(i64::from(value), out);
        }
        Some(View::I64(value) | View::OptI64(Some(value))) => {
            write_name(field.json, out);
            write_integer(value, out);
        }
        Some(View::Message(part) | View::OptMessage(Some(part))) => {
            write_name(field.json, out);
            write_message(part, false, out)?;
        }
        Some(View::MessageList(list)) if !list.is_empty() => {
            write_name(field.json, out);
            write_messages(list, out)?;
        }
        Some(view) => write_other(field, view, out)?,
        None => {}
    }
    Ok(())
}

/// Appends a field of another type, if JSON includes it.
fn write_other(field: &Field, view: View<'_>, out: &mut Vec<u8>) -> Written {
    if !is_written(field, view) {
        return Ok(());
    }
    write_name(field.json, out);
    match view {
        View::Serde(part) => {
            let raw = part.to_raw().map_err(|error| EncodeError {
                reason: format!("{}: {error}", field.json),
            })?;
            out.extend_from_slice(raw.get().as_bytes());
        }
        // The list of a list kind is never Go's nil slice.
        View::MessageList(list)
            if list.is_empty()
                && field.json == "items"
                && field.flags.has(FieldFlags::REQUIRED) =>
        {
            out.extend_from_slice(b"[]");
        }
        view if is_null(view) => out.extend_from_slice(NULL),
        view => write_value(view, out)?,
    }
    Ok(())
}

/// Appends a value of any type.
fn write_value(view: View<'_>, out: &mut Vec<u8>) -> Written {
    match view {
        View::Bool(value) | View::OptBool(Some(value)) => write_bool(value, out),
        View::I32(value) | View::OptI32(Some(value)) => write_integer(i64::from(value), out),
        View::I64(value) | View::OptI64(Some(value)) => write_integer(value, out),
        View::F64(value) | View::OptF64(Some(value)) => write_double(value, out),
        View::Str(text) | View::OptStr(Some(text)) => write_text(text, out),
        View::Bytes(bytes) | View::OptBytes(Some(bytes)) => write_bytes(bytes, out),
        View::Message(message) | View::OptMessage(Some(message)) => {
            write_message(message, false, out)?;
        }
        View::Serde(field) => out.extend_from_slice(field.to_raw()?.get().as_bytes()),
        View::StrList(list) => write_list(list, out, |text, out| write_text(text, out)),
        View::BoolList(list) => write_list(list, out, |value, out| write_bool(*value, out)),
        View::I32List(list) => {
            write_list(list, out, |value, out| {
                write_integer(i64::from(*value), out);
            });
        }
        View::I64List(list) => write_list(list, out, |value, out| write_integer(*value, out)),
        View::BytesList(list) => write_list(list, out, write_bytes),
        View::MessageList(list) => write_messages(list, out)?,
        View::StrMap(map) => {
            let written = write_map(map, out, |text, out| {
                write_text(text, out);
                Ok(())
            });
            written?;
        }
        View::BytesMap(map) => {
            let written = write_map(map, out, |bytes, out| {
                write_bytes(bytes, out);
                Ok(())
            });
            written?;
        }
        View::MessageMap(map) => {
            write_map(map.entries(), out, |part, out| {
                write_message(part, false, out)
            })?;
        }
        View::OptBool(None)
        | View::OptI32(None)
        | View::OptI64(None)
        | View::OptF64(None)
        | View::OptStr(None)
        | View::OptBytes(None)
        | View::OptMessage(None) => out.extend_from_slice(NULL),
    }
    Ok(())
}

fn write_scalar(scalar: &JsonScalar<'_>, out: &mut Vec<u8>) {
    match scalar {
        JsonScalar::Null => out.extend_from_slice(NULL),
        JsonScalar::Bool(value) => write_bool(*value, out),
        JsonScalar::Int(value) => write_integer(*value, out),
        JsonScalar::Float(value) => write_float(*value, out),
        JsonScalar::Str(text) => write_text(text, out),
    }
}

fn write_bool(value: bool, out: &mut Vec<u8>) {
    let text: &[u8] = if value { b"true" } else { b"false" };
    out.extend_from_slice(text);
}

fn write_integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a double; like Go, a whole one has no fraction.
fn write_double(value: f64, out: &mut Vec<u8>) {
    match whole(value) {
        Some(whole) => write_integer(whole, out),
        None => write_float(value, out),
    }
}

fn write_float(value: f64, out: &mut Vec<u8>) {
    // What is not finite is null in JSON, as serde has it.
    let number = serde_json::Number::from_f64(value);
    match number {
        Some(number) => out.extend_from_slice(number.to_string().as_bytes()),
        None => out.extend_from_slice(NULL),
    }
}

fn write_bytes(bytes: &ByteString, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(bytes.to_base64().as_bytes());
    out.push(b'"');
}

fn write_list<T>(list: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    let mut before = b'[';
    for item in list {
        out.push(before);
        write(item, out);
        before = b',';
    }
    close(list.is_empty(), *b"[]", out);
}

fn write_messages(list: &dyn MessageList, out: &mut Vec<u8>) -> Written {
    let mut before = b'[';
    for item in (0..list.len()).filter_map(|index| list.at(index)) {
        out.push(before);
        write_message(item, false, out)?;
        before = b',';
    }
    close(before == b'[', *b"[]", out);
    Ok(())
}

fn write_map<'a, K: AsRef<str> + 'a, V>(
    entries: impl IntoIterator<Item = (&'a K, V)>,
    out: &mut Vec<u8>,
    write: impl Fn(V, &mut Vec<u8>) -> Written,
) -> Written {
    let mut before = b'{';
    for (key, value) in entries {
        out.push(before);
        write_text(key.as_ref(), out);
        out.push(b':');
        write(value, out)?;
        before = b',';
    }
    close(before == b'{', *b"{}", out);
    Ok(())
}

/// Appends the closing bracket, and before it the opening one if there was nothing to open with.
fn close(is_empty: bool, [open, close]: [u8; 2], out: &mut Vec<u8>) {
    if is_empty {
        out.push(open);
    }
    out.push(close);
}

/// Appends a quoted text.
#[inline]
fn write_text(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    loop {
        let (plain, after) = rest.split_at(plain_run(rest));
        out.extend_from_slice(plain);
        let Some((&byte, after)) = after.split_first() else {
            break;
        };
        write_escape(byte, out);
        rest = after;
    }
    out.push(b'"');
}

#[cold]
fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            let digits = [byte >> 4, byte & 0xf].map(|digit| HEX[usize::from(digit)]);
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&digits);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests;
