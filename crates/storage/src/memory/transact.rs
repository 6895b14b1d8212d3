//! Transactions and the leases of clients, in the state that changes atomically.
//!
//! A transaction is judged as a whole before its first write, so none is done in part.

use super::state::{Effects, State};
use crate::{
    KeyRange, KeyValue, LeaseError, LeaseId, LeaseStatus, Operation, OperationResult, Performed,
    PutLease,
};
use crate::{Transaction, TransactionOutcome, WriteError};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of keys that a transaction deletes: readers and writers wait for that.
const DELETED_KEYS_MAX: usize = 100_000;
/// The highest lease id that a client may choose.
const LEASE_ID_MAX: LeaseId = LeaseId(1 << 62);

impl State {
    pub(crate) fn transact(
        &mut self,
        transaction: &Transaction,
        effects: &mut Effects,
    ) -> Result<TransactionOutcome, WriteError> {
        if self.closed {
            return Err(WriteError::Closed);
        }
        let mut compare = transaction.compare.iter();
        let held = compare.all(|it| it.holds(self.versions.current(&it.key).map(|kv| &**kv)));
        let operations = if held {
            &transaction.success
        } else {
            &transaction.failure
        };
        self.judge(operations)?;
        let results = operations.iter().map(|it| {
            let result = self.perform(it, effects);
            Performed {
                revision: self.versions.revision(),
                result,
            }
        });
        let results = results.collect();
        Ok(TransactionOutcome {
            held,
            revision: self.versions.revision(),
            results,
        })
    }

    pub(crate) fn grant_as(
        &mut self,
        lease: LeaseId,
        (now, ttl): (Duration, Duration),
        effects: &mut Effects,
    ) -> Result<(), LeaseError> {
        self.judge_ttl(ttl)?;
        if lease.0 <= 0 || lease > LEASE_ID_MAX {
            return Err(LeaseError::IdOutOfRange {
                lease,
                id_max: LEASE_ID_MAX,
            });
        }
        if self.leases.exists(lease) {
            return Err(LeaseError::Exists { lease });
        }
        self.leases.grant_as(lease, now, ttl);
        if let Some(batch) = &mut effects.batch {
            batch.granted.push((lease, ttl));
        }
        Ok(())
    }

    pub(crate) fn keep_alive(
        &mut self,
        now: Duration,
        lease: LeaseId,
    ) -> Result<Duration, LeaseError> {
        self.open()?;
        let kept = self.leases.keep_alive(lease, now);
        kept.ok_or(LeaseError::NotFound { lease })
    }

    pub(crate) fn lease(&self, now: Duration, lease: LeaseId) -> Result<LeaseStatus, LeaseError> {
        self.open()?;
        let status = self.leases.status(lease, now);
        status.ok_or(LeaseError::NotFound { lease })
    }

    pub(crate) fn lease_ids(&self) -> Result<Vec<LeaseId>, LeaseError> {
        self.open()?;
        Ok(self.leases.ids())
    }

    fn open(&self) -> Result<(), LeaseError> {
        if self.closed {
            return Err(LeaseError::Closed);
        }
        Ok(())
    }

    /// Checks that all of the operations can be done.
    fn judge(&self, operations: &[Operation]) -> Result<(), WriteError> {
        let (mut added, mut deleted) = (0, 0);
        for operation in operations {
            match operation {
                Operation::Read => {}
                Operation::Put { key, value, lease } => {
                    added += self.judge_put(key, value.as_ref(), *lease)?;
                }
                Operation::Delete(range) => deleted += self.versions.head().count(range),
            }
        }
        if deleted > DELETED_KEYS_MAX {
            return Err(WriteError::TooManyKeys {
                keys: deleted,
                keys_max: DELETED_KEYS_MAX,
            });
        }
        self.check_added(added)
    }

    /// Returns the bytes that a put adds.
    fn judge_put(
        &self,
        key: &[u8],
        value: Option<&Bytes>,
        lease: PutLease,
    ) -> Result<usize, WriteError> {
        self.admit(key, value.map_or(0, Bytes::len))?;
        if let PutLease::Set(Some(lease)) = lease
            && !self.leases.is_alive(lease)
        {
            return Err(WriteError::LeaseNotFound { lease });
        }
        let keeps = value.is_none() || lease == PutLease::Keep;
        if keeps && self.versions.current(key).is_none() {
            return Err(WriteError::KeyNotFound);
        }
        Ok(value.map_or(0, |value| self.added(key, value.len())))
    }

    fn perform(&mut self, operation: &Operation, effects: &mut Effects) -> OperationResult {
        match operation {
            Operation::Read => OperationResult::Read(self.versions.head().clone()),
            Operation::Put { key, value, lease } => {
                let previous = self.versions.current(key).cloned();
                let kept = previous.as_ref();
                let value = value.clone().or_else(|| kept.map(|kv| kv.value.clone()));
                let lease = match lease {
                    PutLease::Keep => kept.and_then(|kv| kv.lease),
                    PutLease::Set(lease) => *lease,
                };
                let commit = self.versions.put(key, value.unwrap_or_default(), lease);
                self.committed(commit, lease, effects);
                OperationResult::Put { previous }
            }
            Operation::Delete(range) => OperationResult::Deleted(self.delete_all(range, effects)),
        }
    }

    fn delete_all(&mut self, range: &KeyRange, effects: &mut Effects) -> Vec<Arc<KeyValue>> {
        let deleted: Vec<_> = self.versions.head().range(range).cloned().collect();
        for kv in &deleted {
            if let Some(commit) = self.versions.delete(&kv.key) {
                self.committed(commit, None, effects);
            }
        }
        deleted
    }
}
