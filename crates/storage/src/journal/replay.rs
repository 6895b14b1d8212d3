//! `Replay`: restores a store from its journal, and validates the history.
//!
//! It does no I/O: a journal passes versions in order of revision. From the compacted revision on
//! there must be one for each revision; before it, only those not replaced by then.

use crate::memory::{Config, Leases, Versions};
use crate::{Event, EventKind, KeyRange, KeyValue, LeaseId, Revision};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;

/// A store that is being restored.
#[derive(Debug)]
pub struct Replay {
    config: Config,
    versions: Versions,
    leases: RestoredLeases,
    /// The last version passed.
    last: Revision,
}

/// The restored state, ready for [`JournaledKv`](super::JournaledKv).
#[derive(Debug)]
pub struct Replayed {
    pub(super) config: Config,
    pub(super) versions: Versions,
    pub(super) leases: RestoredLeases,
}

#[derive(Debug)]
pub(super) struct RestoredLeases {
    granted: i64,
    alive: Vec<(LeaseId, Duration)>,
}

/// Why the stored versions are not a valid history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A version is out of order: one is missing or duplicated.
    #[error("found revision {found} where {expected} was expected")]
    OutOfOrder {
        /// The revision found.
        found: Revision,
        /// The revision expected, or the lowest possible one.
        expected: Revision,
    },
    /// The newest version is not the last one that the journal reports.
    #[error("history ends at revision {found}, not at {expected}")]
    WrongEnd {
        /// The newest revision found.
        found: Revision,
        /// The last revision reported.
        expected: Revision,
    },
    /// A version contradicts earlier versions of its key.
    #[error("revision {revision} contradicts earlier revisions")]
    Contradiction {
        /// Its revision.
        revision: Revision,
    },
    /// A lease that was never granted.
    #[error("lease {lease} is stored but was never granted")]
    UnknownLease {
        /// The lease.
        lease: LeaseId,
    },
}

impl Replay {
    /// Begins to restore a store that is readable from `compacted` on; zero if nothing was
    /// compacted. `leases_granted` is the highest lease id so far.
    pub fn new(config: Config, compacted: Revision, leases_granted: i64) -> Self {
        let versions = Versions::compacted_at(&config, compacted);
        let leases = RestoredLeases {
            granted: leases_granted,
            alive: Vec::new(),
        };
        Self {
            config,
            versions,
            leases,
            last: Revision::EMPTY_STORE,
        }
    }

    /// Adds the version that a put wrote.
    ///
    /// # Errors
    /// It does not continue the previous version.
    pub fn put(&mut self, kv: KeyValue) -> Result<(), ReplayError> {
        let revision = kv.mod_revision;
        let contradiction = ReplayError::Contradiction { revision };
        if kv.key.is_empty() || kv.create_revision > revision {
            return Err(contradiction);
        }
        if !self.next(revision)? {
            // Most of a large store, so it is looked up once.
            return match self.versions.keep(Arc::new(kv)) {
                None => Ok(()),
                Some(_) => Err(contradiction),
            };
        }
        let previous = self.versions.current(&kv.key).cloned();
        let kv = Arc::new(KeyValue {
            // All versions of a key share one buffer.
            key: previous.as_ref().map_or(kv.key, |it| it.key.clone()),
            ..kv
        });
        let created = previous.as_ref().map_or(revision, |it| it.create_revision);
        if kv.create_revision != created {
            return Err(contradiction);
        }
        let (key, kind) = (kv.key.clone(), EventKind::Put(kv));
        self.remember(revision, key, kind, previous);
        Ok(())
    }

    /// Adds a delete.
    ///
    /// # Errors
    /// It does not continue the previous version.
    pub fn delete(&mut self, revision: Revision, key: &[u8]) -> Result<(), ReplayError> {
        let in_history = self.next(revision)?;
        match self.versions.current(key).cloned() {
            Some(previous) if in_history => {
                let key = previous.key.clone();
                self.remember(revision, key, EventKind::Delete, Some(previous));
                Ok(())
            }
            _ => Err(ReplayError::Contradiction { revision }),
        }
    }

    /// Adds an active lease. It gets its full lifetime again, as in etcd: how long the store was
    /// down is unknown.
    ///
    /// # Errors
    /// It was never granted.
    pub fn lease(&mut self, lease: LeaseId, ttl: Duration) -> Result<(), ReplayError> {
        if lease.0 <= 0 || lease.0 > self.leases.granted {
            return Err(ReplayError::UnknownLease { lease });
        }
        self.leases.alive.push((lease, ttl));
        Ok(())
    }

    /// Ends the replay at the last revision of the journal; 1 for a store that was never written
    /// to.
    ///
    /// # Errors
    /// The history does not end there.
    pub fn finish(self, revision: Revision) -> Result<Replayed, ReplayError> {
        let found = self.versions.revision();
        if found != revision {
            let expected = revision;
            return Err(ReplayError::WrongEnd { found, expected });
        }
        Ok(Replayed {
            config: self.config,
            versions: self.versions,
            leases: self.leases,
        })
    }

    /// Validates the next revision, and reports whether it is part of the history.
    fn next(&mut self, found: Revision) -> Result<bool, ReplayError> {
        let first = self.versions.revision().next();
        let in_history = found >= first;
        let expected = if in_history { first } else { self.last.next() };
        if found < expected || (in_history && found != expected) {
            return Err(ReplayError::OutOfOrder { found, expected });
        }
        self.last = found;
        Ok(in_history)
    }

    fn remember(
        &mut self,
        revision: Revision,
        key: Bytes,
        kind: EventKind,
        previous: Option<Arc<KeyValue>>,
    ) {
        self.versions.apply(&Arc::new(Event {
            revision,
            key,
            kind,
            previous,
        }));
    }
}

impl Replayed {
    /// Returns the current revision.
    pub fn revision(&self) -> Revision {
        self.versions.revision()
    }

    /// Returns the oldest readable revision; zero if nothing was compacted.
    pub fn compacted(&self) -> Revision {
        self.versions.compacted()
    }

    /// Returns the number of keys.
    pub fn keys(&self) -> usize {
        self.versions.keys()
    }

    /// Returns the number of events in history.
    pub fn history_events(&self) -> usize {
        self.versions.log().len()
    }

    /// Returns the number of active leases.
    pub fn leases(&self) -> usize {
        self.leases.alive.len()
    }
}

impl RestoredLeases {
    /// Returns the leases with their keys.
    pub(super) fn restored(self, versions: &Versions, now: Duration) -> Leases {
        let mut leases = Leases::after(self.granted);
        for (lease, ttl) in self.alive {
            leases.restore(lease, ttl, now);
        }
        for kv in versions.head().range(&KeyRange::all()) {
            if let Some(lease) = kv.lease {
                leases.restore_key(lease, &kv.key);
            }
        }
        leases
    }
}
