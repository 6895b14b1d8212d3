//! The engine itself: `Kv` on a cluster.

use crate::cluster::Cluster;
use crate::config::{Config, ConfigError};
use crate::leases::Shareable;
use crate::method::Method;
use crate::refusal::Refusal;
use crate::watch;
use kubist_storage::{CompactError, DeleteRequest, Fault, FaultKind, GetResponse, KvFuture};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use kubist_storage::{
    LeaseError, LeaseId, PutRequest, RangeRequest, RangeResponse, ReadError, Revision, Watch,
};
use kubist_storage::{WatchError, WatchRangeRequest, WriteError, WriteOutcome};
use parking_lot::Mutex;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::sleep;

/// How often [`EtcdKv::run`] asks members whose version is not known.
const ASK_VERSIONS_EVERY: Duration = Duration::from_secs(5);

/// A store on an etcd cluster. A clone is another handle to the same connections.
///
/// Something should run [`run`](Self::run) beside it.
#[derive(Clone, Debug)]
pub struct EtcdKv {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) cluster: Cluster,
    pub(crate) config: Config,
    pub(crate) lease: Mutex<Option<Shareable>>,
    /// What the last put was refused with, if that was for want of room.
    no_space: Mutex<Option<Fault>>,
    compacted: AtomicU64,
    closed: AtomicBool,
    closing: Notify,
}

impl Shared {
    /// One operation; `None` as the error if the store is closed.
    pub(crate) async fn call<Q, A>(
        &self,
        method: &Method<Q, A>,
        question: Q,
    ) -> Result<A, Option<Refusal>>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        if self.is_closed() {
            return Err(None);
        }
        self.cluster.call(method, question).await.map_err(Some)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Waits until the store is closed.
    pub(crate) async fn closed(&self) {
        loop {
            let closing = self.closing.notified();
            if self.is_closed() {
                return;
            }
            closing.await;
        }
    }

    pub(crate) fn compacted(&self) -> Revision {
        Revision(self.compacted.load(Ordering::Acquire))
    }

    /// A cluster without room refuses every put, whatever else would keep it from happening.
    fn note_room(&self, outcome: &Result<WriteOutcome, WriteError>) {
        match outcome {
            Ok(_) => *self.no_space.lock() = None,
            Err(WriteError::Fault(fault)) if fault.kind() == FaultKind::NoSpace => {
                *self.no_space.lock() = Some(fault.clone());
            }
            Err(_) => {}
        }
    }

    pub(crate) fn note_compacted(&self, at: Revision) {
        self.compacted.fetch_max(at.0, Ordering::AcqRel);
    }
}

impl EtcdKv {
    /// An engine on this cluster. Connects when it is first used; needs a tokio runtime.
    ///
    /// # Errors
    /// The configuration names no usable server or certificate.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Ok(Self {
            shared: Arc::new(Shared {
                cluster: Cluster::new(&config)?,
                config,
                lease: Mutex::new(None),
                no_space: Mutex::new(None),
                compacted: AtomicU64::new(0),
                closed: AtomicBool::new(false),
                closing: Notify::new(),
            }),
        })
    }

    /// Asks the members for their version, those that have not said it yet. Afterwards
    /// [`KvWatch::supports_progress_requests`](kubist_storage::KvWatch::supports_progress_requests) says what is known; until then, and of a member that does not
    /// answer, the worst is taken for granted.
    pub async fn learn_versions(&self) {
        self.shared.cluster.ask_versions().await;
    }

    /// Whether every member has said its version, so that nothing more can be learnt about
    /// [`KvWatch::supports_progress_requests`](kubist_storage::KvWatch::supports_progress_requests) without a member that is replaced.
    pub fn versions_are_known(&self) -> bool {
        self.shared.cluster.versions_are_known()
    }

    /// What has to be done from time to time: compaction, and asking members for their version.
    /// Ends when the store is closed.
    pub async fn run(&self) {
        let shared = &self.shared;
        let compaction = async {
            match shared.config.compact_every {
                Some(every) => shared.keep_compacting(every).await,
                None => std::future::pending().await,
            }
        };
        let versions = async {
            loop {
                shared.cluster.ask_versions().await;
                sleep(ASK_VERSIONS_EVERY).await;
            }
        };
        tokio::select! {
            () = shared.closed() => {}
            () = compaction => {}
            () = versions => {}
        }
    }

    /// Ends watches, and refuses everything from now on. etcd goes on.
    pub fn close(&self) {
        self.shared.closed.store(true, Ordering::Release);
        self.shared.closing.notify_waiters();
    }
}

impl KvRead for EtcdKv {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        KvFuture::boxed(self.shared.get(key, at))
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvFuture::boxed(self.shared.range(request))
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        KvFuture::boxed(self.shared.revision())
    }
}

impl KvWrite for EtcdKv {
    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move {
            let outcome = self.shared.put(request).await;
            if let Err(WriteError::LeaseNotFound { lease }) = &outcome {
                self.shared.forget_lease(*lease);
            }
            self.shared.note_room(&outcome);
            outcome
        })
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(self.shared.delete(request))
    }

    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        KvFuture::boxed(self.shared.grant(ttl))
    }

    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        KvFuture::boxed(self.shared.revoke(lease))
    }
}

impl KvWatch for EtcdKv {
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        KvFuture::boxed(watch::start(Arc::clone(&self.shared), request))
    }

    fn supports_progress_requests(&self) -> bool {
        self.shared.cluster.progress_is_safe_everywhere()
    }
}

impl KvMaintenance for EtcdKv {
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        KvFuture::boxed(self.shared.compact(revision))
    }

    fn compacted(&self) -> Revision {
        self.shared.compacted()
    }

    fn size_bytes(&self) -> KvFuture<'_, Result<Option<u64>, ReadError>> {
        KvFuture::boxed(self.shared.size_bytes())
    }

    fn no_space_error(&self) -> Option<WriteError> {
        self.shared.no_space.lock().clone().map(WriteError::Fault)
    }
}
