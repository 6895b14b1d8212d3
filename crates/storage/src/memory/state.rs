//! The state that changes atomically: versions, leases, and the topics to notify.
//!
//! It has no lock and no clock. A change returns `Effects`, to be applied once the caller holds no
//! lock.

use super::Config;
use super::data_limit::DataLimit;
use super::leases::Leases;
use super::timeline::Timeline;
use super::topics::Topics;
use super::tree::Tree;
use super::versions::{Commit, Versions, weight_of};
use crate::batch::Batch;
use crate::{CompactError, DeleteRequest, Event, Expected, Guard, LeaseError, LeaseId, PutRequest};
use crate::{Revision, WriteError, WriteOutcome};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// Maximum number of keys that expire before the lock is released.
const EXPIRED_KEYS_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) versions: Versions,
    pub(crate) leases: Leases,
    pub(crate) topics: Topics,
    pub(crate) closed: bool,
    timeline: Timeline,
    /// History below it is too old.
    aged: Revision,
    request_bytes_max: usize,
    /// Checked when writes are evaluated.
    pub(crate) limit: Arc<DataLimit>,
    lease_ttl_max: Duration,
}

/// The effects of a change: whom to wake, what to drop, and what to make durable.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) wakers: Vec<Waker>,
    pub(crate) dropped: Vec<Arc<Event>>,
    /// To be dropped in small steps: each may have many nodes of its own.
    pub(crate) retired: Vec<Tree>,
    /// Filled only for a journal.
    pub(crate) batch: Option<Box<Batch>>,
}

impl State {
    pub(crate) fn new(config: &Config) -> Self {
        Self::restored(Versions::new(config), Leases::default(), config)
    }

    /// Restores a store, without watches.
    pub(crate) fn restored(versions: Versions, leases: Leases, config: &Config) -> Self {
        Self {
            versions,
            leases,
            topics: Topics::default(),
            closed: false,
            timeline: Timeline::new(config.history_age),
            aged: Revision::ZERO,
            request_bytes_max: config.request_bytes_max,
            limit: Arc::new(DataLimit::new(config.data_bytes_max)),
            lease_ttl_max: config.lease_ttl_max,
        }
    }

    /// Returns a copy with the same data and history, without watches.
    pub(crate) fn fork(&mut self) -> Self {
        Self {
            versions: self.versions.fork(),
            leases: self.leases.clone(),
            topics: Topics::default(),
            closed: self.closed,
            timeline: self.timeline.clone(),
            aged: self.aged,
            request_bytes_max: self.request_bytes_max,
            limit: Arc::new(self.limit.anew()),
            lease_ttl_max: self.lease_ttl_max,
        }
    }

    /// Goes back to an earlier revision, which must be readable. A lease that has ended since then
    /// ends again.
    pub(crate) fn rewind(&mut self, revision: Revision) {
        for event in self.versions.rewind(revision) {
            let now = event.current().and_then(|kv| kv.lease);
            let then = event.previous.as_ref().and_then(|kv| kv.lease);
            self.leases.rebind(&event.key, now, None);
            if let Some(lease) = then {
                self.leases.restore_key(lease, &event.key);
            }
        }
    }

    pub(crate) fn put(
        &mut self,
        request: PutRequest,
        effects: &mut Effects,
    ) -> Result<WriteOutcome, WriteError> {
        let PutRequest {
            key,
            value,
            expected,
            lease,
            guards,
            ..
        } = request;
        self.admit(&key, value.len())?;
        if guards.iter().any(|guard| guard.key.is_empty()) {
            return Err(WriteError::EmptyKey);
        }
        if let Some(lease) = lease.filter(|lease| !self.leases.is_alive(*lease)) {
            return Err(WriteError::LeaseNotFound { lease });
        }
        let is_same = |it: &Guard| self.holds(&it.key, Expected::Revision(it.revision));
        if !self.holds(&key, expected) || !guards.iter().all(is_same) {
            return Ok(self.conflict(&key));
        }
        self.check_added(self.added(&key, value.len()))?;
        let commit = self.versions.put(&key, value, lease);
        Ok(self.committed(commit, lease, effects))
    }

    pub(crate) fn delete(
        &mut self,
        request: &DeleteRequest,
        effects: &mut Effects,
    ) -> Result<WriteOutcome, WriteError> {
        self.admit(&request.key, 0)?;
        if !self.holds(&request.key, request.expected) {
            return Ok(self.conflict(&request.key));
        }
        match self.versions.delete(&request.key) {
            Some(commit) => Ok(self.committed(commit, None, effects)),
            None => Ok(self.conflict(&request.key)),
        }
    }

    pub(crate) fn grant(
        &mut self,
        now: Duration,
        ttl: Duration,
        effects: &mut Effects,
    ) -> Result<LeaseId, LeaseError> {
        self.judge_ttl(ttl)?;
        let lease = self.leases.grant(now, ttl);
        if let Some(batch) = &mut effects.batch {
            batch.granted.push((lease, ttl));
        }
        Ok(lease)
    }

    /// Checks that a lease can have this lifetime.
    pub(crate) fn judge_ttl(&self, ttl: Duration) -> Result<(), LeaseError> {
        let ttl_max = self.lease_ttl_max;
        if self.closed {
            return Err(LeaseError::Closed);
        }
        if ttl.is_zero() || ttl > ttl_max {
            return Err(LeaseError::TtlOutOfRange { ttl, ttl_max });
        }
        Ok(())
    }

    /// Ends a lease; `expire` then deletes its keys.
    pub(crate) fn revoke(
        &mut self,
        lease: LeaseId,
        effects: &mut Effects,
    ) -> Result<(), LeaseError> {
        if self.closed {
            return Err(LeaseError::Closed);
        }
        if !self.leases.revoke(lease) {
            return Err(LeaseError::NotFound { lease });
        }
        if let Some(batch) = &mut effects.batch {
            batch.ended.push(lease);
        }
        Ok(())
    }

    /// Deletes some keys of expired leases. False when none are left.
    pub(crate) fn expire(&mut self, now: Duration, effects: &mut Effects) -> bool {
        if self.closed {
            return false;
        }
        let ended = self.leases.end_due(now);
        if let Some(batch) = &mut effects.batch {
            batch.ended.extend(ended);
        }
        let keys = self.leases.orphans(EXPIRED_KEYS_MAX);
        for key in &keys {
            let commit = self.versions.delete(key);
            debug_assert!(commit.is_some(), "a key under a lease exists");
            if let Some(commit) = commit {
                self.committed(commit, None, effects);
            }
        }
        !keys.is_empty()
    }

    /// Discards history below `revision`, at most so many events. Returns whether that is all.
    pub(crate) fn compact(
        &mut self,
        revision: Revision,
        events_max: usize,
        effects: &mut Effects,
    ) -> Result<bool, CompactError> {
        if self.closed {
            return Err(CompactError::Closed);
        }
        let compacted = self.versions.compact(revision, events_max)?;
        for event in &compacted.dropped {
            self.topics.retract(event);
        }
        if let Some(batch) = &mut effects.batch {
            batch.compacted = Some(self.versions.compacted());
            batch.dropped.extend(compacted.dropped.iter().cloned());
        }
        effects.dropped.extend(compacted.dropped);
        effects.retired.extend(compacted.retired);
        Ok(compacted.done)
    }

    /// Applies what another state has decided, except for leases: this one is only read and
    /// watched.
    pub(crate) fn apply(&mut self, batch: &Batch, effects: &mut Effects) {
        if self.closed {
            return;
        }
        for event in &batch.written {
            self.versions.apply(event);
            self.topics.publish(event, &mut effects.wakers);
        }
        let Some(revision) = batch.compacted else {
            return;
        };
        let compacted = self.versions.compact(revision, usize::MAX);
        debug_assert!(compacted.is_ok(), "the other state could compact so far");
        if let Ok(compacted) = compacted {
            effects.dropped.extend(compacted.dropped);
            effects.retired.extend(compacted.retired);
        }
        // Each write discards one event, so few topics are affected.
        if batch.dropped.len() > batch.written.len() {
            self.topics.drop_before(revision);
        } else {
            batch.dropped.iter().for_each(|it| self.topics.retract(it));
        }
    }

    /// Discards history that is too old, at most so many events. Returns whether that is all.
    pub(crate) fn age(&mut self, now: Duration, events_max: usize, effects: &mut Effects) -> bool {
        if let Some(revision) = self.timeline.mark(now, self.versions.revision()) {
            self.aged = revision;
        }
        if self.aged <= self.versions.compacted() {
            return true;
        }
        // Cannot fail: the store has been at that revision and has not compacted it.
        let compacted = self.compact(self.aged, events_max, effects);
        debug_assert!(compacted.is_ok() || self.closed);
        compacted.unwrap_or(true)
    }

    pub(crate) fn close(&mut self, effects: &mut Effects) {
        self.closed = true;
        self.topics.close(&mut effects.wakers);
    }

    pub(crate) fn admit(&self, key: &[u8], value_bytes: usize) -> Result<(), WriteError> {
        let (bytes, bytes_max) = (key.len() + value_bytes, self.request_bytes_max);
        if self.closed {
            return Err(WriteError::Closed);
        }
        if key.is_empty() {
            return Err(WriteError::EmptyKey);
        }
        if bytes > bytes_max {
            return Err(WriteError::TooLarge { bytes, bytes_max });
        }
        Ok(())
    }

    /// Returns the bytes that a value adds. One no larger than what it replaces adds none.
    pub(crate) fn added(&self, key: &[u8], value_bytes: usize) -> usize {
        match self.versions.current(key).map(|kv| kv.value.len()) {
            Some(before) => value_bytes.saturating_sub(before),
            None => weight_of(key.len(), value_bytes),
        }
    }

    /// Checks the size limit for a write that adds so many bytes. One that adds none always fits.
    pub(crate) fn check_added(&self, added: usize) -> Result<(), WriteError> {
        self.limit.check(self.versions.live_bytes(), added)
    }

    fn holds(&self, key: &[u8], expected: Expected) -> bool {
        expected.holds(self.versions.current(key).map(|kv| &**kv))
    }

    fn conflict(&self, key: &[u8]) -> WriteOutcome {
        let current = self.versions.current(key).cloned();
        WriteOutcome::Conflict {
            revision: self.versions.revision(),
            current,
        }
    }

    pub(crate) fn committed(
        &mut self,
        commit: Commit,
        lease: Option<LeaseId>,
        effects: &mut Effects,
    ) -> WriteOutcome {
        let Commit {
            event,
            dropped,
            retired,
        } = commit;
        effects.retired.extend(retired);
        self.limit.note(self.versions.live_bytes());
        let before = event.previous.as_ref().and_then(|kv| kv.lease);
        self.leases.rebind(&event.key, before, lease);
        self.topics.publish(&event, &mut effects.wakers);
        for event in &dropped {
            self.topics.retract(event);
        }
        let revision = event.revision;
        if let Some(batch) = &mut effects.batch {
            if !dropped.is_empty() {
                batch.compacted = Some(self.versions.compacted());
                batch.dropped.extend(dropped.iter().cloned());
            }
            batch.written.push(event);
        }
        effects.dropped.extend(dropped);
        WriteOutcome::Committed { revision }
    }
}
