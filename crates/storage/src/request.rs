//! Requests to an engine and their responses.

use crate::{KeyRange, KeyValue, LeaseId, Revision};
use bytes::Bytes;
use std::sync::Arc;

/// The response to [`KvRead::get`](crate::KvRead::get).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetResponse {
    /// The version of the key; `None` if it did not exist.
    pub kv: Option<Arc<KeyValue>>,
    /// The current revision of the store, not the requested one.
    pub revision: Revision,
}

/// The request of [`KvRead::range`](crate::KvRead::range).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeRequest {
    /// The keys.
    pub range: KeyRange,
    /// The revision to read at; `None` for the current one.
    pub at: Option<Revision>,
    /// Maximum number of results; `None` for no limit. Zero requests only the count.
    pub limit: Option<usize>,
}

impl RangeRequest {
    /// All of `range`, at the current revision.
    pub fn new(range: KeyRange) -> Self {
        Self {
            range,
            at: None,
            limit: None,
        }
    }

    /// Reads at an earlier revision.
    pub fn at(mut self, revision: Revision) -> Self {
        self.at = Some(revision);
        self
    }

    /// Limits the number of results.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The response to [`KvRead::range`](crate::KvRead::range).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeResponse {
    /// The versions, in byte order of their keys.
    pub kvs: Vec<Arc<KeyValue>>,
    /// Number of keys in the range, regardless of the limit.
    pub count: usize,
    /// Whether the limit truncated the result.
    pub more: bool,
    /// The current revision of the store, not the requested one. A read of the current state reads
    /// this one.
    pub revision: Revision,
}

/// The precondition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every engine must decide on each")]
pub enum Expected {
    /// None.
    Any,
    /// The key does not exist.
    Absent,
    /// The newest version of the key was written at this revision. Zero is the same as `Absent`.
    Revision(Revision),
}

impl Expected {
    /// Reports whether the precondition holds for a key with this newest version.
    pub fn holds(self, current: Option<&KeyValue>) -> bool {
        let revision = current.map_or(Revision::ZERO, |kv| kv.mod_revision);
        match self {
            Self::Any => true,
            Self::Absent => revision == Revision::ZERO,
            Self::Revision(expected) => revision == expected,
        }
    }
}

/// A precondition on another key than the one written: the write happens only while that key is
/// unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a comparison has no other parts")]
pub struct Guard {
    /// The key, not empty.
    pub key: Bytes,
    /// The revision of its newest version; zero if it must not exist.
    pub revision: Revision,
}

/// The request of [`KvWrite::put`](crate::KvWrite::put).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutRequest {
    /// The key, not empty.
    pub key: Bytes,
    /// The value. An in-memory engine keeps this buffer: a slice of a larger one keeps all of it in
    /// memory.
    pub value: Bytes,
    /// The precondition.
    pub expected: Expected,
    /// The lease to attach the key to; `None` detaches it from its previous lease.
    pub lease: Option<LeaseId>,
    /// Whether a conflict must return the current version. Engines that have it at no cost return
    /// it anyway.
    pub read_on_conflict: bool,
    /// Other keys that must be unchanged. If one is not, the result is a conflict even if
    /// `expected` holds. There should be few.
    pub guards: Vec<Guard>,
}

impl PutRequest {
    /// Writes `value` if the precondition holds, and otherwise reads the current version.
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

    /// Adds preconditions on other keys.
    pub fn guards(mut self, guards: Vec<Guard>) -> Self {
        self.guards = guards;
        self
    }

    /// Attaches the key to a lease.
    pub fn lease(mut self, lease: LeaseId) -> Self {
        self.lease = Some(lease);
        self
    }
}

/// The request of [`KvWrite::delete`](crate::KvWrite::delete).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRequest {
    /// The key, not empty.
    pub key: Bytes,
    /// The precondition. `Absent` never holds.
    pub expected: Expected,
    /// See [`PutRequest::read_on_conflict`].
    pub read_on_conflict: bool,
}

impl DeleteRequest {
    /// Deletes the key if the precondition holds, and otherwise reads the current version.
    pub fn new(key: impl Into<Bytes>, expected: Expected) -> Self {
        Self {
            key: key.into(),
            expected,
            read_on_conflict: true,
        }
    }
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a compare-and-set has two ends")]
pub enum WriteOutcome {
    /// The write was committed.
    Committed {
        /// Its revision: that of the new version, or of the delete.
        revision: Revision,
    },
    /// A precondition did not hold; nothing was written.
    Conflict {
        /// The current revision of the store.
        revision: Revision,
        /// The newest version of the key; `None` if it does not exist or was not requested.
        current: Option<Arc<KeyValue>>,
    },
}

impl WriteOutcome {
    /// Returns the revision of the write; `None` if it did not happen.
    pub fn committed(&self) -> Option<Revision> {
        match self {
            Self::Committed { revision } => Some(*revision),
            Self::Conflict { .. } => None,
        }
    }
}

/// The request of [`KvWatch::watch`](crate::KvWatch::watch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRangeRequest {
    /// The keys.
    pub range: KeyRange,
    /// The first revision to deliver (inclusive); `None` for everything after the call. May be in
    /// the future.
    pub from: Option<Revision>,
    /// Whether events must have the version that they replaced.
    pub previous: bool,
    /// Whether the engine should send periodic progress notifications, at its own interval.
    pub progress: bool,
}

impl WatchRangeRequest {
    /// Watches `range` from now on, without previous versions and periodic progress.
    pub fn new(range: KeyRange) -> Self {
        Self {
            range,
            from: None,
            previous: false,
            progress: false,
        }
    }

    /// Watches from a revision on (inclusive).
    pub fn from(mut self, revision: Revision) -> Self {
        self.from = Some(revision);
        self
    }

    /// Requests previous versions.
    pub fn previous(mut self) -> Self {
        self.previous = true;
        self
    }

    /// Requests progress notifications at the engine's interval.
    pub fn progress(mut self) -> Self {
        self.progress = true;
        self
    }
}
