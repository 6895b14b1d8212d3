//! `RawField`: one field of a protobuf message, read without a schema.
//!
//! It interprets nothing: numbers are varints, strings and messages are bytes.

use super::{WireErrorKind, push_varint, varint, varint_length};

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawField<'b> {
    /// The field number; never 0.
    pub number: u32,
    /// The wire type: 0 varint, 1 fixed64, 2 length-delimited, 5 fixed32.
    pub wire_type: u8,
    /// The value of a varint field; 0 for others.
    pub varint: u64,
    /// The contents of a length-delimited field; empty for others.
    pub bytes: &'b [u8],
    /// The whole field, with its tag.
    pub whole: &'b [u8],
}

impl<'b> RawField<'b> {
    /// Reads the field at the start of `message`; what follows begins after
    /// [`whole`](Self::whole).
    ///
    /// # Errors
    /// The bytes are not a field, or end within it.
    #[inline]
    pub fn first(message: &'b [u8]) -> Result<Self, WireErrorKind> {
        let (number, wire_type, rest) = tag(message)?;
        let mut field = Self {
            number,
            wire_type,
            varint: 0,
            bytes: &[],
            whole: &[],
        };
        let rest = match wire_type {
            0 => {
                let (value, rest) = varint(rest)?;
                field.varint = value;
                rest
            }
            2 => {
                let (inner, rest) = delimited(rest)?;
                field.bytes = inner;
                rest
            }
            _ => skip_field(number, wire_type, rest)?,
        };
        field.whole = &message[..message.len() - rest.len()];
        Ok(field)
    }
}

/// Iterates over the fields of a message in order, and ends after the first error.
///
/// ```
/// use kubist_apimachinery::wire::raw_fields;
/// let message = b"\x0a\x03web\x10\x2a";
/// let fields: Vec<_> = raw_fields(message).collect::<Result<_, _>>()?;
/// assert_eq!((fields[0].number, fields[0].bytes), (1, &b"web"[..]));
/// assert_eq!((fields[1].number, fields[1].varint), (2, 42));
/// # Ok::<(), kubist_apimachinery::wire::WireErrorKind>(())
/// ```
pub fn raw_fields(mut rest: &[u8]) -> impl Iterator<Item = Result<RawField<'_>, WireErrorKind>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = RawField::first(rest);
        rest = match &field {
            Ok(field) => &rest[field.whole.len()..],
            Err(_) => &[],
        };
        Some(field)
    })
}

/// Reads a tag; returns the field number, the wire type and the bytes after it.
#[inline]
pub(super) fn tag(bytes: &[u8]) -> Result<(u32, u8, &[u8]), WireErrorKind> {
    let (tag, rest) = varint(bytes)?;
    let (number, wire_type) = split_tag(tag)?;
    Ok((number, wire_type, rest))
}

/// Splits a tag into the field number and the wire type.
///
/// # Errors
/// The number is 0 or too large.
#[inline]
pub fn split_tag(tag: u64) -> Result<(u32, u8), WireErrorKind> {
    match u32::try_from(tag >> 3) {
        Ok(number) if number != 0 => Ok((number, (tag & 7) as u8)),
        _ => Err(WireErrorKind::BadVarint),
    }
}

/// Reads a length and that many bytes; returns these and the bytes after them.
#[inline]
pub(super) fn delimited(bytes: &[u8]) -> Result<(&[u8], &[u8]), WireErrorKind> {
    let (length, rest) = varint(bytes)?;
    usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length))
        .ok_or(WireErrorKind::Truncated)
}

/// Skips the value of a field with this number and wire type; returns the bytes after it.
///
/// # Errors
/// The bytes end within the value, or the wire type does not exist.
pub fn skip_field(number: u32, wire_type: u8, bytes: &[u8]) -> Result<&[u8], WireErrorKind> {
    match wire_type {
        0 => varint(bytes).map(|(_, rest)| rest),
        1 => bytes.get(8..).ok_or(WireErrorKind::Truncated),
        2 => delimited(bytes).map(|(_, rest)| rest),
        5 => bytes.get(4..).ok_or(WireErrorKind::Truncated),
        found => Err(WireErrorKind::WireType { number, found }),
    }
}

/// Returns the key and the value of a map entry; either is empty if it is absent.
pub(super) fn map_entry(bytes: &[u8]) -> Result<(&[u8], &[u8]), WireErrorKind> {
    let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, wire_type, after) = tag(rest)?;
        rest = match (number, wire_type) {
            (1, 2) => {
                let (inner, after) = delimited(after)?;
                key = inner;
                after
            }
            (2, 2) => {
                let (inner, after) = delimited(after)?;
                value = inner;
                after
            }
            (1 | 2, found) => {
                skip_field(number, found, after)?;
                return Err(WireErrorKind::WireType { number, found });
            }
            _ => skip_field(number, wire_type, after)?,
        };
    }
    Ok((key, value))
}

const fn delimited_tag(number: u32) -> u64 {
    (number as u64) << 3 | 2
}

/// Appends the tag and the length of a length-delimited field; its contents come next.
#[inline]
pub fn push_header(number: u32, length: usize, out: &mut Vec<u8>) {
    push_varint(delimited_tag(number), out);
    push_varint(length as u64, out);
}

/// Appends a length-delimited field.
#[inline]
pub fn push_delimited(number: u32, contents: &[u8], out: &mut Vec<u8>) {
    push_header(number, contents.len(), out);
    out.extend_from_slice(contents);
}

/// Returns the number of bytes of a length-delimited field with contents of `length` bytes.
#[inline]
pub const fn delimited_length(number: u32, length: usize) -> usize {
    varint_length(delimited_tag(number)) + varint_length(length as u64) + length
}
