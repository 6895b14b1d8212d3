//! Leases and the keys under them. Knows no clock: `now` is an argument.

use crate::LeaseId;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    by_id: BTreeMap<LeaseId, Lease>,
    deadlines: BTreeSet<(Duration, LeaseId)>,
    /// Leases that are over, and whose keys are being deleted.
    ended: BTreeSet<LeaseId>,
    granted: i64,
}

#[derive(Clone, Debug)]
struct Lease {
    deadline: Duration,
    keys: BTreeSet<Bytes>,
}

impl Leases {
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn grant(&mut self, now: Duration, ttl: Duration) -> LeaseId {
        self.granted += 1;
        let id = LeaseId(self.granted);
        let deadline = now.saturating_add(ttl);
        self.by_id.insert(
            id,
            Lease {
                deadline,
                keys: BTreeSet::new(),
            },
        );
        self.deadlines.insert((deadline, id));
        id
    }

    /// Goes on numbering after the leases that were granted so far.
    pub(crate) fn after(granted: i64) -> Self {
        Self {
            granted,
            ..Self::default()
        }
    }

    /// Brings back a lease that was alive, with all of its time before it.
    pub(crate) fn restore(&mut self, id: LeaseId, ttl: Duration, now: Duration) {
        let (deadline, keys) = (now.saturating_add(ttl), BTreeSet::new());
        self.by_id.insert(id, Lease { deadline, keys });
        self.deadlines.insert((deadline, id));
    }

    /// Brings back that a key is under a lease. One that is not alive had ended, and its keys
    /// were about to be deleted: so they are now.
    pub(crate) fn restore_key(&mut self, id: LeaseId, key: &Bytes) {
        let lease = self.by_id.entry(id).or_insert_with(|| {
            self.ended.insert(id);
            let (deadline, keys) = (Duration::ZERO, BTreeSet::new());
            Lease { deadline, keys }
        });
        lease.keys.insert(key.clone());
    }

    /// Whether keys may be put under the lease.
    pub(crate) fn is_alive(&self, id: LeaseId) -> bool {
        self.by_id.contains_key(&id) && !self.ended.contains(&id)
    }

    /// Moves a key from under one lease to under another.
    pub(crate) fn rebind(&mut self, key: &Bytes, from: Option<LeaseId>, to: Option<LeaseId>) {
        if from == to {
            return;
        }
        if let Some(lease) = from.and_then(|id| self.by_id.get_mut(&id)) {
            lease.keys.remove(key);
        }
        if let Some(lease) = to.and_then(|id| self.by_id.get_mut(&id)) {
            lease.keys.insert(key.clone());
        }
    }

    /// Ends a lease before its time. False if it is not alive.
    pub(crate) fn revoke(&mut self, id: LeaseId) -> bool {
        let alive = self.is_alive(id);
        if let Some(lease) = self.by_id.get(&id) {
            self.deadlines.remove(&(lease.deadline, id));
            self.ended.insert(id);
        }
        alive
    }

    /// Ends the leases whose time is over, and returns them.
    pub(crate) fn end_due(&mut self, now: Duration) -> Vec<LeaseId> {
        let mut ended = Vec::new();
        while let Some(&(deadline, id)) = self.deadlines.first() {
            if deadline > now {
                break;
            }
            self.revoke(id);
            ended.push(id);
        }
        ended
    }

    /// Up to `keys_max` keys whose lease has ended. Each must then be deleted, which takes it
    /// from under its lease; leases without keys are forgotten. Empty when all is done.
    pub(crate) fn orphans(&mut self, keys_max: usize) -> Vec<Bytes> {
        let mut keys = Vec::new();
        while let Some(&id) = self.ended.first() {
            if let Some(lease) = self.by_id.get(&id).filter(|it| !it.keys.is_empty()) {
                keys.extend(lease.keys.iter().take(keys_max).cloned());
                break;
            }
            self.ended.remove(&id);
            self.by_id.remove(&id);
        }
        keys
    }
}
