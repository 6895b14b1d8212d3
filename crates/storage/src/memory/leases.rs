//! Leases and the keys attached to them. It reads no clock: `now` is an argument.

use crate::LeaseId;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    by_id: BTreeMap<LeaseId, Lease>,
    deadlines: BTreeSet<(Duration, LeaseId)>,
    /// Expired leases whose keys are being deleted.
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

    /// Continues the numbering after the leases granted so far.
    pub(crate) fn after(granted: i64) -> Self {
        Self {
            granted,
            ..Self::default()
        }
    }

    /// Restores an active lease with its full lifetime.
    pub(crate) fn restore(&mut self, id: LeaseId, ttl: Duration, now: Duration) {
        let (deadline, keys) = (now.saturating_add(ttl), BTreeSet::new());
        self.by_id.insert(id, Lease { deadline, keys });
        self.deadlines.insert((deadline, id));
    }

    /// Restores that a key is attached to a lease. If the lease had expired, its keys were about to
    /// be deleted, and are deleted now.
    pub(crate) fn restore_key(&mut self, id: LeaseId, key: &Bytes) {
        let lease = self.by_id.entry(id).or_insert_with(|| {
            self.ended.insert(id);
            let (deadline, keys) = (Duration::ZERO, BTreeSet::new());
            Lease { deadline, keys }
        });
        lease.keys.insert(key.clone());
    }

    /// Reports whether the lease is active.
    pub(crate) fn is_alive(&self, id: LeaseId) -> bool {
        self.by_id.contains_key(&id) && !self.ended.contains(&id)
    }

    /// Moves a key from one lease to another.
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

    /// Ends a lease early. False if it is not active.
    pub(crate) fn revoke(&mut self, id: LeaseId) -> bool {
        let alive = self.is_alive(id);
        if let Some(lease) = self.by_id.get(&id) {
            self.deadlines.remove(&(lease.deadline, id));
            self.ended.insert(id);
        }
        alive
    }

    /// Expires due leases and returns them.
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

    /// Returns up to `keys_max` keys of expired leases. Each must then be deleted, which detaches
    /// it; leases without keys are forgotten. Empty when nothing is left.
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
