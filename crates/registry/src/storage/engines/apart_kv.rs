//! `ApartKv`: an engine beside others, which also obeys guards that are in those. All else is the
//! engine's own.

use super::Engines;
use kubist_apimachinery::Status;
use kubist_storage::memory::Tree;
use kubist_storage::{
    CompactError, DeleteRequest, Expected, Fault, FaultKind, GetResponse, Guard, Kv, KvFuture,
    KvMaintenance, KvRead, KvWatch, KvWrite, LeaseError, LeaseId, PutRequest, RangeRequest,
    RangeResponse, ReadError, Revision, Watch, WatchError, WatchRangeRequest, WriteError,
    WriteOutcome,
};
use std::sync::Arc;
use std::time::Duration;

/// An engine beside others.
#[derive(Debug)]
pub(super) struct ApartKv {
    pub(super) own: Arc<dyn Kv>,
    pub(super) engines: Engines,
}

impl KvRead for ApartKv {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        self.own.get(key, at)
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        self.own.range(request)
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        self.own.revision()
    }

    fn head(&self) -> Option<(Tree, Revision)> {
        self.own.head()
    }
}

impl KvWrite for ApartKv {
    /// Guards belong to writes of new keys. Once such a write has begun it is finished, even if the
    /// request is dropped.
    fn put(&self, mut request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        let is_own = |guard: &Guard| Arc::ptr_eq(self.engines.having(&guard.key), &self.own);
        let (here, elsewhere) = request.guards.into_iter().partition(is_own);
        request.guards = here;
        let elsewhere: Vec<Guard> = elsewhere;
        if elsewhere.is_empty() {
            return self.own.put(request);
        }
        if request.expected != Expected::Absent {
            let why = "an update cannot be guarded by a key in another engine";
            return KvFuture::ready(Err(Fault::new(FaultKind::Unknown, why).into()));
        }
        let (own, engines) = (Arc::clone(&self.own), self.engines.clone());
        KvFuture::boxed(async move {
            let finishing = engines.finishing.clone();
            let failed = |status: Status| -> WriteError {
                Fault::new(FaultKind::Timeout, status.message.to_string()).into()
            };
            let place = finishing.place().await.map_err(failed)?;
            let work = async move {
                let _place = place;
                engines.put_guarded(&*own, request, &elsewhere).await
            };
            finishing.run(work).await.map_err(failed)?
        })
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        self.own.delete(request)
    }

    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        self.own.grant(ttl)
    }

    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        self.own.revoke(lease)
    }
}

impl KvWatch for ApartKv {
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        self.own.watch(request)
    }

    fn supports_progress_requests(&self) -> bool {
        self.own.supports_progress_requests()
    }
}

impl KvMaintenance for ApartKv {
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        self.own.compact(revision)
    }

    fn compacted(&self) -> Revision {
        self.own.compacted()
    }

    fn size_bytes(&self) -> KvFuture<'_, Result<Option<u64>, ReadError>> {
        self.own.size_bytes()
    }

    fn writable(&self) -> Result<(), Fault> {
        self.own.writable()
    }

    fn no_space_error(&self) -> Option<WriteError> {
        self.own.no_space_error()
    }
}
