//! `Fields`: reads the fields of a protobuf message, across chunks.
//!
//! It reads one level: a length-delimited field is kept, skipped, or read by another `Fields` of
//! its length.

use crate::input::{Gather, Input};
use bytes::Bytes;
use kubist_apimachinery::wire::{PartialVarint, WireErrorKind, split_tag};

/// The problem at the current offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The bytes are not protobuf.
    Wire(WireErrorKind),
    /// A field exceeds its limit.
    TooLong { max: usize },
}

/// The result of [`Fields::step`].
#[derive(Debug)]
pub(crate) enum FieldStep {
    /// All input has been consumed.
    More,
    /// A length-delimited field begins: call [`Fields::keep`], [`Fields::skip`] or
    /// [`Fields::entered`].
    Field { number: u32, length: u64 },
    /// The contents of a kept field.
    Value(Bytes),
    /// The message has ended.
    End,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Tag,
    /// A varint field, which is skipped.
    Varint,
    Length {
        number: u32,
    },
    Choice {
        length: u64,
    },
    Keep {
        left: u64,
    },
    Skip {
        left: u64,
    },
}

/// Reads the fields of one message.
#[derive(Debug)]
pub(crate) struct Fields {
    state: State,
    /// The unconsumed bytes of this message; none if it ends with the stream.
    left: Option<u64>,
    varint: PartialVarint,
    gather: Gather,
}

impl Fields {
    /// Creates a reader for a message of `length` bytes, or for one that ends with the stream.
    pub(crate) fn new(length: Option<u64>) -> Self {
        Self {
            state: State::Tag,
            left: length,
            varint: PartialVarint::default(),
            gather: Gather::default(),
        }
    }

    /// Reports whether the stream may end here, for a message without a length.
    pub(crate) fn may_end(&self) -> bool {
        matches!(self.state, State::Tag) && self.varint.is_empty()
    }

    /// Keeps the current field, if it has at most `max` bytes.
    pub(crate) fn keep(&mut self, max: usize) -> Result<(), Flaw> {
        let State::Choice { length } = self.state else {
            return Ok(());
        };
        match usize::try_from(length) {
            Ok(length) if length <= max => {
                self.state = State::Keep {
                    left: length as u64,
                };
                Ok(())
            }
            _ => Err(Flaw::TooLong { max }),
        }
    }

    /// Skips the current field.
    pub(crate) fn skip(&mut self) {
        if let State::Choice { length } = self.state {
            self.state = State::Skip { left: length };
        }
    }

    /// Notes that the caller has consumed the field itself.
    pub(crate) fn entered(&mut self) {
        if let State::Choice { length } = self.state {
            self.consume(length);
            self.state = State::Tag;
        }
    }

    /// Reads until the next step.
    pub(crate) fn step(&mut self, input: &mut Input) -> Result<FieldStep, Flaw> {
        loop {
            match self.state {
                State::Tag => {
                    if self.left == Some(0) {
                        return if self.varint.is_empty() {
                            Ok(FieldStep::End)
                        } else {
                            Err(Flaw::Wire(WireErrorKind::Truncated))
                        };
                    }
                    let Some(tag) = self.varint(input)? else {
                        return Ok(FieldStep::More);
                    };
                    self.state = state_after_tag(tag)?;
                }
                State::Varint => {
                    if self.varint(input)?.is_none() {
                        return Ok(FieldStep::More);
                    }
                    self.state = State::Tag;
                }
                State::Length { number } => {
                    let Some(length) = self.varint(input)? else {
                        return Ok(FieldStep::More);
                    };
                    if self.left.is_some_and(|left| length > left) {
                        return Err(Flaw::Wire(WireErrorKind::Truncated));
                    }
                    self.state = State::Choice { length };
                    return Ok(FieldStep::Field { number, length });
                }
                State::Choice { .. } => self.skip(),
                State::Keep { left } => {
                    let (count, whole) = available(input, left);
                    self.consume(count as u64);
                    if whole {
                        self.state = State::Tag;
                        return Ok(FieldStep::Value(self.gather.last(input, count)));
                    }
                    if self.gather.len() == 0 {
                        // The announced length is trusted only for a small allocation.
                        let likely = usize::try_from(left).unwrap_or(usize::MAX);
                        self.gather.reserve(likely.min(64 << 10));
                    }
                    self.gather.part(input, count);
                    self.state = State::Keep {
                        left: left - count as u64,
                    };
                    return Ok(FieldStep::More);
                }
                State::Skip { left } => {
                    if self.left.is_some_and(|message| left > message) {
                        return Err(Flaw::Wire(WireErrorKind::Truncated));
                    }
                    let (count, whole) = available(input, left);
                    self.consume(count as u64);
                    input.advance(count);
                    if !whole {
                        self.state = State::Skip {
                            left: left - count as u64,
                        };
                        return Ok(FieldStep::More);
                    }
                    self.state = State::Tag;
                }
            }
        }
    }

    fn consume(&mut self, count: u64) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(count);
        }
    }

    /// Reads a varint; none until it is complete.
    fn varint(&mut self, input: &mut Input) -> Result<Option<u64>, Flaw> {
        while let Some(byte) = input.peek() {
            if self.left == Some(0) {
                return Err(Flaw::Wire(WireErrorKind::Truncated));
            }
            input.advance(1);
            self.consume(1);
            if let Some(value) = self.varint.push(byte).map_err(Flaw::Wire)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}

fn state_after_tag(tag: u64) -> Result<State, Flaw> {
    let (number, wire_type) = split_tag(tag).map_err(Flaw::Wire)?;
    match wire_type {
        0 => Ok(State::Varint),
        1 => Ok(State::Skip { left: 8 }),
        2 => Ok(State::Length { number }),
        5 => Ok(State::Skip { left: 4 }),
        found => Err(Flaw::Wire(WireErrorKind::WireType { number, found })),
    }
}

/// Returns how many of `wanted` bytes are available, and whether all are.
fn available(input: &Input, wanted: u64) -> (usize, bool) {
    let here = input.rest().len();
    match usize::try_from(wanted) {
        Ok(wanted) if wanted <= here => (wanted, true),
        _ => (here, false),
    }
}
