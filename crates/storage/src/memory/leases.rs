//! Leases and the keys attached to them. It reads no clock: `now` is an argument.

use crate::{LeaseId, LeaseStatus};
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
    ttl: Duration,
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
        self.restore(id, ttl, now);
        id
    }

    /// Grants a lease with this id, which must be unused. Ids that are chosen later are above it.
    pub(crate) fn grant_as(&mut self, id: LeaseId, now: Duration, ttl: Duration) {
        self.granted = self.granted.max(id.0);
        self.restore(id, ttl, now);
    }

    /// Reports whether the id is used, be it by a lease that has ended and still has keys.
    pub(crate) fn exists(&self, id: LeaseId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Returns the ids of the active leases.
    pub(crate) fn ids(&self) -> Vec<LeaseId> {
        let ids = self.by_id.keys().copied();
        ids.filter(|id| !self.ended.contains(id)).collect()
    }

    /// Starts the lifetime of an active lease anew, and returns it. `None` if it is not active.
    pub(crate) fn keep_alive(&mut self, id: LeaseId, now: Duration) -> Option<Duration> {
        if !self.is_alive(id) {
            return None;
        }
        let lease = self.by_id.get_mut(&id)?;
        self.deadlines.remove(&(lease.deadline, id));
        lease.deadline = now.saturating_add(lease.ttl);
        self.deadlines.insert((lease.deadline, id));
        Some(lease.ttl)
    }

    /// Describes an active lease.
    pub(crate) fn status(&self, id: LeaseId, now: Duration) -> Option<LeaseStatus> {
        let lease = self.by_id.get(&id).filter(|_| self.is_alive(id))?;
        Some(LeaseStatus {
            ttl: lease.ttl,
            remaining: lease.deadline.saturating_sub(now),
            keys: lease.keys.iter().cloned().collect(),
        })
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
        let lease = Lease {
            ttl,
            deadline: now.saturating_add(ttl),
            keys: BTreeSet::new(),
        };
        let deadline = lease.deadline;
        self.by_id.insert(id, lease);
        self.deadlines.insert((deadline, id));
    }

    /// Restores that a key is attached to a lease. If the lease had expired, its keys were about to
    /// be deleted, and are deleted now.
    pub(crate) fn restore_key(&mut self, id: LeaseId, key: &Bytes) {
        let lease = self.by_id.entry(id).or_insert_with(|| {
            self.ended.insert(id);
            Lease {
                ttl: Duration::ZERO,
                deadline: Duration::ZERO,
                keys: BTreeSet::new(),
            }
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
