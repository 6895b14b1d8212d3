//! `Wrap`: an engine around another one, for tests that count the calls between a server and its
//! storage, hold them up, or have them fail.
//!
//! A call goes to the engine below unless the wrapper has a method of its own for it. One is never
//! passed on: what [`Kv::head`] gives out is read past every other method, so it is not given out.

use crate::memory::Tree;
use crate::{
    Answer, CompactError, DeleteRequest, Fault, GetResponse, Kv, LeaseError, LeaseId, PutRequest,
    RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError, WatchRequest, WriteError,
    WriteOutcome,
};
use std::fmt;
use std::time::Duration;

/// An engine around another one; what implements it is a [`Kv`]. Each method is that of the same
/// name there, and by default asks the engine below.
pub trait Wrap: fmt::Debug + Send + Sync + 'static {
    /// The engine below.
    fn below(&self) -> &dyn Kv;

    /// As [`Kv::get`].
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> Answer<'a, Result<GetResponse, ReadError>> {
        self.below().get(key, at)
    }

    /// As [`Kv::range`].
    fn range(&self, request: RangeRequest) -> Answer<'_, Result<RangeResponse, ReadError>> {
        self.below().range(request)
    }

    /// As [`Kv::put`].
    fn put(&self, request: PutRequest) -> Answer<'_, Result<WriteOutcome, WriteError>> {
        self.below().put(request)
    }

    /// As [`Kv::delete`].
    fn delete(&self, request: DeleteRequest) -> Answer<'_, Result<WriteOutcome, WriteError>> {
        self.below().delete(request)
    }

    /// As [`Kv::watch`].
    fn watch(&self, request: WatchRequest) -> Answer<'_, Result<Watch, WatchError>> {
        self.below().watch(request)
    }

    /// As [`Kv::revision`].
    fn revision(&self) -> Answer<'_, Result<Revision, ReadError>> {
        self.below().revision()
    }

    /// As [`Kv::grant`].
    fn grant(&self, ttl: Duration) -> Answer<'_, Result<LeaseId, LeaseError>> {
        self.below().grant(ttl)
    }

    /// As [`Kv::revoke`].
    fn revoke(&self, lease: LeaseId) -> Answer<'_, Result<(), LeaseError>> {
        self.below().revoke(lease)
    }

    /// As [`Kv::compact`].
    fn compact(&self, revision: Revision) -> Answer<'_, Result<(), CompactError>> {
        self.below().compact(revision)
    }

    /// As [`Kv::compacted`].
    fn compacted(&self) -> Revision {
        self.below().compacted()
    }

    /// As [`Kv::writable`].
    ///
    /// # Errors
    /// Why no write is taken.
    fn writable(&self) -> Result<(), Fault> {
        self.below().writable()
    }

    /// As [`Kv::short_of_room`].
    fn short_of_room(&self) -> Option<WriteError> {
        self.below().short_of_room()
    }

    /// As [`Kv::answers_progress`].
    fn answers_progress(&self) -> bool {
        self.below().answers_progress()
    }

    /// As [`Kv::size_bytes`].
    fn size_bytes(&self) -> Answer<'_, Result<Option<u64>, ReadError>> {
        self.below().size_bytes()
    }
}

impl<W: Wrap> Kv for W {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> Answer<'a, Result<GetResponse, ReadError>> {
        Wrap::get(self, key, at)
    }

    fn range(&self, request: RangeRequest) -> Answer<'_, Result<RangeResponse, ReadError>> {
        Wrap::range(self, request)
    }

    fn put(&self, request: PutRequest) -> Answer<'_, Result<WriteOutcome, WriteError>> {
        Wrap::put(self, request)
    }

    fn delete(&self, request: DeleteRequest) -> Answer<'_, Result<WriteOutcome, WriteError>> {
        Wrap::delete(self, request)
    }

    fn watch(&self, request: WatchRequest) -> Answer<'_, Result<Watch, WatchError>> {
        Wrap::watch(self, request)
    }

    fn revision(&self) -> Answer<'_, Result<Revision, ReadError>> {
        Wrap::revision(self)
    }

    fn grant(&self, ttl: Duration) -> Answer<'_, Result<LeaseId, LeaseError>> {
        Wrap::grant(self, ttl)
    }

    fn revoke(&self, lease: LeaseId) -> Answer<'_, Result<(), LeaseError>> {
        Wrap::revoke(self, lease)
    }

    fn compact(&self, revision: Revision) -> Answer<'_, Result<(), CompactError>> {
        Wrap::compact(self, revision)
    }

    fn compacted(&self) -> Revision {
        Wrap::compacted(self)
    }

    fn writable(&self) -> Result<(), Fault> {
        Wrap::writable(self)
    }

    fn short_of_room(&self) -> Option<WriteError> {
        Wrap::short_of_room(self)
    }

    fn answers_progress(&self) -> bool {
        Wrap::answers_progress(self)
    }

    fn head(&self) -> Option<(Tree, Revision)> {
        None
    }

    fn size_bytes(&self) -> Answer<'_, Result<Option<u64>, ReadError>> {
        Wrap::size_bytes(self)
    }
}
