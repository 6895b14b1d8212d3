//! Brings back what a journal has stored, and checks that it is a history.
//!
//! Reads no file: a journal hands over versions in order of their revision. From the compacted
//! revision on there is one for each revision; before it, only those that nothing has replaced
//! until then.

use crate::memory::{Config, Leases, Versions};
use crate::{Event, EventKind, KeyRange, KeyValue, LeaseId, Revision};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;

/// A store that is being read back.
#[derive(Debug)]
pub struct Replay {
    config: Config,
    versions: Versions,
    leases: RestoredLeases,
    /// The version handed over last.
    last: Revision,
}

/// What was read back, ready for [`JournaledKv`](super::JournaledKv).
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

/// Why what was read back is no history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A version is not where it belongs: something is missing, or comes twice.
    #[error("revision {found} is stored where {expected} has to be")]
    OutOfOrder {
        /// What was found.
        found: Revision,
        /// What comes next in a history, or the lowest that can.
        expected: Revision,
    },
    /// The newest version is not the one that the journal says it stored last.
    #[error("history ends at revision {found}, and not at {expected}")]
    WrongEnd {
        /// Where it ends.
        found: Revision,
        /// Where it has to.
        expected: Revision,
    },
    /// A version does not go with those of its key before it.
    #[error("revision {revision} does not follow from what is stored before it")]
    Contradiction {
        /// The version.
        revision: Revision,
    },
    /// A lease that was never granted.
    #[error("lease {lease} is stored, which was never granted")]
    UnknownLease {
        /// The lease.
        lease: LeaseId,
    },
}

impl Replay {
    /// Begins to read back a store that can be read from `compacted` on; zero if nothing was
    /// compacted. `leases_granted` is the highest number of a lease so far.
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

    /// Hands over the version that a put has made.
    ///
    /// # Errors
    /// It does not go on from the version handed over before.
    pub fn put(&mut self, kv: KeyValue) -> Result<(), ReplayError> {
        let revision = kv.mod_revision;
        let contradiction = ReplayError::Contradiction { revision };
        if kv.key.is_empty() || kv.create_revision > revision {
            return Err(contradiction);
        }
        let previous = self.versions.current(&kv.key).cloned();
        let kv = Arc::new(KeyValue {
            // All versions of a key share one buffer.
            key: previous.as_ref().map_or(kv.key, |it| it.key.clone()),
            ..kv
        });
        if !self.next(revision)? {
            self.versions.keep(kv);
            return if previous.is_none() {
                Ok(())
            } else {
                Err(contradiction)
            };
        }
        let created = previous.as_ref().map_or(revision, |it| it.create_revision);
        if kv.create_revision != created {
            return Err(contradiction);
        }
        let (key, kind) = (kv.key.clone(), EventKind::Put(kv));
        self.remember(revision, key, kind, previous);
        Ok(())
    }

    /// Hands over that a key was deleted.
    ///
    /// # Errors
    /// It does not go on from the version handed over before.
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

    /// Hands over a lease that has not ended. It gets all of its time to live anew: how long
    /// nobody was there to count is not known. So does etcd.
    ///
    /// # Errors
    /// It is not among the leases that were granted.
    pub fn lease(&mut self, lease: LeaseId, ttl: Duration) -> Result<(), ReplayError> {
        if lease.0 <= 0 || lease.0 > self.leases.granted {
            return Err(ReplayError::UnknownLease { lease });
        }
        self.leases.alive.push((lease, ttl));
        Ok(())
    }

    /// Ends at the revision that the journal stored last; 1 for a store never written to.
    ///
    /// # Errors
    /// History does not end there.
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

    /// Whether a revision, which has to come after the one before, is part of history.
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
    /// Where the store stands.
    pub fn revision(&self) -> Revision {
        self.versions.revision()
    }

    /// The oldest readable revision; zero if nothing was compacted.
    pub fn compacted(&self) -> Revision {
        self.versions.compacted()
    }

    /// Keys that exist.
    pub fn keys(&self) -> usize {
        self.versions.keys()
    }

    /// Events in history.
    pub fn history_events(&self) -> usize {
        self.versions.log().len()
    }

    /// Leases that have not ended.
    pub fn leases(&self) -> usize {
        self.leases.alive.len()
    }
}

impl RestoredLeases {
    /// The leases with the keys under them.
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
