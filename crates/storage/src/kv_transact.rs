//! [`KvTransact`] and [`KvLeases`]: what etcd's own API offers beyond [`Kv`](crate::Kv).
//!
//! The engines in this process implement them, for a server that other programs use as an etcd. The
//! API server needs neither, so an engine on a remote cluster has neither.

use crate::WriteError;
use crate::{KvFuture, LeaseError, LeaseId, LeaseStatus, Transaction, TransactionOutcome};
use std::fmt;
use std::time::Duration;

/// Transactions over several keys.
pub trait KvTransact: fmt::Debug + Send + Sync + 'static {
    /// Evaluates the comparisons, and does what depends on them, with nothing in between.
    ///
    /// The whole transaction becomes durable and visible together. Reads and watches may see the
    /// revisions inside it.
    ///
    /// # Errors
    /// An operation cannot be done; then none was.
    fn transact(
        &self,
        transaction: Transaction,
    ) -> KvFuture<'_, Result<TransactionOutcome, WriteError>>;
}

/// Leases that clients choose, keep alive and look at.
pub trait KvLeases: fmt::Debug + Send + Sync + 'static {
    /// Grants a lease with this id, which must be positive and at most 2^62.
    fn grant_as(&self, lease: LeaseId, ttl: Duration) -> KvFuture<'_, Result<(), LeaseError>>;

    /// Starts the lifetime of a lease anew, and returns it.
    fn keep_alive(&self, lease: LeaseId) -> KvFuture<'_, Result<Duration, LeaseError>>;

    /// Describes a lease.
    fn lease(&self, lease: LeaseId) -> KvFuture<'_, Result<LeaseStatus, LeaseError>>;

    /// Returns all active leases, in order of their ids.
    fn leases(&self) -> KvFuture<'_, Result<Vec<LeaseId>, LeaseError>>;
}
