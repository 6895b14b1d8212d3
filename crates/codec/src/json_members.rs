//! `Members` and `Items`: read the members of a JSON object and the items of an array, across
//! chunks.
//!
//! Both read one level; values are kept or skipped by a
//! [`ValueScanner`](crate::json_value::ValueScanner).

use crate::input::{Gather, Input};
use crate::json_value::{ValueScanner, begins_value};
use bytes::Bytes;

/// The problem at the current offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// An unexpected byte.
    Unexpected { found: u8, expected: &'static str },
    /// A value exceeds its limit.
    TooLong { max: usize },
}

/// Reads one value from the input.
#[derive(Debug, Default)]
struct Cut {
    scanner: ValueScanner,
    gather: Gather,
    max: usize,
}

impl Cut {
    fn new(max: usize) -> Self {
        Self {
            max,
            ..Self::default()
        }
    }

    /// Returns the value, once it is complete.
    fn step(&mut self, input: &mut Input) -> Result<Option<Bytes>, Flaw> {
        let end = self.scanner.scan(input.rest());
        let count = end.unwrap_or_else(|| input.rest().len());
        if self.gather.len() + count > self.max {
            return Err(Flaw::TooLong { max: self.max });
        }
        if end.is_some() {
            return Ok(Some(self.gather.last(input, count)));
        }
        self.gather.part(input, count);
        Ok(None)
    }
}

#[derive(Debug)]
enum MemberState {
    Start,
    FirstKey,
    NextKey,
    Key { escaped: bool },
    Colon,
    Choice,
    Keep(Cut),
    Skip(ValueScanner),
    AfterValue,
    End,
}

/// The result of [`Members::step`].
#[derive(Debug)]
pub(crate) enum MemberStep {
    /// All input has been consumed.
    More,
    /// A key was read and its value begins: call [`Members::keep`], [`Members::skip`] or
    /// [`Members::entered`].
    Key,
    /// The kept value.
    Value(Bytes),
    /// The object's closing brace was read.
    End,
}

/// Reads the members of one object.
#[derive(Debug)]
pub(crate) struct Members {
    state: MemberState,
    key: Vec<u8>,
}

impl Members {
    /// The most bytes of a key that are kept; no known key is longer.
    const KEY_MAX: usize = 64;

    /// Creates a reader before the opening brace.
    pub(crate) fn new() -> Self {
        Self {
            state: MemberState::Start,
            key: Vec::new(),
        }
    }

    /// Returns the last key, without quotes. Escapes are not resolved: no known key needs any.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Reports whether nothing of the object has been read.
    pub(crate) fn is_at_start(&self) -> bool {
        matches!(self.state, MemberState::Start)
    }

    /// Keeps the current value, up to `max` bytes.
    pub(crate) fn keep(&mut self, max: usize) {
        self.state = MemberState::Keep(Cut::new(max));
    }

    /// Skips the current value, whatever its length.
    pub(crate) fn skip(&mut self) {
        self.state = MemberState::Skip(ValueScanner::default());
    }

    /// Notes that the caller has consumed the value itself.
    pub(crate) fn entered(&mut self) {
        self.state = MemberState::AfterValue;
    }

    /// Reads until the next step.
    pub(crate) fn step(&mut self, input: &mut Input) -> Result<MemberStep, Flaw> {
        loop {
            match &mut self.state {
                MemberState::Key { escaped } => {
                    let Some(byte) = input.peek() else {
                        return Ok(MemberStep::More);
                    };
                    input.advance(1);
                    if byte == b'"' && !*escaped {
                        self.state = MemberState::Colon;
                    } else {
                        *escaped = byte == b'\\' && !*escaped;
                        if self.key.len() < Self::KEY_MAX {
                            self.key.push(byte);
                        }
                    }
                }
                MemberState::Keep(cut) => {
                    let Some(value) = cut.step(input)? else {
                        return Ok(MemberStep::More);
                    };
                    self.state = MemberState::AfterValue;
                    return Ok(MemberStep::Value(value));
                }
                MemberState::Skip(scanner) => {
                    let Some(count) = scanner.scan(input.rest()) else {
                        input.advance(input.rest().len());
                        return Ok(MemberStep::More);
                    };
                    input.advance(count);
                    self.state = MemberState::AfterValue;
                }
                MemberState::End => return Ok(MemberStep::End),
                _ => {
                    let Some(byte) = input.peek_after_space() else {
                        return Ok(MemberStep::More);
                    };
                    if let Some(step) = self.punctuation(byte, input)? {
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// Handles the states in which white space may come first and one byte decides.
    fn punctuation(&mut self, byte: u8, input: &mut Input) -> Result<Option<MemberStep>, Flaw> {
        let expected = match (&self.state, byte) {
            (MemberState::Start, b'{') => {
                self.state = MemberState::FirstKey;
                None
            }
            (MemberState::FirstKey | MemberState::NextKey, b'"') => {
                self.key.clear();
                self.state = MemberState::Key { escaped: false };
                None
            }
            (MemberState::FirstKey | MemberState::AfterValue, b'}') => {
                self.state = MemberState::End;
                None
            }
            (MemberState::Colon, b':') => {
                self.state = MemberState::Choice;
                None
            }
            (MemberState::AfterValue, b',') => {
                self.state = MemberState::NextKey;
                None
            }
            (MemberState::Choice, byte) if begins_value(byte) => {
                return Ok(Some(MemberStep::Key));
            }
            (MemberState::Start, _) => Some("an object"),
            (MemberState::FirstKey, _) => Some("a key or `}`"),
            (MemberState::NextKey, _) => Some("a key"),
            (MemberState::Colon, _) => Some("`:`"),
            (MemberState::AfterValue, _) => Some("`,` or `}`"),
            _ => Some("a value"),
        };
        if let Some(expected) = expected {
            return Err(Flaw::Unexpected {
                found: byte,
                expected,
            });
        }
        input.advance(1);
        Ok(None)
    }
}

#[derive(Debug)]
enum ItemState {
    Start,
    First,
    Next,
    Item(Cut),
    AfterItem,
    Null(Cut),
    End,
}

/// The result of [`Items::step`].
#[derive(Debug)]
pub(crate) enum ItemStep {
    /// All input has been consumed.
    More,
    /// One item.
    Item(Bytes),
    /// The array's closing bracket (or `null`) was read.
    End,
}

/// Reads the items of one array; `null` is an empty one, as Go writes it.
#[derive(Debug)]
pub(crate) struct Items {
    state: ItemState,
    item_bytes_max: usize,
}

impl Items {
    /// Creates a reader before the opening bracket.
    pub(crate) fn new(item_bytes_max: usize) -> Self {
        Self {
            state: ItemState::Start,
            item_bytes_max,
        }
    }

    /// Reads until the next step.
    pub(crate) fn step(&mut self, input: &mut Input) -> Result<ItemStep, Flaw> {
        loop {
            match &mut self.state {
                ItemState::Item(cut) => {
                    let Some(item) = cut.step(input)? else {
                        return Ok(ItemStep::More);
                    };
                    self.state = ItemState::AfterItem;
                    return Ok(ItemStep::Item(item));
                }
                ItemState::Null(cut) => {
                    let Some(word) = cut.step(input)? else {
                        return Ok(ItemStep::More);
                    };
                    if word != "null" {
                        let found = word.first().copied().unwrap_or_default();
                        return Err(Flaw::Unexpected {
                            found,
                            expected: "an array or null",
                        });
                    }
                    self.state = ItemState::End;
                }
                ItemState::End => return Ok(ItemStep::End),
                _ => {
                    let Some(byte) = input.peek_after_space() else {
                        return Ok(ItemStep::More);
                    };
                    self.punctuation(byte, input)?;
                }
            }
        }
    }

    fn punctuation(&mut self, byte: u8, input: &mut Input) -> Result<(), Flaw> {
        let (next, consumed) = match (&self.state, byte) {
            (ItemState::Start, b'[') => (ItemState::First, 1),
            (ItemState::Start, b'n') => (ItemState::Null(Cut::new(4)), 0),
            (ItemState::First | ItemState::AfterItem, b']') => (ItemState::End, 1),
            (ItemState::AfterItem, b',') => (ItemState::Next, 1),
            (ItemState::First | ItemState::Next, byte) if begins_value(byte) => {
                (ItemState::Item(Cut::new(self.item_bytes_max)), 0)
            }
            (state, found) => {
                let expected = match state {
                    ItemState::Start => "an array or null",
                    ItemState::First => "an item or `]`",
                    ItemState::AfterItem => "`,` or `]`",
                    _ => "an item",
                };
                return Err(Flaw::Unexpected { found, expected });
            }
        };
        self.state = next;
        input.advance(consumed);
        Ok(())
    }
}
