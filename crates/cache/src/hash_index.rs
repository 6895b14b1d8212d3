//! `HashIndex`: a persistent hash table from hashes to numbers.
//!
//! An entry is a hash and a number in one word, so that a look-up usually reads one cache line. The
//! entries are in segments, by the first bits of the hash; a full segment is split, so that no
//! insertion moves more entries than a segment has. A few entries are in a list instead, because
//! most stores of a program are small. A clone shares segments (see [`Paged`]).
//!
//! The table does not know what the numbers stand for: callers say whether a number is the one.

use crate::paged::{Paged, Pages};
use std::sync::Arc;

/// The maximum number of entries that are in a list only.
const FEW: usize = 16;
/// The number of places in a segment.
const PLACES: usize = 256;
/// The number of entries at which a segment is split.
const FULL: u16 = 208;
/// The maximum number of hash bits that distinguish segments.
const DEPTH_MAX: u32 = 24;
/// How many times as many directory entries as segments there may be. Hashes are spread evenly, so
/// more would be needed only if many were equal.
const SPREAD_MAX: usize = 8;

#[derive(Clone, Debug)]
pub(crate) struct HashIndex {
    /// The number of the first bits of a hash that select the directory entry.
    bits: u32,
    /// The segment of each value of those bits.
    directory: Vec<u32>,
    segments: Vec<Segment>,
    places: Paged<u64, PLACES>,
    /// All entries while they are few; later those that did not fit, because too many hashes are
    /// equal, which is practically none.
    listed: Arc<Vec<u64>>,
    is_small: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    len: u16,
    /// The number of first bits that all hashes in the segment share.
    depth: u16,
}

/// The entries of a table that are still to be freed.
pub(crate) type EntryPages = Pages<u64, PLACES>;

/// Returns the entry of a hash and a number. No entry is 0, which marks an empty place.
fn entry(hash: u32, number: u32) -> u64 {
    u64::from(hash) << u32::BITS | (u64::from(number) + 1)
}

fn hash_of(entry: u64) -> u32 {
    u32::try_from(entry >> u32::BITS).unwrap_or_default()
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn number_of(entry: u64) -> u32 {
    (entry as u32).wrapping_sub(1)
}

/// The place where the search for a hash begins.
fn home(hash: u32) -> usize {
    hash as usize % PLACES
}

impl Default for HashIndex {
    fn default() -> Self {
        Self {
            bits: 0,
            directory: vec![0],
            segments: vec![Segment::default()],
            places: Paged::default(),
            listed: Arc::default(),
            is_small: true,
        }
    }
}

impl HashIndex {
    /// Returns the position of a hash in the directory.
    #[inline]
    fn position_of(&self, hash: u32) -> usize {
        // Shifting a u32 by all of its bits would overflow.
        let position = u64::from(hash) >> (u32::BITS - self.bits);
        usize::try_from(position).unwrap_or_default()
    }

    #[inline]
    fn segment_of(&self, hash: u32) -> usize {
        self.directory[self.position_of(hash)] as usize
    }

    /// Returns the number with this hash for which `is_it` returns true.
    #[inline]
    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if let Some(page) = self.places.page(self.segment_of(hash)) {
            let mut place = home(hash);
            while page[place] != 0 {
                let found = page[place];
                if hash_of(found) == hash && is_it(number_of(found)) {
                    return Some(number_of(found));
                }
                place = (place + 1) % PLACES;
            }
        }
        if self.listed.is_empty() {
            return None;
        }
        self.find_listed(hash, is_it)
    }

    #[cold]
    fn find_listed(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let listed = self.listed.iter().filter(|it| hash_of(**it) == hash);
        let mut listed = listed.map(|it| number_of(*it));
        listed.find(|it| is_it(*it))
    }

    /// Adds an entry that is not in the table.
    pub(crate) fn insert(&mut self, hash: u32, number: u32) {
        if self.is_small {
            if self.listed.len() < FEW {
                Arc::make_mut(&mut self.listed).push(entry(hash, number));
                return;
            }
            self.is_small = false;
            for few in std::mem::take(&mut self.listed).iter() {
                self.insert(hash_of(*few), number_of(*few));
            }
        }
        while self.segments[self.segment_of(hash)].len == FULL {
            if !self.split(hash) {
                Arc::make_mut(&mut self.listed).push(entry(hash, number));
                return;
            }
        }
        let segment = self.segment_of(hash);
        self.segments[segment].len += 1;
        put(self.places.page_mut(segment), entry(hash, number));
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, hash: u32, number: u32) {
        let gone = entry(hash, number);
        let segment = self.segment_of(hash);
        let page = self.places.page(segment);
        let found = page.and_then(|page| {
            let places = (0..PLACES).map(|step| (home(hash) + step) % PLACES);
            let mut chain = places.take_while(|place| page[*place] != 0);
            chain.find(|place| page[*place] == gone)
        });
        if let Some(place) = found {
            self.segments[segment].len -= 1;
            close(self.places.page_mut(segment), place);
        } else if self.listed.contains(&gone) {
            Arc::make_mut(&mut self.listed).retain(|it| *it != gone);
        }
    }

    pub(crate) fn into_pages(self) -> EntryPages {
        self.places.into_pages()
    }

    /// Distributes the entries of a hash's segment to it and a new one, by one more bit of their
    /// hashes; returns false if that is of no use.
    fn split(&mut self, hash: u32) -> bool {
        let segment = self.segment_of(hash);
        let depth = u32::from(self.segments[segment].depth);
        if depth == self.bits {
            let is_uneven = self.directory.len() > SPREAD_MAX * self.segments.len();
            if depth == DEPTH_MAX || is_uneven {
                return false;
            }
            self.bits += 1;
            self.directory = self.directory.iter().flat_map(|it| [*it, *it]).collect();
        }
        let (old, new) = (segment_number(segment), segment_number(self.segments.len()));
        let bit = 1 << (u32::BITS - 1 - depth);
        // The directory entries of a segment are adjacent; the new one gets the latter half.
        let count = 1 << (self.bits - depth);
        let first = self.position_of(hash) / count * count;
        self.directory[first + count / 2..first + count].fill(new);
        let depth = self.segments[segment].depth + 1;
        self.segments[segment] = Segment { len: 0, depth };
        self.segments.push(Segment { len: 0, depth });
        let all = std::mem::replace(self.places.page_mut(segment), [0; PLACES]);
        for moved in all.into_iter().filter(|it| *it != 0) {
            let is_upper = hash_of(moved) & bit != 0;
            let to = if is_upper { new } else { old } as usize;
            self.segments[to].len += 1;
            put(self.places.page_mut(to), moved);
        }
        true
    }
}

fn segment_number(segment: usize) -> u32 {
    u32::try_from(segment).unwrap_or(u32::MAX)
}

/// Writes an entry into the next empty place; there is one, because a segment is split early.
fn put(page: &mut [u64; PLACES], entry: u64) {
    let mut place = home(hash_of(entry));
    while page[place] != 0 {
        place = (place + 1) % PLACES;
    }
    page[place] = entry;
}

/// Empties a place, and moves the entries after it that could not be found otherwise.
fn close(page: &mut [u64; PLACES], mut empty: usize) {
    let mut place = empty;
    loop {
        place = (place + 1) % PLACES;
        let moved = page[place];
        if moved == 0 {
            break;
        }
        let distance = |from: usize| (place + PLACES - from) % PLACES;
        if distance(home(hash_of(moved))) >= distance(empty) {
            page[empty] = moved;
            empty = place;
        }
    }
    page[empty] = 0;
}

#[cfg(test)]
mod tests;
