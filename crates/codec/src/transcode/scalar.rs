//! Messages that are one JSON value: times, durations, quantities, int-or-string, raw JSON.

use super::fields::{Cursor, DELIMITED, Part, VARINT};
use super::text::{push_displayed, push_int, push_text};
use super::{Irregular, Written};
use kubist_apimachinery::wire::{
    DURATION, DecodeContext, FIELDS_V1, INT_OR_STRING, MICRO_TIME, Message, QUANTITY,
    RAW_EXTENSION, RAW_JSON, Schema, TIME, int32, is_json,
};
use kubist_apimachinery::{Duration, MicroTime, Quantity, Time};
use std::fmt::Display;

/// Reports whether the message is a time.
pub(super) fn is_time(schema: &'static Schema) -> bool {
    let is = |other: &'static Schema| std::ptr::eq(schema, other);
    is(&TIME) || is(&MICRO_TIME)
}

/// Writes a scalar; `None` is an absent one.
pub(super) fn push(schema: &'static Schema, bytes: Option<&[u8]>, out: &mut Vec<u8>) -> Written {
    let is = |other: &'static Schema| std::ptr::eq(schema, other);
    let there = bytes.unwrap_or_default();
    if is(&TIME) {
        let time = Time::from_unix(Numbers::of(there)?.first);
        push_time(&time, there.is_empty() || time.is_zero(), out);
    } else if is(&MICRO_TIME) {
        let numbers = Numbers::of(there)?;
        let time = MicroTime::from_unix(numbers.first, numbers.second);
        push_time(&time, there.is_empty() || time.is_zero(), out);
    } else if is(&QUANTITY) {
        push_quantity(bytes, out)?;
    } else if is(&INT_OR_STRING) {
        let numbers = Numbers::of(there)?;
        if numbers.first == 1 {
            push_text(numbers.text, out)?;
        } else {
            push_int(i64::from(numbers.second), out);
        }
    } else if is(&DURATION) {
        push_displayed(&Duration::from_nanos(Numbers::of(there)?.first), out);
    } else {
        return Err(Irregular);
    }
    Ok(())
}

fn push_time(time: &impl Display, zero: bool, out: &mut Vec<u8>) {
    if zero {
        out.extend_from_slice(b"null");
    } else {
        push_displayed(time, out);
    }
}

fn push_quantity(bytes: Option<&[u8]>, out: &mut Vec<u8>) -> Written {
    if let Some(plain) = bytes.and_then(plain_quantity) {
        return push_text(plain, out);
    }
    let mut quantity = Quantity::default();
    if let Some(bytes) = bytes {
        let merged = quantity.merge_scalar(bytes, &mut DecodeContext::new());
        merged.map_err(|_| Irregular)?;
    }
    push_text(quantity.as_str().as_bytes(), out)
}

/// The fields of scalars: two numbers and a string.
#[derive(Default)]
struct Numbers<'b> {
    first: i64,
    second: i32,
    text: &'b [u8],
}

impl<'b> Numbers<'b> {
    fn of(bytes: &'b [u8]) -> Result<Self, Irregular> {
        let mut numbers = Self::default();
        let mut cursor = Cursor::new(bytes, Part::new(0, bytes.len())?);
        while let Some(field) = cursor.next()? {
            match (field.number, field.wire_type) {
                (1, VARINT) => numbers.first = field.value.cast_signed(),
                (2, VARINT) => numbers.second = int32(field.value),
                (3, DELIMITED) => numbers.text = field.contents.of(bytes),
                _ => return Err(Irregular),
            }
        }
        Ok(numbers)
    }
}

/// The most digits of a quantity that is certainly canonical.
const PLAIN_DIGITS_MAX: usize = 3;

/// Returns the text of a quantity that is certainly canonical: a few digits without a leading zero,
/// and a common suffix or none. Most quantities are.
fn plain_quantity(bytes: &[u8]) -> Option<&[u8]> {
    let [0x0a, length, text @ ..] = bytes else {
        return None;
    };
    if usize::from(*length) != text.len() {
        return None;
    }
    let digits = text.iter().take_while(|it| it.is_ascii_digit()).count();
    let (number, suffix) = text.split_at(digits);
    let short = (1..=PLAIN_DIGITS_MAX).contains(&digits) && number[0] != b'0';
    (short && matches!(suffix, b"" | b"m" | b"Mi" | b"Gi")).then_some(text)
}

/// Writes raw JSON; invalid JSON becomes null, as in decoding.
pub(super) fn push_raw(
    schema: &'static Schema,
    bytes: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Written {
    let is = |other: &'static Schema| std::ptr::eq(schema, other);
    let text_only = is(&FIELDS_V1);
    if !text_only && !is(&RAW_EXTENSION) && !is(&RAW_JSON) {
        return Err(Irregular);
    }
    let bytes = bytes.unwrap_or_default();
    let mut raw: &[u8] = &[];
    let mut cursor = Cursor::new(bytes, Part::new(0, bytes.len())?);
    let mut count = 0;
    while let Some(field) = cursor.next()? {
        if field.number != 1 || field.wire_type != DELIMITED || count > 0 {
            return Err(Irregular);
        }
        count += 1;
        raw = field.contents.of(bytes);
    }
    match std::str::from_utf8(raw) {
        Ok(text) if is_json(text) => {
            let white = [' ', '\n', '\r', '\t'];
            out.extend_from_slice(text.trim_matches(white).as_bytes());
        }
        Err(_) if text_only => return Err(Irregular),
        _ => out.extend_from_slice(b"null"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_taken_as_they_are_are_canonical() {
        for digits in ["1", "12", "100", "999", "250", "000", "010", "0"] {
            for suffix in ["", "m", "Mi", "Gi", "Ki", "k", "n", "e3"] {
                let text = format!("{digits}{suffix}");
                let mut bytes = vec![0x0a, u8::try_from(text.len()).unwrap()];
                bytes.extend_from_slice(text.as_bytes());
                if plain_quantity(&bytes).is_some() {
                    let parsed: Quantity = text.parse().unwrap();
                    assert_eq!(parsed.as_str(), text);
                }
            }
        }
        assert!(plain_quantity(b"\x0a\x04100m").is_some());
        assert!(plain_quantity(b"\x0a\x05100m").is_none());
    }
}
