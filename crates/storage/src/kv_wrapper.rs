//! `KvWrapper`: an engine around another one, for tests that count, delay or fail the calls between
//! a server and its storage.
//!
//! A call goes to the inner engine unless the wrapper implements that method. The exception is
//! [`KvRead::head`], which is never passed on: what it returns bypasses all other methods.

use crate::memory::Tree;
use crate::{
    CompactError, DeleteRequest, Fault, GetResponse, Kv, KvFuture, LeaseError, LeaseId, PutRequest,
    RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError, WatchRangeRequest,
    WriteError, WriteOutcome,
};
use crate::{KvMaintenance, KvRead, KvWatch, KvWrite};
use std::fmt;
use std::time::Duration;

/// An engine around another one; every implementation is a [`Kv`]. Each method is that of the same
/// name there, and calls the inner engine by default.
pub trait KvWrapper: fmt::Debug + Send + Sync + 'static {
    /// Returns the inner engine.
    fn inner(&self) -> &dyn Kv;

    /// As [`KvRead::get`].
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        self.inner().get(key, at)
    }

    /// As [`KvRead::range`].
    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        self.inner().range(request)
    }

    /// As [`KvWrite::put`].
    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        self.inner().put(request)
    }

    /// As [`KvWrite::delete`].
    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        self.inner().delete(request)
    }

    /// As [`KvWatch::watch`].
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        self.inner().watch(request)
    }

    /// As [`KvRead::revision`].
    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        self.inner().revision()
    }

    /// As [`KvWrite::grant`].
    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        self.inner().grant(ttl)
    }

    /// As [`KvWrite::revoke`].
    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        self.inner().revoke(lease)
    }

    /// As [`KvMaintenance::compact`].
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        self.inner().compact(revision)
    }

    /// As [`KvMaintenance::compacted`].
    fn compacted(&self) -> Revision {
        self.inner().compacted()
    }

    /// As [`KvMaintenance::writable`].
    ///
    /// # Errors
    /// The reason why writes are refused.
    fn writable(&self) -> Result<(), Fault> {
        self.inner().writable()
    }

    /// As [`KvMaintenance::no_space_error`].
    fn no_space_error(&self) -> Option<WriteError> {
        self.inner().no_space_error()
    }

    /// As [`KvWatch::supports_progress_requests`].
    fn supports_progress_requests(&self) -> bool {
        self.inner().supports_progress_requests()
    }

    /// As [`KvMaintenance::size_bytes`].
    fn size_bytes(&self) -> KvFuture<'_, Result<Option<u64>, ReadError>> {
        self.inner().size_bytes()
    }
}

impl<W: KvWrapper> KvRead for W {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        KvWrapper::get(self, key, at)
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvWrapper::range(self, request)
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        KvWrapper::revision(self)
    }

    fn head(&self) -> Option<(Tree, Revision)> {
        None
    }
}

impl<W: KvWrapper> KvWrite for W {
    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvWrapper::put(self, request)
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvWrapper::delete(self, request)
    }

    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        KvWrapper::grant(self, ttl)
    }

    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        KvWrapper::revoke(self, lease)
    }
}

impl<W: KvWrapper> KvWatch for W {
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        KvWrapper::watch(self, request)
    }

    fn supports_progress_requests(&self) -> bool {
        KvWrapper::supports_progress_requests(self)
    }
}

impl<W: KvWrapper> KvMaintenance for W {
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        KvWrapper::compact(self, revision)
    }

    fn compacted(&self) -> Revision {
        KvWrapper::compacted(self)
    }

    fn size_bytes(&self) -> KvFuture<'_, Result<Option<u64>, ReadError>> {
        KvWrapper::size_bytes(self)
    }

    fn writable(&self) -> Result<(), Fault> {
        KvWrapper::writable(self)
    }

    fn no_space_error(&self) -> Option<WriteError> {
        KvWrapper::no_space_error(self)
    }
}
