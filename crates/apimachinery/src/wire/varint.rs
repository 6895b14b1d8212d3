//! Protobuf varints: reading them, whole or byte by byte, and writing them.
//!
//! A varint is a number in groups of seven bits, the lowest first; the high bit of a byte says
//! that another follows.

use super::WireErrorKind;

/// The most bytes that a varint of 64 bits takes.
pub const VARINT_BYTES_MAX: usize = 10;

/// Reads a varint; returns it and the bytes after it.
///
/// # Errors
/// The bytes end first, or the varint is longer than [`VARINT_BYTES_MAX`].
#[inline]
pub fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), WireErrorKind> {
    match bytes.split_first() {
        Some((&byte, rest)) if byte < 0x80 => Ok((u64::from(byte), rest)),
        _ => long_varint(bytes),
    }
}

fn long_varint(bytes: &[u8]) -> Result<(u64, &[u8]), WireErrorKind> {
    let mut partial = PartialVarint::default();
    for (index, &byte) in bytes.iter().enumerate() {
        if let Some(value) = partial.push(byte)? {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    Err(WireErrorKind::Truncated)
}

/// A varint that arrives byte by byte.
///
/// ```
/// use kubist_apimachinery::wire::PartialVarint;
/// let mut partial = PartialVarint::default();
/// assert_eq!(partial.push(0xac), Ok(None));
/// assert_eq!(partial.push(0x02), Ok(Some(300)));
/// assert!(partial.is_empty());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartialVarint {
    value: u64,
    /// How many bits of `value` have been read.
    bits: u8,
}

impl PartialVarint {
    /// Reports whether no byte of a varint has been read.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Takes the next byte. Returns the number when it is complete, and starts over.
    ///
    /// # Errors
    /// The varint is longer than [`VARINT_BYTES_MAX`].
    #[inline]
    pub fn push(&mut self, byte: u8) -> Result<Option<u64>, WireErrorKind> {
        let value = self.value | u64::from(byte & 0x7f) << self.bits;
        if byte < 0x80 {
            *self = Self::default();
            return Ok(Some(value));
        }
        let bits = self.bits + 7;
        if usize::from(bits) >= VARINT_BYTES_MAX * 7 {
            return Err(WireErrorKind::BadVarint);
        }
        *self = Self { value, bits };
        Ok(None)
    }
}

/// Writes a varint at the start of `out`; returns the number of its bytes.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "each byte takes the lowest seven bits"
)]
pub(super) fn write_varint(mut value: u64, out: &mut [u8; VARINT_BYTES_MAX]) -> usize {
    let mut length = 0;
    while value >= 0x80 {
        out[length] = value as u8 | 0x80;
        value >>= 7;
        length += 1;
    }
    out[length] = value as u8;
    length + 1
}

/// Appends a varint.
#[inline]
pub fn push_varint(value: u64, out: &mut Vec<u8>) {
    let mut bytes = [0; VARINT_BYTES_MAX];
    let length = write_varint(value, &mut bytes);
    out.extend_from_slice(&bytes[..length]);
}

/// Returns the number of bytes that a varint takes.
///
/// ```
/// use kubist_apimachinery::wire::varint_length;
/// assert_eq!([0, 127, 128, u64::MAX].map(varint_length), [1, 1, 2, 10]);
/// ```
#[inline]
pub const fn varint_length(value: u64) -> usize {
    let bits = (u64::BITS - (value | 1).leading_zeros()) as usize;
    bits.div_ceil(7)
}

/// Returns a varint as an `int32`, which protobuf defines as truncation.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "protobuf defines int32 as truncation"
)]
pub const fn int32(value: u64) -> i32 {
    value.cast_signed() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_and_have_the_announced_length() {
        for shift in 0..64 {
            for value in [1 << shift, (1_u64 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                push_varint(value, &mut bytes);
                assert_eq!(bytes.len(), varint_length(value));
                bytes.push(7);
                assert_eq!(varint(&bytes), Ok((value, &[7][..])));
            }
        }
    }

    #[test]
    fn a_varint_that_is_cut_or_too_long_is_an_error() {
        assert_eq!(varint(&[]), Err(WireErrorKind::Truncated));
        assert_eq!(varint(&[0x80; 9]), Err(WireErrorKind::Truncated));
        assert_eq!(varint(&[0x80; 10]), Err(WireErrorKind::BadVarint));
        assert_eq!(varint(&[0xff; 11]), Err(WireErrorKind::BadVarint));
    }
}
