//! `Deltas`: what happened to one object since it was last popped, oldest first.
//!
//! Never empty, and all of one name. Not a history: two deletions in a row are one, and past
//! [`DELTAS_MAX`] the oldest go.
//!
//! Source of the merging rule: client-go `tools/cache/delta_fifo.go`, `dedupDeltas`.

use crate::{Deleted, Delta};
use kubist_apimachinery::{Object, ObjectName};
use std::collections::{VecDeque, vec_deque};
use std::fmt;
use std::iter::{Chain, Once, once};

/// Deltas kept for one object, at most; ours, upstream has no bound. The newest alone says what
/// the object has become, so that a consumer who is this far behind still ends with the truth.
pub const DELTAS_MAX: usize = 1000;

/// The deltas of one object, at least one.
pub struct Deltas<K> {
    name: ObjectName,
    older: VecDeque<Delta<K>>,
    newest: Delta<K>,
}

impl<K: Object> Deltas<K> {
    pub(crate) fn new(name: ObjectName, delta: Delta<K>) -> Self {
        Self {
            name,
            older: VecDeque::new(),
            newest: delta,
        }
    }

    /// Appends a delta of the same object; whether an older one had to go for it.
    pub(crate) fn push(&mut self, delta: Delta<K>) -> bool {
        if let (Delta::Deleted(before), Delta::Deleted(_)) = (&self.newest, &delta) {
            // The one that was seen is worth more; between two that were, the earlier.
            if matches!(before, Deleted::FinalStateUnknown { .. }) {
                self.newest = delta;
            }
            return false;
        }
        let unreadable = |it: &Delta<K>| matches!(it, Delta::Unreadable { .. });
        if unreadable(&self.newest) && unreadable(&delta) {
            self.newest = delta;
            return false;
        }
        let overflows = self.len() == DELTAS_MAX;
        if overflows {
            self.older.pop_front();
        }
        self.older
            .push_back(std::mem::replace(&mut self.newest, delta));
        overflows
    }

    /// The name of the object.
    pub fn object_name(&self) -> &ObjectName {
        &self.name
    }

    /// What happened first.
    pub fn oldest(&self) -> &Delta<K> {
        self.older.front().unwrap_or(&self.newest)
    }

    /// What happened last.
    pub fn newest(&self) -> &Delta<K> {
        &self.newest
    }

    /// The number of deltas, from 1 to [`DELTAS_MAX`].
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.older.len() + 1
    }

    /// The deltas, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Delta<K>> {
        self.older.iter().chain(once(&self.newest))
    }
}

impl<K> IntoIterator for Deltas<K> {
    type Item = Delta<K>;
    type IntoIter = Chain<vec_deque::IntoIter<Delta<K>>, Once<Delta<K>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.older.into_iter().chain(once(self.newest))
    }
}

impl<K: Object> fmt::Debug for Deltas<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
