//! `Storage`: the real in-memory engine with a ledger of its commits, and with failures.
//!
//! It can lose all data, like a store that is restored from nothing: it is empty, at a revision
//! above every one ever returned, without history.

use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::rng::SimRng;
use crate::trace::Trace;
use kubist_storage::memory::{Config, MemoryKv, TokioClock};
use kubist_storage::{
    CompactError, DeleteRequest, Expected, Fault, FaultKind, GetResponse, KvFuture, LeaseError,
    LeaseId, PutRequest, RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError,
    WatchRangeRequest, WriteError, WriteOutcome,
};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// By how many revisions a store that lost its state is ahead.
const REVISIONS_AHEAD: u64 = 50;
/// The percentage of requests that fail in a failing store.
const FAILURES: u32 = 30;

/// The store of the simulated server.
#[derive(Debug)]
pub(crate) struct Storage {
    engine: Mutex<MemoryKv>,
    config: Config,
    ledger: Mutex<Ledger>,
    rng: Mutex<SimRng>,
    fails: AtomicBool,
    trace: Trace,
}

/// How a request to a failing store ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    Good,
    /// Nothing is done.
    Refused,
    /// It is done, and the response is lost.
    Lost,
}

impl Storage {
    pub(crate) fn new(plan: &Plan, trace: &Trace) -> Self {
        let config = Config {
            batch_events_max: plan.batch_events_max,
            history_age: plan.history_age,
            tick_every: Duration::from_secs(5),
            ..Config::default()
        };
        Self {
            engine: Mutex::new(engine(&config)),
            config,
            ledger: Mutex::default(),
            rng: Mutex::new(SimRng::new(plan.seed).fork("storage")),
            fails: AtomicBool::new(false),
            trace: trace.clone(),
        }
    }

    /// Returns the current engine.
    pub(crate) fn engine(&self) -> MemoryKv {
        self.engine.lock().clone()
    }

    /// Calls `look` with the committed objects.
    pub(crate) fn ledger<T>(&self, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.ledger.lock())
    }

    /// Sets whether requests fail at times.
    pub(crate) fn set_failing(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }

    /// Loses all data except the revision. The server must not be running.
    pub(crate) async fn lose_state(&self) {
        let old = self.engine();
        let reached = old.stats().revision.0;
        old.close();
        let new = engine(&self.config);
        let mut revision = 0;
        while revision < reached + REVISIONS_AHEAD {
            let put = PutRequest::new("/sim/ahead", "", Expected::Any);
            let committed = new.put(put).await.expect("it is open").committed();
            revision = committed.expect("any version is right").0;
        }
        new.compact(Revision(revision))
            .await
            .expect("it has come that far");
        *self.engine.lock() = new;
        self.ledger.lock().clear();
    }

    /// Compacts the history up to now.
    pub(crate) async fn compact(&self) {
        let engine = self.engine();
        let revision = engine.stats().revision;
        // It fails if nothing was written since the last compaction.
        drop(engine.compact(revision).await);
    }

    fn failure(&self) -> Failure {
        if !self.fails.load(Ordering::Relaxed) {
            return Failure::Good;
        }
        let mut rng = self.rng.lock();
        if !rng.chance(FAILURES) {
            return Failure::Good;
        }
        rng.pick(&[Failure::Refused, Failure::Lost])
    }

    fn fault(&self, failure: Failure, what: &str) -> Fault {
        self.trace.note("fault", format_args!("storage: {what}"));
        match failure {
            Failure::Lost => Fault::new(FaultKind::Timeout, "no answer in time"),
            _ => Fault::new(FaultKind::Unavailable, "no leader"),
        }
    }

    fn committed(&self, what: Option<String>) {
        if let Some(what) = what {
            self.trace.note("commit", format_args!("{what}"));
        }
    }
}

fn engine(config: &Config) -> MemoryKv {
    MemoryKv::new(config.clone(), Arc::new(TokioClock::start()))
}

impl KvRead for Storage {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        KvFuture::boxed(async move {
            match self.failure() {
                Failure::Good => self.engine().get(key, at).await,
                failure => Err(self.fault(failure, "get").into()),
            }
        })
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvFuture::boxed(async move {
            match self.failure() {
                Failure::Good => self.engine().range(request).await,
                failure => Err(self.fault(failure, "range").into()),
            }
        })
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        KvFuture::boxed(async move { self.engine().revision().await })
    }
}

impl KvWrite for Storage {
    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move {
            let failure = self.failure();
            if failure == Failure::Refused {
                return Err(self.fault(failure, "put").into());
            }
            let (key, value) = (request.key.clone(), request.value.clone());
            let outcome = self.engine().put(request).await?;
            if let Some(revision) = outcome.committed() {
                let what = self.ledger.lock().put(&key, &value, revision.0);
                self.committed(what);
            }
            match failure {
                Failure::Lost => Err(self.fault(failure, "put, done").into()),
                _ => Ok(outcome),
            }
        })
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move {
            let failure = self.failure();
            if failure == Failure::Refused {
                return Err(self.fault(failure, "delete").into());
            }
            let key = request.key.clone();
            let outcome = self.engine().delete(request).await?;
            if let Some(revision) = outcome.committed() {
                let what = self.ledger.lock().delete(&key, revision.0);
                self.committed(what);
            }
            match failure {
                Failure::Lost => Err(self.fault(failure, "delete, done").into()),
                _ => Ok(outcome),
            }
        })
    }

    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        KvFuture::boxed(async move { self.engine().grant(ttl).await })
    }

    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        KvFuture::boxed(async move { self.engine().revoke(lease).await })
    }
}

impl KvWatch for Storage {
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        KvFuture::boxed(async move {
            match self.failure() {
                Failure::Good => self.engine().watch(request).await,
                failure => Err(self.fault(failure, "watch").into()),
            }
        })
    }
}

impl KvMaintenance for Storage {
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        KvFuture::boxed(async move { self.engine().compact(revision).await })
    }

    fn compacted(&self) -> Revision {
        self.engine().compacted()
    }
}
