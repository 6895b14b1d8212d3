//! Protobuf decoding, driven by schemas.
//!
//! Unknown fields are skipped (a newer server may send them). Repeated scalars may be packed. A
//! repeated message field merges, as protobuf defines; the server relies on this to splice in the
//! `resourceVersion`.

use super::field_access::{MessageList, MessageMap};
use super::raw_field::{delimited, map_entry, raw_fields, tag};
use super::{
    DecodeContext, Entry, FieldFlags, JsonForm, Message, Schema, Slot, WireError, WireErrorKind,
    int32, skip_field, varint,
};
use crate::{ByteString, Str};

/// Decodes `bytes` (a bare message, no envelope) into `message`, merging with its contents.
pub fn merge_protobuf(
    message: &mut dyn Message,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    cx.reset();
    cx.check_length(bytes.len())?;
    merge_message(message, bytes, cx)
}

fn merge_message(
    message: &mut dyn Message,
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    cx.enter()?;
    let schema = message.schema();
    if schema.form == JsonForm::Scalar {
        message.merge_scalar(bytes, cx)?;
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
) -> Result<(), WireError> {
    let mut hint = 0;
    while !bytes.is_empty() {
        let (number, wire_type, rest) = tag(bytes).map_err(|kind| cx.fail(kind))?;
        bytes = match schema.entry(order, number, hint) {
            None => skip_field(number, wire_type, rest).map_err(|kind| cx.fail(kind))?,
            Some((position, Entry::Field(index))) => {
                // The next field is either the same one, if it is repeated, or the following one.
                hint = position;
                merge_field(
                    message,
                    schema,
                    usize::from(index),
                    (number, wire_type),
                    rest,
                    cx,
                )?
            }
            Some((position, Entry::Group { entries, .. })) => {
                hint = position + 1;
                let (inner, rest) = expect_delimited(number, wire_type, rest, cx)?;
                cx.enter()?;
                merge_entries(message, schema, entries, inner, cx)?;
                cx.leave();
                rest
            }
        };
    }
    Ok(())
}

fn expect_delimited<'b>(
    number: u32,
    wire_type: u8,
    bytes: &'b [u8],
    cx: &DecodeContext,
) -> Result<(&'b [u8], &'b [u8]), WireError> {
    if wire_type != 2 {
        return Err(cx.fail(WireErrorKind::WireType {
            number,
            found: wire_type,
        }));
    }
    delimited(bytes).map_err(|kind| cx.fail(kind))
}

/// Decodes the field value at the start of `bytes`; returns the bytes after it.
fn merge_field<'b>(
    message: &mut dyn Message,
    schema: &'static Schema,
    index: usize,
    (number, wire_type): (u32, u8),
    bytes: &'b [u8],
    cx: &mut DecodeContext,
) -> Result<&'b [u8], WireError> {
    let Some(slot) = message.slot(index) else {
        return skip_field(number, wire_type, bytes).map_err(|kind| cx.fail(kind));
    };
    let name = schema.fields[index].json;
    cx.path.push(super::Segment::Field(name));
    let rest = match wire_type {
        2 => {
            let (inner, rest) = delimited(bytes).map_err(|kind| cx.fail(kind))?;
            // A zero Go value (`metav1.Time`) is an empty message and counts as absent.
            let zero = inner.is_empty() && !schema.fields[index].flags.has(FieldFlags::POINTER);
            if !(zero && matches!(slot, Slot::OptMessage(_))) {
                merge_delimited(slot, number, inner, rest, cx)?;
            }
            rest
        }
        0 => {
            let (value, rest) = varint(bytes).map_err(|kind| cx.fail(kind))?;
            set_varint(slot, number, value, cx)?;
            rest
        }
        1 => {
            let (value, rest) = bytes
                .split_first_chunk::<8>()
                .ok_or_else(|| cx.fail(WireErrorKind::Truncated))?;
            let value = f64::from_le_bytes(*value);
            match slot {
                Slot::F64(place) => *place = value,
                Slot::OptF64(place) => *place = Some(value),
                _ => return Err(cx.fail(WireErrorKind::WireType { number, found: 1 })),
            }
            rest
        }
        found => return Err(cx.fail(WireErrorKind::WireType { number, found })),
    };
    cx.path.pop();
    Ok(rest)
}

pub(super) fn set_varint(
    slot: Slot<'_>,
    number: u32,
    value: u64,
    cx: &DecodeContext,
) -> Result<(), WireError> {
    match slot {
        Slot::Bool(place) => *place = value != 0,
        Slot::I32(place) => *place = int32(value),
        Slot::I64(place) => *place = value.cast_signed(),
        Slot::OptBool(place) => *place = Some(value != 0),
        Slot::OptI32(place) => *place = Some(int32(value)),
        Slot::OptI64(place) => *place = Some(value.cast_signed()),
        Slot::BoolList(list) => list.push(value != 0),
        Slot::I32List(list) => list.push(int32(value)),
        Slot::I64List(list) => list.push(value.cast_signed()),
        _ => return Err(cx.fail(WireErrorKind::WireType { number, found: 0 })),
    }
    Ok(())
}

fn text<'b>(bytes: &'b [u8], cx: &DecodeContext) -> Result<&'b str, WireError> {
    std::str::from_utf8(bytes).map_err(|_| cx.fail(WireErrorKind::NotUtf8))
}

pub(super) fn merge_delimited(
    slot: Slot<'_>,
    number: u32,
    inner: &[u8],
    following: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    match slot {
        Slot::Str(place) => *place = cx.str(text(inner, cx)?),
        Slot::OptStr(place) => *place = Some(cx.str(text(inner, cx)?)),
        Slot::Bytes(place) => place.0 = inner.to_vec(),
        Slot::OptBytes(place) => *place = Some(ByteString(inner.to_vec())),
        Slot::Message(message) => merge_message(message, inner, cx)?,
        Slot::OptMessage(place) => merge_message(place.get_or_default(), inner, cx)?,
        Slot::StrList(list) => {
            reserve_strings(list, number, following);
            list.push(cx.str(text(inner, cx)?));
        }
        Slot::BytesList(list) => list.push(ByteString(inner.to_vec())),
        Slot::MessageList(list) => push_message(list, number, inner, following, cx)?,
        Slot::StrMap(map) => {
            let (key, value) = map_entry(inner).map_err(|kind| cx.fail(kind))?;
            let (key, value) = (text(key, cx)?, text(value, cx)?);
            map.insert(cx.str(key), cx.str(value));
        }
        Slot::BytesMap(map) => {
            let (key, value) = map_entry(inner).map_err(|kind| cx.fail(kind))?;
            map.insert(cx.str(text(key, cx)?), ByteString(value.to_vec()));
        }
        Slot::MessageMap(map) => merge_map_entry(map, inner, cx)?,
        Slot::Serde(field) => {
            for part in raw_fields(inner) {
                let part = part.map_err(|kind| cx.fail(kind))?;
                if part.number == 1 {
                    let text = text(part.bytes, cx)?;
                    field.set_raw(text).map_err(|error| cx.fail_within(error))?;
                }
            }
        }
        Slot::BoolList(_) | Slot::I32List(_) | Slot::I64List(_) => {
            return merge_packed(slot, number, inner, cx);
        }
        _ => return Err(cx.fail(WireErrorKind::WireType { number, found: 2 })),
    }
    Ok(())
}

fn merge_packed(
    mut slot: Slot<'_>,
    number: u32,
    mut packed: &[u8],
    cx: &DecodeContext,
) -> Result<(), WireError> {
    while !packed.is_empty() {
        let (value, rest) = varint(packed).map_err(|kind| cx.fail(kind))?;
        packed = rest;
        let item = match &mut slot {
            Slot::BoolList(list) => Slot::BoolList(list),
            Slot::I32List(list) => Slot::I32List(list),
            Slot::I64List(list) => Slot::I64List(list),
            _ => return Err(cx.fail(WireErrorKind::WireType { number, found: 2 })),
        };
        set_varint(item, number, value, cx)?;
    }
    Ok(())
}

fn push_message(
    list: &mut dyn MessageList,
    number: u32,
    inner: &[u8],
    following: &[u8],
    cx: &mut DecodeContext,
) -> Result<(), WireError> {
    let index = list.len();
    if index == 0 {
        // Items are contiguous in practice; counting them first avoids growing the list.
        list.reserve_exact(1 + count_fields(following, number));
    }
    cx.path.push(super::Segment::Index(index));
    merge_message(list.push_default(), inner, cx)?;
    cx.path.pop();
    Ok(())
}

fn reserve_strings(list: &mut Vec<Str>, number: u32, following: &[u8]) {
    if list.is_empty() {
        list.reserve_exact(1 + count_fields(following, number));
    }
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
) -> Result<(), WireError> {
    let (key, value) = map_entry(inner).map_err(|kind| cx.fail(kind))?;
    let key = cx.str(text(key, cx)?);
    cx.path.push(super::Segment::Key(key.clone()));
    merge_message(map.entry(key), value, cx)?;
    cx.path.pop();
    Ok(())
}
