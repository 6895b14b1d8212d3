//! Requests to an engine, and its responses.

use crate::{KeyRange, KeyValue, LeaseId, Revision};
use bytes::Bytes;
use std::sync::Arc;

/// The answer to [`KvRead::get`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetResponse {
    /// The version that the key had; `None` if it did not exist.
    pub kv: Option<Arc<KeyValue>>,
    /// Where the store stands, not the revision asked for.
    pub revision: Revision,
}

/// What [`KvRead::range`] shall read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeRequest {
    /// The keys.
    pub range: KeyRange,
    /// The revision to read at; `None` for the head.
    pub at: Option<Revision>,
    /// At most so many; `None` for all. Zero asks for the count alone.
    pub limit: Option<usize>,
}

impl RangeRequest {
    /// All of `range`, at the head.
    pub fn new(range: KeyRange) -> Self {
        Self {
            range,
            at: None,
            limit: None,
        }
    }

    /// The same at an earlier revision.
    pub fn at(mut self, revision: Revision) -> Self {
        self.at = Some(revision);
        self
    }

    /// The same with at most `limit` results.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The answer to [`KvRead::range`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeResponse {
    /// The versions found, in byte order of their keys.
    pub kvs: Vec<Arc<KeyValue>>,
    /// How many keys the range holds, whatever the limit.
    pub count: usize,
    /// Whether the limit cut the result.
    pub more: bool,
    /// Where the store stands, not the revision asked for. A read at the head reads this one.
    pub revision: Revision,
}

/// What must be true of a key for a write to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every engine must decide on each")]
pub enum Expected {
    /// Whatever is there.
    Any,
    /// The key does not exist.
    Absent,
    /// The key's newest version was written by this revision. Zero is the same as `Absent`.
    Revision(Revision),
}

impl Expected {
    /// Whether the condition holds for a key with this newest version.
    pub fn holds(self, current: Option<&KeyValue>) -> bool {
        let revision = current.map_or(Revision::ZERO, |kv| kv.mod_revision);
        match self {
            Self::Any => true,
            Self::Absent => revision == Revision::ZERO,
            Self::Revision(expected) => revision == expected,
        }
    }
}

/// A key that a write was judged by, beside the one that it writes: the write happens only while
/// it is still the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a comparison has no other parts")]
pub struct Guard {
    /// The key, not empty.
    pub key: Bytes,
    /// What wrote its newest version; zero if it must not exist.
    pub revision: Revision,
}

/// What [`KvWrite::put`] shall write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutRequest {
    /// The key, not empty.
    pub key: Bytes,
    /// The value. An engine in memory keeps these very bytes: a slice of a larger buffer pins
    /// that buffer.
    pub value: Bytes,
    /// When to write.
    pub expected: Expected,
    /// The lease to put the key under; `None` takes it from under the one it had.
    pub lease: Option<LeaseId>,
    /// Whether a conflict must carry the current version. An engine for which that costs
    /// nothing gives it anyway.
    pub read_on_conflict: bool,
    /// Other keys that must be the same as when the write was judged. If one is not, the write is
    /// a conflict although `expected` holds of the current version. A few at most.
    pub guards: Vec<Guard>,
}

impl PutRequest {
    /// Writes `value` if the key is as expected, and reads the current version if not.
    pub fn new(key: impl Into<Bytes>, value: impl Into<Bytes>, expected: Expected) -> Self {
        let (key, value) = (key.into(), value.into());
        Self {
            key,
            value,
            expected,
            lease: None,
            read_on_conflict: true,
            guards: Vec::new(),
        }
    }

    /// The same, only while other keys are the same.
    pub fn guards(mut self, guards: Vec<Guard>) -> Self {
        self.guards = guards;
        self
    }

    /// The same under a lease.
    pub fn lease(mut self, lease: LeaseId) -> Self {
        self.lease = Some(lease);
        self
    }
}

/// What [`KvWrite::delete`] shall remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRequest {
    /// The key, not empty.
    pub key: Bytes,
    /// When to remove it. `Absent` never can be.
    pub expected: Expected,
    /// As in [`PutRequest::read_on_conflict`].
    pub read_on_conflict: bool,
}

impl DeleteRequest {
    /// Removes the key if it is as expected, and reads the current version if not.
    pub fn new(key: impl Into<Bytes>, expected: Expected) -> Self {
        Self {
            key: key.into(),
            expected,
            read_on_conflict: true,
        }
    }
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a compare-and-set has two ends")]
pub enum WriteOutcome {
    /// It happened.
    Committed {
        /// The write's revision: the new version's, or the delete's own.
        revision: Revision,
    },
    /// The key or a guard was not as expected; nothing was written.
    Conflict {
        /// Where the store stands.
        revision: Revision,
        /// The key's newest version; `None` if it does not exist, or was not asked for.
        current: Option<Arc<KeyValue>>,
    },
}

impl WriteOutcome {
    /// The write's revision; `None` if it did not happen.
    pub fn committed(&self) -> Option<Revision> {
        match self {
            Self::Committed { revision } => Some(*revision),
            Self::Conflict { .. } => None,
        }
    }
}

/// What [`KvWatch::watch`] shall follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRangeRequest {
    /// The keys.
    pub range: KeyRange,
    /// The first revision to deliver (inclusive); `None` for whatever comes after the call. May
    /// lie in the future.
    pub from: Option<Revision>,
    /// Whether events must carry the version that they replaced.
    pub previous: bool,
    /// Whether the engine shall send progress notices unasked, at its own interval.
    pub progress: bool,
}

impl WatchRangeRequest {
    /// Follows `range` from now on, without previous versions and unasked progress.
    pub fn new(range: KeyRange) -> Self {
        Self {
            range,
            from: None,
            previous: false,
            progress: false,
        }
    }

    /// The same from a revision on (inclusive).
    pub fn from(mut self, revision: Revision) -> Self {
        self.from = Some(revision);
        self
    }

    /// The same with previous versions.
    pub fn previous(mut self) -> Self {
        self.previous = true;
        self
    }

    /// The same with progress notices at the engine's interval.
    pub fn progress(mut self) -> Self {
        self.progress = true;
        self
    }
}
