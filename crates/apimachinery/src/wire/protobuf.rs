//! Protobuf decoding, driven by schemas.
//!
//! Unknown fields are skipped (a newer server may send them). Repeated scalars may be packed. A
//! repeated message field merges, as protobuf defines; the server relies on this to splice in the
//! `resourceVersion`.

use super::field_access::{MessageList, MessageMap};
use super::raw_field::{delimited, map_entry, tag};
use super::scan::{Failure, fail, within};
use super::schema::Place;
use super::{
    DecodeContext, Entry, Field, FieldFlags, JsonForm, Message, Schema, Slot, WireError,
    WireErrorKind, int32, raw_fields, skip_field, varint,
};
use crate::ByteString;

/// Decodes `bytes` (a bare message, no envelope) into `message`, merging with its contents.
pub fn merge_protobuf(
    message: &mut dyn Message,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    cx.reset();
    cx.check_length(bytes.len())?;
    merge_message(message, bytes, cx).map_err(|failure| *failure)
}

/// Errors get their path on their way out, so that fields that are decoded cost nothing for it.
fn merge_message(
    message: &mut dyn Message,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), Failure> {
    let schema = message.schema();
    cx.enter().map_err(|error| fail(error.kind))?;
    if schema.form == JsonForm::Scalar {
        let merged = message.merge_scalar(bytes, cx);
        merged.map_err(|error| fail(error.kind))?;
    } else {
        merge_entries(message, schema, schema.order, bytes, cx)?;
    }
    cx.leave();
    Ok(())
}

fn merge_entries(
    message: &mut dyn Message,
    schema: &'static Schema,
    order: &'static [Entry],
    mut bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), Failure> {
    let mut place = Place::default();
    while !bytes.is_empty() {
        let (number, wire_type, rest) = tag(bytes).map_err(fail)?;
        bytes = match place.find(schema, order, number) {
            None => skip_field(number, wire_type, rest).map_err(fail)?,
            Some(Entry::Field(index)) => {
                let index = usize::from(index);
                let field = &schema.fields[index];
                let merged = match wire_type {
                    0 => merge_varint(message, index, number, rest),
                    2 => merge_bytes(message, index, field, rest, cx),
                    1 => merge_double(message, index, number, rest),
                    found => Err(fail(WireErrorKind::WireType { number, found })),
                };
                merged.map_err(|failure| within(failure, field.json))?
            }
            Some(Entry::Group { entries, .. }) => {
                if wire_type != 2 {
                    let found = wire_type;
                    return Err(fail(WireErrorKind::WireType { number, found }));
                }
                let (inner, rest) = delimited(rest).map_err(fail)?;
                cx.enter().map_err(|error| fail(error.kind))?;
                merge_entries(message, schema, entries, inner, cx)?;
                cx.leave();
                rest
            }
        };
    }
    Ok(())
}

// Each of these takes the value at the start of `bytes`, and returns the bytes after it. A field
// that the message has no slot for is skipped. Slots are passed by reference: one that is moved is
// read before the processor has written it.

fn merge_varint<'b>(
    message: &mut dyn Message,
    index: usize,
    number: u32,
    bytes: &'b [u8],
) -> Result<&'b [u8], Failure> {
    let (value, rest) = varint(bytes).map_err(fail)?;
    if let Some(slot) = &mut message.slot(index) {
        put_varint(slot, number, value)?;
    }
    Ok(rest)
}

fn merge_double<'b>(
    message: &mut dyn Message,
    index: usize,
    number: u32,
    bytes: &'b [u8],
) -> Result<&'b [u8], Failure> {
    let (value, rest) = bytes
        .split_first_chunk::<8>()
        .ok_or_else(|| fail(WireErrorKind::Truncated))?;
    let value = f64::from_le_bytes(*value);
    match message.slot(index) {
        Some(Slot::F64(place)) => *place = value,
        Some(Slot::OptF64(place)) => *place = Some(value),
        Some(_) => return Err(fail(WireErrorKind::WireType { number, found: 1 })),
        None => {}
    }
    Ok(rest)
}

fn merge_bytes<'b>(
    message: &mut dyn Message,
    index: usize,
    field: &'static Field,
    bytes: &'b [u8],
    cx: &mut DecodeContext,
) -> Result<&'b [u8], Failure> {
    let (inner, rest) = delimited(bytes).map_err(fail)?;
    match &mut message.slot(index) {
        // A zero Go value (`metav1.Time`) is an empty message and counts as absent.
        Some(Slot::OptMessage(_)) if inner.is_empty() && !field.flags.has(FieldFlags::POINTER) => {}
        Some(slot) => put_bytes(slot, field.number, inner, rest, cx)?,
        None => {}
    }
    Ok(rest)
}

/// Sets a field outside of a message, for projections.
pub(super) fn set_varint(
    mut slot: Slot<'_>,
    number: u32,
    value: u64,
    cx: &DecodeContext,
) -> Result<(), WireError> {
    put_varint(&mut slot, number, value).map_err(|failure| cx.at_path(*failure))
}

/// The same for a field with a length. `following` may have more items of a list.
pub(super) fn merge_delimited(
    mut slot: Slot<'_>,
    number: u32,
    inner: &[u8],
    following: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    put_bytes(&mut slot, number, inner, following, cx).map_err(|failure| cx.at_path(*failure))
}

#[inline]
fn put_varint(slot: &mut Slot<'_>, number: u32, value: u64) -> Result<(), Failure> {
    match slot {
        Slot::Bool(place) => **place = value != 0,
        Slot::I32(place) => **place = int32(value),
        Slot::I64(place) => **place = value.cast_signed(),
        Slot::OptBool(place) => **place = Some(value != 0),
        Slot::OptI32(place) => **place = Some(int32(value)),
        Slot::OptI64(place) => **place = Some(value.cast_signed()),
        Slot::BoolList(list) => list.push(value != 0),
        Slot::I32List(list) => list.push(int32(value)),
        Slot::I64List(list) => list.push(value.cast_signed()),
        _ => return Err(fail(WireErrorKind::WireType { number, found: 0 })),
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|_| fail(WireErrorKind::NotUtf8))
}

#[inline]
fn put_bytes(
    slot: &mut Slot<'_>,
    number: u32,
    inner: &[u8],
    following: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), Failure> {
    match slot {
        Slot::Str(place) => **place = cx.str(text(inner)?),
        Slot::OptStr(place) => **place = Some(cx.str(text(inner)?)),
        Slot::Message(message) => merge_message(*message, inner, cx)?,
        Slot::OptMessage(place) => merge_message(place.get_or_default(), inner, cx)?,
        Slot::MessageList(list) => push_message(*list, number, inner, following, cx)?,
        Slot::StrMap(map) => {
            let (key, value) = map_entry(inner).map_err(fail)?;
            let (key, value) = (text(key)?, text(value)?);
            map.insert(cx.str(key), cx.str(value));
        }
        Slot::StrList(list) => {
            if list.is_empty() {
                list.reserve_exact(1 + count_fields(following, number));
            }
            list.push(cx.str(text(inner)?));
        }
        slot => put_rare(slot, number, inner, cx)?,
    }
    Ok(())
}

fn put_rare(
    slot: &mut Slot<'_>,
    number: u32,
    inner: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), Failure> {
    match slot {
        Slot::Bytes(place) => place.0 = inner.to_vec(),
        Slot::OptBytes(place) => **place = Some(ByteString(inner.to_vec())),
        Slot::BytesList(list) => list.push(ByteString(inner.to_vec())),
        Slot::BytesMap(map) => {
            let (key, value) = map_entry(inner).map_err(fail)?;
            map.insert(cx.str(text(key)?), ByteString(value.to_vec()));
        }
        Slot::MessageMap(map) => merge_map_entry(*map, inner, cx)?,
        Slot::Serde(field) => {
            for part in raw_fields(inner) {
                let part = part.map_err(fail)?;
                if part.number == 1 {
                    let set = field.set_raw(text(part.bytes)?);
                    set.map_err(|error| Box::new(DecodeContext::within_field(error)))?;
                }
            }
        }
        Slot::BoolList(_) | Slot::I32List(_) | Slot::I64List(_) => {
            return merge_packed(slot, number, inner);
        }
        _ => return Err(fail(WireErrorKind::WireType { number, found: 2 })),
    }
    Ok(())
}

fn merge_packed(slot: &mut Slot<'_>, number: u32, mut packed: &[u8]) -> Result<(), Failure> {
    while !packed.is_empty() {
        let (value, rest) = varint(packed).map_err(fail)?;
        packed = rest;
        put_varint(slot, number, value)?;
    }
    Ok(())
}

fn push_message(
    list: &mut dyn MessageList,
    number: u32,
    inner: &[u8],
    following: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), Failure> {
    let index = list.len();
    if index == 0 {
        // Items are contiguous in practice; counting them first avoids growing the list.
        list.reserve_exact(1 + count_fields(following, number));
    }
    merge_message(list.push_default(), inner, cx)
        .map_err(|failure| within(failure, &format!("[{index}]")))
}

/// Returns how many fields with this number are adjacent at the start of `bytes`.
fn count_fields(mut bytes: &[u8], number: u32) -> usize {
    let mut count = 0;
    while let Ok((found, 2, rest)) = tag(bytes) {
        if found != number {
            break;
        }
        let Ok((_, rest)) = delimited(rest) else {
            break;
        };
        bytes = rest;
        count += 1;
    }
    count
}

fn merge_map_entry(
    map: &mut dyn MessageMap,
    inner: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), Failure> {
    let (key, value) = map_entry(inner).map_err(fail)?;
    let key = text(key)?;
    merge_message(map.entry(cx.str(key)), value, cx).map_err(|failure| within(failure, key))
}
