//! `EtcdKv`: the engine on an etcd cluster.

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

/// How often [`EtcdKv::run`] queries members whose version is unknown.
const QUERY_VERSIONS_INTERVAL: Duration = Duration::from_secs(5);

/// A store on an etcd cluster. Clones share the same connections.
///
/// [`run`](Self::run) should run in a task.
#[derive(Clone, Debug)]
pub struct EtcdKv {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) cluster: Cluster,
    pub(crate) config: Config,
    pub(crate) lease: Mutex<Option<Shareable>>,
    /// The error of the last put, if it was a lack of space.
    no_space: Mutex<Option<Fault>>,
    compacted: AtomicU64,
    closed: AtomicBool,
    closing: Notify,
}

impl Shared {
    /// Runs one operation; the error `None` means that the store is closed.
    pub(crate) async fn call<Q, A>(
        &self,
        method: &Method<Q, A>,
        message: Q,
    ) -> Result<A, Option<Refusal>>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        if self.is_closed() {
            return Err(None);
        }
        self.cluster.call(method, message).await.map_err(Some)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Completes when the store is closed.
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

    /// A cluster without space refuses every put, even one that would be a conflict.
    fn note_space(&self, outcome: &Result<WriteOutcome, WriteError>) {
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
    /// Creates an engine. It connects on first use and needs a tokio runtime.
    ///
    /// # Errors
    /// The configuration has no usable server or certificate.
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

    /// Queries the version of members where it is unknown.
    /// [`KvWatch::supports_progress_requests`](kubist_storage::KvWatch::supports_progress_requests)
    /// depends on it; a member whose version is unknown is not trusted.
    pub async fn learn_versions(&self) {
        self.shared.cluster.query_versions().await;
    }

    /// Reports whether the version of every member is known.
    /// [`KvWatch::supports_progress_requests`](kubist_storage::KvWatch::supports_progress_requests)
    /// then only changes if a member is replaced.
    pub fn versions_are_known(&self) -> bool {
        self.shared.cluster.versions_are_known()
    }

    /// Runs periodic work: compaction, and version queries. Returns when the store is closed.
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
                shared.cluster.query_versions().await;
                sleep(QUERY_VERSIONS_INTERVAL).await;
            }
        };
        tokio::select! {
            () = shared.closed() => {}
            () = compaction => {}
            () = versions => {}
        }
    }

    /// Ends watches, and refuses further operations. etcd is not affected.
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
            self.shared.note_space(&outcome);
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
