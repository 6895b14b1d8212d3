//! `Input`: the chunk being read, and `Gather`: a value that may span chunks.
//!
//! A value within one chunk is returned as a slice of it; only a value that crosses a chunk border
//! is copied.

use bytes::{Bytes, BytesMut};

/// Bytes that have arrived and are not consumed yet.
#[derive(Debug, Default)]
pub(crate) struct Input {
    chunk: Bytes,
    position: usize,
    before: u64,
}

impl Input {
    /// Adds a chunk. Callers drain before they push; bytes left over cost one copy.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        self.before += self.position as u64;
        let rest = self.chunk.slice(self.position..);
        self.position = 0;
        self.chunk = if rest.is_empty() {
            chunk
        } else {
            let mut joined = BytesMut::with_capacity(rest.len() + chunk.len());
            joined.extend_from_slice(&rest);
            joined.extend_from_slice(&chunk);
            joined.freeze()
        };
    }

    /// Returns the bytes that are not consumed.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.chunk[self.position..]
    }

    /// Returns the next byte without consuming it.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.chunk.get(self.position).copied()
    }

    /// Consumes `count` bytes, which must be available.
    pub(crate) fn advance(&mut self, count: usize) {
        self.position += count;
        self.release();
    }

    /// Drops a chunk that is consumed: it may be a slice of a large buffer, and the next one may
    /// take hours to arrive.
    fn release(&mut self) {
        if self.position == self.chunk.len() {
            self.before += self.position as u64;
            (self.chunk, self.position) = (Bytes::new(), 0);
        }
    }

    /// Consumes `count` bytes, which must be available, and returns them as a slice of the chunk.
    pub(crate) fn take(&mut self, count: usize) -> Bytes {
        let slice = self.chunk.slice(self.position..self.position + count);
        self.advance(count);
        slice
    }

    /// Consumes white space and returns the byte after it.
    pub(crate) fn peek_after_space(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.position += 1;
        }
        None
    }

    /// Returns the number of consumed bytes of the whole stream.
    pub(crate) fn offset(&self) -> u64 {
        self.before + self.position as u64
    }
}

/// A value that arrives in several chunks.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    parts: BytesMut,
}

impl Gather {
    /// Moves `count` bytes of the input to the value, which is not complete yet.
    pub(crate) fn part(&mut self, input: &mut Input, count: usize) {
        self.parts.extend_from_slice(&input.rest()[..count]);
        input.advance(count);
    }

    /// Moves the last `count` bytes and returns the value.
    pub(crate) fn last(&mut self, input: &mut Input, count: usize) -> Bytes {
        if self.parts.is_empty() {
            return input.take(count);
        }
        self.part(input, count);
        self.parts.split().freeze()
    }

    /// Returns the number of gathered bytes.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Reserves room for `count` bytes; the caller has checked the length against a limit.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.parts.reserve(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consumed_chunk_is_not_held() {
        let chunk = Bytes::from(vec![b'x'; 100]);
        let mut input = Input::default();
        input.push(chunk.slice(10..30));
        drop(input.take(5));
        assert!(!chunk.is_unique() && input.offset() == 5);
        drop(input.take(15));
        assert!(chunk.is_unique(), "nothing of it is left to read");
        assert_eq!((input.offset(), input.peek()), (20, None));
        input.push(Bytes::from_static(b"ab"));
        input.advance(1);
        assert_eq!((input.offset(), input.peek()), (21, Some(b'b')));
    }
}
