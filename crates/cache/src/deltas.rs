//! `Deltas`: the changes of one object since it was last popped, oldest first.
//!
//! There is always at least one delta, and all have the same name. It is not a complete history:
//! two consecutive deletions become one, and beyond [`DELTAS_MAX`] the oldest deltas are dropped.
//!
//! The merging rule is that of client-go's `tools/cache/delta_fifo.go`, `dedupDeltas`.

use crate::{Deleted, Delta};
use kubist_apimachinery::{Object, ObjectName};
use std::collections::{VecDeque, vec_deque};
use std::fmt;
use std::iter::{Chain, Once, once};

/// The maximum number of deltas of one object; upstream has no bound. The newest delta alone
/// determines the object's state, so a consumer that is this far behind still ends in the right
/// state.
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

    /// Appends a delta of the same object; reports whether an older one was dropped.
    pub(crate) fn push(&mut self, delta: Delta<K>) -> bool {
        if let (Delta::Deleted(before), Delta::Deleted(_)) = (&self.newest, &delta) {
            // A deletion whose last state was seen is preferred; of two such, the earlier.
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

    /// Returns the object name.
    pub fn object_name(&self) -> &ObjectName {
        &self.name
    }

    /// Returns the oldest delta.
    pub fn oldest(&self) -> &Delta<K> {
        self.older.front().unwrap_or(&self.newest)
    }

    /// Returns the newest delta.
    pub fn newest(&self) -> &Delta<K> {
        &self.newest
    }

    /// Returns the number of deltas, from 1 to [`DELTAS_MAX`].
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.older.len() + 1
    }

    /// Returns the deltas, oldest first.
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
