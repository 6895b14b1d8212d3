//! `ReverseWriter`: a buffer that grows towards its front, for protobuf written back to front.

use super::varint::{VARINT_BYTES_MAX, write_varint};
use std::cell::Cell;

/// A buffer that grows towards its front.
#[derive(Debug, Default)]
pub struct ReverseWriter {
    bytes: Vec<u8>,
    start: usize,
}

/// The size of a new buffer, and the largest that a thread keeps for the next message.
const SIZE_MIN: usize = 8 << 10;
const SIZE_KEPT_MAX: usize = 256 << 10;

thread_local! {
    /// A buffer that has grown is not grown and zeroed again for the next message.
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl ReverseWriter {
    /// Creates an empty buffer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: vec![0; capacity],
            start: capacity,
        }
    }

    /// Returns the bytes that `write` writes to a buffer of this thread.
    pub(super) fn written_by(write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut bytes = KEPT.take();
        if bytes.is_empty() {
            bytes = vec![0; SIZE_MIN];
        }
        let mut out = Self {
            start: bytes.len(),
            bytes,
        };
        write(&mut out);
        let written = out.bytes[out.start..].to_vec();
        if out.bytes.len() <= SIZE_KEPT_MAX {
            KEPT.set(out.bytes);
        }
        written
    }

    /// Returns the number of bytes written.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Reports whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Prepends `bytes`.
    #[inline]
    pub fn prepend(&mut self, bytes: &[u8]) {
        if let Some(room) = self.room(bytes.len()) {
            room.copy_from_slice(bytes);
        } else {
            self.grow(bytes.len());
            self.prepend(bytes);
        }
    }

    /// Takes this many bytes at the front, to be filled; none if there is no room.
    #[inline]
    fn room(&mut self, length: usize) -> Option<&mut [u8]> {
        // One test for both ends: what wraps is beyond the end.
        let start = self.start.wrapping_sub(length);
        let room = self.bytes.get_mut(start..self.start)?;
        self.start = start;
        Some(room)
    }

    /// Prepends a varint.
    #[inline]
    pub fn prepend_varint(&mut self, value: u64) {
        match u8::try_from(value) {
            Ok(byte) if byte < 0x80 => self.prepend(&[byte]),
            _ => self.prepend_long_varint(value),
        }
    }

    #[inline(never)]
    fn prepend_long_varint(&mut self, value: u64) {
        let mut bytes = [0; VARINT_BYTES_MAX];
        let length = write_varint(value, &mut bytes);
        self.prepend(&bytes[..length]);
    }

    /// Prepends a tag.
    #[inline]
    pub fn prepend_tag(&mut self, number: u32, wire_type: u8) {
        self.prepend_varint(u64::from(number) << 3 | u64::from(wire_type));
    }

    /// Prepends the header of a length-delimited field to the bytes written since `mark`, an
    /// earlier [`len`](Self::len).
    #[inline]
    pub fn prepend_header(&mut self, number: u32, mark: usize) {
        let length = self.len() - mark;
        match short_header(number, length) {
            Some(Short::One(header)) => self.prepend(&header),
            Some(Short::Two(header)) => self.prepend(&header),
            None => self.prepend_lengths(number, length),
        }
    }

    /// Prepends a length-delimited field.
    #[inline]
    pub fn prepend_delimited(&mut self, number: u32, contents: &[u8]) {
        match short_header(number, contents.len()) {
            Some(Short::One(header)) => self.prepend_both(header, contents),
            Some(Short::Two(header)) => self.prepend_both(header, contents),
            None => {
                self.prepend(contents);
                self.prepend_lengths(number, contents.len());
            }
        }
    }

    #[inline]
    fn prepend_both<const N: usize>(&mut self, header: [u8; N], contents: &[u8]) {
        let room = self.room(N + contents.len());
        if let Some((front, rest)) = room.and_then(|it| it.split_first_chunk_mut()) {
            *front = header;
            rest.copy_from_slice(contents);
        } else {
            self.prepend(contents);
            self.prepend(&header);
        }
    }

    #[inline(never)]
    fn prepend_lengths(&mut self, number: u32, length: usize) {
        self.prepend_varint(length as u64);
        self.prepend_tag(number, 2);
    }

    /// Returns the written bytes.
    pub fn into_vec(mut self) -> Vec<u8> {
        self.bytes.drain(..self.start);
        self.bytes.shrink_to_fit();
        self.bytes
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let written = self.len();
        let size = (written + more).next_power_of_two().max(64) * 2;
        let mut bytes = vec![0; size];
        bytes[size - written..].copy_from_slice(&self.bytes[self.start..]);
        self.bytes = bytes;
        self.start = size - written;
    }
}

/// The header of a length-delimited field whose length has one byte, as most have, and whose tag
/// has one or two.
enum Short {
    One([u8; 2]),
    Two([u8; 3]),
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both are in range")]
fn short_header(number: u32, length: usize) -> Option<Short> {
    const TAG: u8 = 2;
    match (number, length) {
        (..0x10, ..0x80) => Some(Short::One([(number << 3) as u8 | TAG, length as u8])),
        (..0x800, ..0x80) => {
            let low = (number << 3) as u8 | TAG | 0x80;
            Some(Short::Two([low, (number >> 4) as u8, length as u8]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{push_delimited, push_varint};

    #[test]
    fn it_is_written_from_its_end_and_grows_to_any_size() {
        let mut wanted = Vec::new();
        let mut out = ReverseWriter::default();
        for (number, value) in (1..)
            .step_by(40)
            .zip([0, 1, 127, 128, 300, 1 << 20, u64::MAX])
        {
            let mark = out.len();
            out.prepend_varint(value);
            out.prepend_header(number, mark);
            let mut field = Vec::new();
            push_varint(value, &mut field);
            let mut all = Vec::new();
            push_delimited(number, &field, &mut all);
            all.extend_from_slice(&wanted);
            wanted = all;
        }
        out.prepend_delimited(200, &[7; 5_000]);
        assert!(out.into_vec().ends_with(&wanted));
    }

    #[test]
    fn the_buffer_of_a_thread_is_used_again_and_even_within_itself() {
        let long = ReverseWriter::written_by(|out| out.prepend(&vec![1; SIZE_KEPT_MAX]));
        assert_eq!(long.len(), SIZE_KEPT_MAX);
        let outer = ReverseWriter::written_by(|out| {
            out.prepend(b"outer");
            let inner = ReverseWriter::written_by(|out| out.prepend(b"inner"));
            out.prepend(&inner);
        });
        assert_eq!(outer, b"innerouter");
    }
}
