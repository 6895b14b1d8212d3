//! `Memo`: the JSON of messages that come again and again.
//!
//! Objects of one list repeat each other: what a template says, tolerations, conditions, managed
//! fields. A message whose bytes were seen before is copied instead of being written again. A
//! message has to come twice before it is kept, so that what never comes again costs a hash and no
//! copy. The bytes are compared, not their hashes alone.

use foldhash::fast::FixedState;
use kubist_apimachinery::wire::Schema;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};
use std::ptr;

/// Messages of these lengths are kept. Writing a shorter one costs as little as finding it.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=4096;
/// A power of two. Each message has one place.
const SLOTS: usize = 1024;
/// Maximum bytes of all that is kept; then it begins anew.
const BYTES_MAX: usize = 1 << 20;

/// Created with the first message that it could keep.
#[derive(Default)]
pub(super) struct Memo {
    slots: Vec<Slot>,
    /// Bytes of all that is kept.
    bytes: usize,
}

#[derive(Clone, Default)]
struct Slot {
    /// The hash of the message that came last.
    last: u64,
    kept: Option<Kept>,
}

#[derive(Clone)]
struct Kept {
    hash: u64,
    schema: &'static Schema,
    /// The depth at which it was written. Deeper, a part of it could be too deep.
    depth: usize,
    /// The message, and then its JSON.
    both: Box<[u8]>,
    message_bytes: usize,
}

/// What a message is found by.
#[derive(Clone, Copy)]
pub(super) struct Key<'b> {
    hash: u64,
    schema: &'static Schema,
    depth: usize,
    message: &'b [u8],
}

impl<'b> Key<'b> {
    /// `None` if messages of this length are not kept.
    pub(super) fn new(schema: &'static Schema, depth: usize, message: &'b [u8]) -> Option<Self> {
        LENGTHS.contains(&message.len()).then(|| {
            let mut hasher =
                FixedState::with_seed(ptr::from_ref(schema).addr() as u64).build_hasher();
            hasher.write(message);
            Self {
                hash: hasher.finish(),
                schema,
                depth,
                message,
            }
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "any bits serve")]
    fn place(&self) -> usize {
        self.hash as usize % SLOTS
    }
}

impl Memo {
    /// The JSON of a message.
    pub(super) fn get(&self, key: &Key<'_>) -> Option<&[u8]> {
        let kept = self.slots.get(key.place())?.kept.as_ref()?;
        let (message, json) = kept.both.split_at_checked(kept.message_bytes)?;
        let is_same = kept.hash == key.hash
            && ptr::eq(kept.schema, key.schema)
            && key.depth <= kept.depth
            && message == key.message;
        is_same.then_some(json)
    }

    /// Notes the JSON of a message that was not found.
    pub(super) fn note(&mut self, key: &Key<'_>, json: &[u8]) {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot::default());
        }
        let slot = &mut self.slots[key.place()];
        if slot.last != key.hash {
            slot.last = key.hash;
            return;
        }
        let before = slot.kept.take().map_or(0, |it| it.both.len());
        let both = [key.message, json].concat().into_boxed_slice();
        self.bytes = self.bytes - before + both.len();
        slot.kept = Some(Kept {
            hash: key.hash,
            schema: key.schema,
            depth: key.depth,
            both,
            message_bytes: key.message.len(),
        });
        if self.bytes > BYTES_MAX {
            self.slots.fill(Slot::default());
            self.bytes = 0;
        }
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{QUANTITY, TIME};

    #[test]
    fn message_is_found_once_it_came_twice_with_its_schema_and_no_deeper() {
        let mut memo = Memo::default();
        let message = [7; 40];
        let key = |schema, depth| Key::new(schema, depth, &message).unwrap();
        for found in [None, None, Some(&b"{}"[..])] {
            assert_eq!(memo.get(&key(&TIME, 3)), found);
            memo.note(&key(&TIME, 3), b"{}");
        }
        assert_eq!(memo.get(&key(&TIME, 2)), Some(&b"{}"[..]));
        assert_eq!(memo.get(&key(&TIME, 4)), None);
        assert_eq!(memo.get(&key(&QUANTITY, 3)), None);
        assert!(Key::new(&TIME, 3, &message[..23]).is_none());
        assert!(Key::new(&TIME, 3, &[0; 4097]).is_none());
    }

    #[test]
    fn what_comes_once_displaces_nothing_and_all_of_it_is_bounded() {
        let mut memo = Memo::default();
        let often = [1; 40];
        let often = Key::new(&TIME, 0, &often).unwrap();
        memo.note(&often, b"often");
        memo.note(&often, b"often");
        for number in 0..100_000_u64 {
            let message = number.to_le_bytes().repeat(10);
            memo.note(&Key::new(&TIME, 0, &message).unwrap(), b"once");
        }
        assert_eq!(memo.get(&often), Some(&b"often"[..]));
        for number in 0..2_000_u64 {
            let message = number.to_le_bytes().repeat(500);
            let key = Key::new(&TIME, 0, &message).unwrap();
            memo.note(&key, b"twice");
            memo.note(&key, b"twice");
            assert!(memo.bytes <= BYTES_MAX);
        }
        assert!(memo.bytes > 0);
    }
}
