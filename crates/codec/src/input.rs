//! `Input`: the chunk that is being read, and `Gather`: a value that may span chunks.
//!
//! A value inside one chunk leaves as a slice of it; only one that crosses a border is copied.

use bytes::{Bytes, BytesMut};

/// Bytes that arrived and are not consumed.
#[derive(Debug, Default)]
pub(crate) struct Input {
    chunk: Bytes,
    position: usize,
    before: u64,
}

impl Input {
    /// Takes a chunk. Callers drain before they push; what is left over costs one copy.
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

    /// What is not consumed.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.chunk[self.position..]
    }

    /// The next byte.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.chunk.get(self.position).copied()
    }

    /// Consumes `count` bytes, which are there.
    pub(crate) fn advance(&mut self, count: usize) {
        self.position += count;
    }

    /// Consumes `count` bytes, which are there, and gives them as a slice of the chunk.
    pub(crate) fn take(&mut self, count: usize) -> Bytes {
        let slice = self.chunk.slice(self.position..self.position + count);
        self.position += count;
        slice
    }

    /// Consumes white space and gives the byte after it.
    pub(crate) fn peek_after_space(&mut self) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.position += 1;
        }
        None
    }

    /// How many bytes of the whole stream are consumed.
    pub(crate) fn offset(&self) -> u64 {
        self.before + self.position as u64
    }
}

/// A value that arrives in parts.
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

    /// Moves the last `count` bytes; gives the value.
    pub(crate) fn last(&mut self, input: &mut Input, count: usize) -> Bytes {
        if self.parts.is_empty() {
            return input.take(count);
        }
        self.part(input, count);
        self.parts.split().freeze()
    }

    /// How many bytes are gathered.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Makes room for `count` bytes, of a length that was checked against a limit.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.parts.reserve(count);
    }
}
