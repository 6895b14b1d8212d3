//! Transactions and the leases of clients on a journaled store.

use super::engine::JournaledKv;
use super::queue::Request;
use crate::{KvFuture, KvLeases, KvTransact, LeaseError, LeaseId, LeaseStatus};
use crate::{Transaction, TransactionOutcome, WriteError};
use std::time::Duration;

impl KvTransact for JournaledKv {
    fn transact(
        &self,
        transaction: Transaction,
    ) -> KvFuture<'_, Result<TransactionOutcome, WriteError>> {
        KvFuture::boxed(self.ask(|answer| Request::Transact(transaction, answer)))
    }
}

/// A lease that is kept alive lives as long again after a restart, be it never kept alive.
impl KvLeases for JournaledKv {
    fn grant_as(&self, lease: LeaseId, ttl: Duration) -> KvFuture<'_, Result<(), LeaseError>> {
        let now = self.now();
        KvFuture::boxed(self.ask(move |answer| Request::GrantAs {
            now,
            lease,
            ttl,
            answer,
        }))
    }

    fn keep_alive(&self, lease: LeaseId) -> KvFuture<'_, Result<Duration, LeaseError>> {
        let now = self.now();
        KvFuture::boxed(self.ask(move |answer| Request::KeepAlive { now, lease, answer }))
    }

    fn lease(&self, lease: LeaseId) -> KvFuture<'_, Result<LeaseStatus, LeaseError>> {
        let now = self.now();
        KvFuture::boxed(self.ask(move |answer| Request::Lease { now, lease, answer }))
    }

    fn leases(&self) -> KvFuture<'_, Result<Vec<LeaseId>, LeaseError>> {
        KvFuture::boxed(self.ask(|answer| Request::Leases { answer }))
    }
}
