//! JSON strings and numbers, as `serde_json` writes them.

use super::{Irregular, Written};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Display;
use std::io::Write as _;

/// The message of an impossible error: writing to memory does not fail.
const WRITES: &str = "memory takes all of it";

/// Writes a string.
pub(super) fn push_text(bytes: &[u8], out: &mut Vec<u8>) -> Written {
    // No early exit, so that the loop compiles to a few vector instructions.
    let (mut escaped, mut all) = (0, 0);
    for &byte in bytes {
        escaped |= u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
        all |= byte;
    }
    let escaped = escaped != 0;
    if escaped || all >= 0x80 {
        let text = std::str::from_utf8(bytes).map_err(|_| Irregular)?;
        if escaped {
            serde_json::to_writer(out, text).expect(WRITES);
            return Ok(());
        }
    }
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    out.extend_from_slice(bytes);
    out.push(b'"');
    Ok(())
}

/// Writes a value whose text needs no escapes.
pub(super) fn push_displayed(it: &impl Display, out: &mut Vec<u8>) {
    write!(out, "\"{it}\"").expect(WRITES);
}

pub(super) fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    push_displayed(&STANDARD.encode(bytes), out);
}

pub(super) fn push_int(value: i64, out: &mut Vec<u8>) {
    if let Ok(digit @ 0..=9) = u8::try_from(value) {
        out.push(b'0' + digit);
        return;
    }
    serde_json::to_writer(out, &value).expect(WRITES);
}

/// Writes a double; like Go, a whole one has no fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be whole and small"
)]
#[expect(clippy::cast_precision_loss, reason = "compared with the original")]
pub(super) fn push_double(value: f64, out: &mut Vec<u8>) -> Written {
    let whole = value as i64;
    if value.abs() < 1e15 && (whole as f64).to_bits() == value.to_bits() {
        push_int(whole, out);
        return Ok(());
    }
    serde_json::to_writer(out, &value).map_err(|_| Irregular)
}
