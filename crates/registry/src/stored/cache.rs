//! `StoredCache`: caches the forms of stored values, so that each version of an object is decoded
//! and encoded at most once while in use.
//!
//! Two generations: entries used since the last turn, and those used before. The memory is bounded
//! by estimate; it is not a watch cache and serves no reads by itself.

use crate::stored::Stored;
use bytes::Bytes;
use hashbrown::{Equivalent, HashMap};
use parking_lot::Mutex;
use std::fmt;

/// One version of one object. Deleted content has an entry of its own at the delete's revision.
type Entry = (Bytes, u64);

/// An entry key for lookups, borrowed.
#[derive(Hash)]
struct Version<'a> {
    key: &'a [u8],
    revision: u64,
}

impl Equivalent<Entry> for Version<'_> {
    fn equivalent(&self, entry: &Entry) -> bool {
        self.revision == entry.1 && *self.key == *entry.0
    }
}

/// The cache of all resources.
pub(crate) struct StoredCache {
    generations: Mutex<Generations>,
    weight_max: usize,
}

#[derive(Default)]
struct Generations {
    young: HashMap<Entry, Stored>,
    old: HashMap<Entry, Stored>,
    young_weight: usize,
}

/// The estimated bytes of all forms of an object per byte of its storage form: decoded, JSON and
/// protobuf together.
const FORMS: usize = 8;
/// The estimated bytes of an entry without its object.
const ENTRY: usize = 256;

impl StoredCache {
    /// Creates a cache of about `weight_max` bytes.
    pub(crate) fn new(weight_max: usize) -> Self {
        Self {
            generations: Mutex::default(),
            weight_max,
        }
    }

    /// Runs `lookups` under the lock: a list makes many.
    pub(crate) fn with<T>(&self, lookups: impl FnOnce(&mut Lookups<'_>) -> T) -> T {
        let mut generations = self.generations.lock();
        lookups(&mut Lookups {
            generations: &mut generations,
            weight_max: self.weight_max / 2,
        })
    }

    /// Reports whether this many versions and bytes fit without evicting all others.
    pub(crate) fn has_room(&self, versions: usize, bytes: usize) -> bool {
        bytes * FORMS + versions * ENTRY <= self.weight_max / 2
    }

    /// Drops entries that were not used since the call before last.
    pub(crate) fn forget_unused(&self) {
        let unused = self.with(|it| {
            it.generations.young_weight = 0;
            let young = std::mem::take(&mut it.generations.young);
            std::mem::replace(&mut it.generations.old, young)
        });
        // Dropped outside the lock, because it may be large.
        drop(unused);
    }

    /// Returns the version of `key` written at `revision`, created if missing.
    pub(crate) fn get(
        &self,
        key: &Bytes,
        revision: u64,
        value_len: usize,
        make: impl FnOnce() -> Stored,
    ) -> Stored {
        self.with(|it| it.get(key, revision, value_len, make))
    }
}

impl fmt::Debug for StoredCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredCache").finish_non_exhaustive()
    }
}

/// The cache, locked.
pub(crate) struct Lookups<'a> {
    generations: &'a mut Generations,
    weight_max: usize,
}

impl Lookups<'_> {
    /// Returns the version of `key` written at `revision`, created if missing.
    pub(crate) fn get(
        &mut self,
        key: &Bytes,
        revision: u64,
        value_len: usize,
        make: impl FnOnce() -> Stored,
    ) -> Stored {
        let version = Version { key, revision };
        if let Some(found) = self.generations.young.get(&version) {
            return found.clone();
        }
        let stored = self.generations.old.remove(&version).unwrap_or_else(make);
        let weight = value_len * FORMS + ENTRY;
        if self.generations.young_weight + weight > self.weight_max {
            self.generations.old = std::mem::take(&mut self.generations.young);
            self.generations.young_weight = 0;
        }
        self.generations.young_weight += weight;
        let entry = (key.clone(), revision);
        self.generations.young.insert(entry, stored.clone());
        stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::scheme::StoredKind;
    use std::cell::Cell;

    fn made(cache: &StoredCache, name: &'static str) -> bool {
        let kind = kubist_api::find_kind("", "v1", "Pod").expect("pods are built in");
        let made = Cell::new(false);
        cache.get(&Bytes::from_static(name.as_bytes()), 1, 0, || {
            made.set(true);
            Stored::from_raw(StoredKind::plain(kind), 1, Bytes::new())
        });
        made.get()
    }

    #[test]
    fn a_version_is_made_once_while_it_is_in_use() {
        let cache = StoredCache::new(4 * ENTRY);
        assert!(made(&cache, "a"));
        for other in ["b", "c", "d", "e"] {
            assert!(made(&cache, other));
            assert!(!made(&cache, "a"));
        }
        assert!(made(&cache, "b"), "it was not used for two generations");
    }

    #[test]
    fn unused_entries_are_dropped() {
        let cache = StoredCache::new(100 * ENTRY);
        assert!(made(&cache, "a") && made(&cache, "b"));
        cache.forget_unused();
        assert!(!made(&cache, "a"));
        cache.forget_unused();
        assert!(!made(&cache, "a"), "it was asked for");
        assert!(made(&cache, "b"), "it was not");
    }

    #[test]
    fn entries_that_would_evict_all_others_are_not_cached() {
        let cache = StoredCache::new(4 * ENTRY);
        assert!(cache.has_room(2, 0) && !cache.has_room(3, 0) && !cache.has_room(1, ENTRY));
    }

    #[test]
    fn the_cache_holds_no_more_than_its_bound() {
        let cache = StoredCache::new(4 * ENTRY);
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            made(&cache, name);
        }
        let held = cache.with(|it| it.generations.young.len() + it.generations.old.len());
        assert!(held <= 4);
    }
}
