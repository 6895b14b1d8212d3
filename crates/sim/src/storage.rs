//! `Storage`: the real engine in memory, with a ledger of what it commits, and failures.
//!
//! It can lose all data as a store does that is restored from nothing: empty, at a revision above
//! every one that anybody has seen, with no history.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kubist_storage::memory::{Config, MemoryKv, TokioClock};
use kubist_storage::{
    CompactError, DeleteRequest, Expected, Fault, FaultKind, GetResponse, KvFuture, LeaseError,
    LeaseId, PutRequest, RangeRequest, RangeResponse, ReadError, Revision, Watch, WatchError,
    WatchRangeRequest, WriteError, WriteOutcome,
};
use kubist_storage::{KvMaintenance, KvRead, KvWatch, KvWrite};
use parking_lot::Mutex;

use crate::dice::Dice;
use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::trace::Trace;

/// Revisions by which a store that has lost its state is ahead.
const REVISIONS_AHEAD: u64 = 50;
/// Requests of a failing store that fail, in percent.
const FAILURES: u32 = 30;

/// The store of the simulated server.
#[derive(Debug)]
pub(crate) struct Storage {
    engine: Mutex<MemoryKv>,
    config: Config,
    ledger: Mutex<Ledger>,
    dice: Mutex<Dice>,
    fails: AtomicBool,
    trace: Trace,
}

/// How a request of a failing store ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Luck {
    Good,
    /// Nothing is done.
    Refused,
    /// It is done, and the answer is lost.
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
            dice: Mutex::new(Dice::new(plan.seed).fork("storage")),
            fails: AtomicBool::new(false),
            trace: trace.clone(),
        }
    }

    /// The engine of this moment.
    pub(crate) fn engine(&self) -> MemoryKv {
        self.engine.lock().clone()
    }

    /// What is committed.
    pub(crate) fn ledger<T>(&self, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.ledger.lock())
    }

    /// Whether requests fail now and then.
    pub(crate) fn set_failing(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }

    /// Forgets everything but how far it was. The server must not run.
    pub(crate) async fn lose_state(&self) {
        let old = self.engine();
        let reached = old.stats().revision.0;
        old.close();
        let new = engine(&self.config);
        let mut revision = 0;
        while revision < reached + REVISIONS_AHEAD {
            let put = PutRequest::new("/sim/ahead", "", Expected::Any);
            let committed = new.put(put).await.expect("nobody closes it").committed();
            revision = committed.expect("any version is right").0;
        }
        new.compact(Revision(revision))
            .await
            .expect("it has come that far");
        *self.engine.lock() = new;
        self.ledger.lock().clear();
    }

    /// Gives up the history up to now.
    pub(crate) async fn compact(&self) {
        let engine = self.engine();
        let revision = engine.stats().revision;
        // Nothing was written since the last time: then there is nothing to give up.
        drop(engine.compact(revision).await);
    }

    fn luck(&self) -> Luck {
        if !self.fails.load(Ordering::Relaxed) {
            return Luck::Good;
        }
        let mut dice = self.dice.lock();
        if !dice.chance(FAILURES) {
            return Luck::Good;
        }
        dice.pick(&[Luck::Refused, Luck::Lost])
    }

    fn fault(&self, luck: Luck, what: &str) -> Fault {
        self.trace.note("fault", format_args!("storage: {what}"));
        match luck {
            Luck::Lost => Fault::new(FaultKind::Timeout, "no answer in time"),
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
            match self.luck() {
                Luck::Good => self.engine().get(key, at).await,
                luck => Err(self.fault(luck, "get").into()),
            }
        })
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvFuture::boxed(async move {
            match self.luck() {
                Luck::Good => self.engine().range(request).await,
                luck => Err(self.fault(luck, "range").into()),
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
            let luck = self.luck();
            if luck == Luck::Refused {
                return Err(self.fault(luck, "put").into());
            }
            let (key, value) = (request.key.clone(), request.value.clone());
            let outcome = self.engine().put(request).await?;
            if let Some(revision) = outcome.committed() {
                let what = self.ledger.lock().put(&key, &value, revision.0);
                self.committed(what);
            }
            match luck {
                Luck::Lost => Err(self.fault(luck, "put, done").into()),
                _ => Ok(outcome),
            }
        })
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move {
            let luck = self.luck();
            if luck == Luck::Refused {
                return Err(self.fault(luck, "delete").into());
            }
            let key = request.key.clone();
            let outcome = self.engine().delete(request).await?;
            if let Some(revision) = outcome.committed() {
                let what = self.ledger.lock().delete(&key, revision.0);
                self.committed(what);
            }
            match luck {
                Luck::Lost => Err(self.fault(luck, "delete, done").into()),
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
            match self.luck() {
                Luck::Good => self.engine().watch(request).await,
                luck => Err(self.fault(luck, "watch").into()),
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
