//! The in-memory engine: ordered and multi-versioned, without durability.
//!
//! A reader takes a snapshot by copying a pointer and then holds no lock, however much it reads.
//! The cost of a write does not depend on watchers of other keys. A watch holds a position and no
//! events, so the memory of all watches is bounded by their number. History is bounded by count,
//! bytes and age. Only `driver` uses a runtime.

mod compaction;
mod config;
mod data_limit;
mod driver;
mod fanout;
mod leases;
mod log;
mod paged;
mod state;
mod timeline;
mod topic;
mod topics;
mod transact;
mod tree;
mod versions;
mod view;
mod watcher;

pub use self::config::Config;
pub(crate) use self::data_limit::DataLimit;
pub use self::driver::TokioClock;
use self::fanout::Fanout;
pub(crate) use self::leases::Leases;
use self::paged::Paged;
pub(crate) use self::state::{Effects, State};
use self::tree::Retired;
pub use self::tree::{Iter, Tree};
pub(crate) use self::versions::Versions;
use self::view::View;
use self::watcher::{Progress, Watcher};
use crate::batch::Batch;
use crate::{Clock, CompactError, DeleteRequest, GetResponse, KeyRange, KeyValue, KvFuture};
use crate::{KvLeases, KvTransact, LeaseStatus, Transaction, TransactionOutcome};
use crate::{KvMaintenance, KvRead, KvWatch, KvWrite, LeaseError};
use crate::{LeaseId, PutRequest, RangeRequest, RangeResponse, ReadError, Revision, Watch};
use crate::{WatchError, WatchRangeRequest, WriteError, WriteOutcome};
use parking_lot::{Mutex, RwLock};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The in-memory engine. Clones share the same store.
///
/// Something must advance its time: [`run`](Self::run) in a task, or calls of [`tick`](Self::tick).
#[derive(Clone, Debug)]
pub struct MemoryKv {
    shared: Arc<Shared>,
}

/// The size of a memory engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The current revision.
    pub revision: Revision,
    /// The revision before its first write.
    pub begin: Revision,
    /// The oldest readable revision; zero if nothing was compacted and it began at revision 1.
    pub compacted: Revision,
    /// Number of keys.
    pub keys: usize,
    /// Estimated bytes of these keys and their values.
    pub data_bytes: usize,
    /// Number of events in history.
    pub history_events: usize,
    /// Estimated bytes that these events keep in memory.
    pub history_bytes: usize,
    /// Number of active leases.
    pub leases: usize,
    /// Number of distinct watched ranges.
    pub watched_ranges: usize,
}

/// Lock order: `state`, then `paged` or that of a topic; `retired` alone. No waker is woken or
/// dropped under any.
#[derive(Debug)]
struct Shared {
    state: RwLock<State>,
    paged: Mutex<Paged>,
    retired: Mutex<Retired>,
    progress: Mutex<ProgressWatches>,
    fanout: Arc<Fanout>,
    config: Config,
    clock: Arc<dyn Clock>,
}

/// The watches with periodic progress notifications.
#[derive(Debug)]
struct ProgressWatches {
    watches: Vec<Weak<Progress>>,
    due: Duration,
}

impl Default for MemoryKv {
    /// With the default limits, on tokio's clock.
    fn default() -> Self {
        Self::new(Config::default(), Arc::new(TokioClock::start()))
    }
}

impl MemoryKv {
    /// An empty store at revision 1.
    pub fn new(config: Config, clock: Arc<dyn Clock>) -> Self {
        let state = State::new(&config);
        Self::with_state(state, config, clock)
    }

    /// An empty store at `revision`, to replace another store whose clients still exist. The
    /// revisions they have seen lie before its history, so their watches and reads are refused as
    /// compacted, and their writes conflict. That holds unless the other store has reached
    /// `revision`.
    pub fn beginning_at(revision: Revision, config: Config, clock: Arc<dyn Clock>) -> Self {
        let versions = Versions::beginning_at(&config, revision);
        let state = State::restored(versions, Leases::default(), &config);
        Self::with_state(state, config, clock)
    }

    /// A store with these current values and without history, such as those of a backup at
    /// `revision`. None of them may be newer.
    pub fn restored(
        revision: Revision,
        kvs: impl IntoIterator<Item = KeyValue>,
        config: Config,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let mut versions = Versions::beginning_at(&config, revision);
        for kv in kvs {
            drop(versions.keep(Arc::new(kv)));
        }
        let state = State::restored(versions, Leases::default(), &config);
        Self::with_state(state, config, clock)
    }

    /// A copy of the store with the same data, history and leases, without watches. The two are
    /// independent from now on. Data and history are shared, so the cost is proportional to what
    /// was written since the last fork.
    pub fn fork(&self) -> Self {
        self.fork_on(Arc::clone(&self.shared.clock))
    }

    /// Same as [`Self::fork`], on another clock, which has to show at least the time of this one:
    /// the deadlines of leases stay what they are.
    pub fn fork_on(&self, clock: Arc<dyn Clock>) -> Self {
        let state = self.shared.state.write().fork();
        Self::with_state(state, self.shared.config.clone(), clock)
    }

    /// Same as [`Self::fork_on`], at an earlier revision: as if nothing had been written since. The
    /// cost is proportional to the number of writes since then. A lease that has ended since then
    /// ends again.
    ///
    /// # Errors
    /// The revision is compacted, or in the future; or the store is closed.
    pub fn fork_at(&self, revision: Revision, clock: Arc<dyn Clock>) -> Result<Self, ReadError> {
        let mut state = {
            let mut state = self.shared.state.write();
            if state.closed {
                return Err(ReadError::Closed);
            }
            state.versions.readable(Some(revision))?;
            state.fork()
        };
        state.rewind(revision);
        Ok(Self::with_state(state, self.shared.config.clone(), clock))
    }

    /// Returns the revision that is current now; also of a closed store.
    pub fn current_revision(&self) -> Revision {
        self.shared.state.read().versions.revision()
    }

    /// Advances to the clock's time: expires leases, discards old history, sends due progress
    /// notifications.
    pub fn tick(&self) {
        let now = self.shared.clock.now();
        self.expire(now);
        self.age(now);
        self.send_progress();
    }

    /// Ends all watches, and refuses all further operations.
    pub fn close(&self) {
        self.change(State::close);
    }

    /// Reports whether the store is closed.
    pub fn is_closed(&self) -> bool {
        self.shared.state.read().closed
    }

    /// Returns the current size of the store.
    pub fn stats(&self) -> Stats {
        let state = self.shared.state.read();
        Stats {
            revision: state.versions.revision(),
            begin: state.versions.begin(),
            compacted: state.versions.compacted(),
            keys: state.versions.keys(),
            data_bytes: state.versions.live_bytes(),
            history_events: state.versions.log().len(),
            history_bytes: state.versions.log().bytes(),
            leases: state.leases.len(),
            watched_ranges: state.topics.len(),
        }
    }

    pub(crate) fn with_state(state: State, config: Config, clock: Arc<dyn Clock>) -> Self {
        let due = clock.now().saturating_add(config.progress_every);
        let shared = Shared {
            state: RwLock::new(state),
            paged: Mutex::default(),
            retired: Mutex::default(),
            progress: Mutex::new(ProgressWatches {
                watches: Vec::new(),
                due,
            }),
            fanout: Arc::default(),
            config,
            clock,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Changes the state, and applies the effects after the lock is released.
    fn change<T>(&self, change: impl FnOnce(&mut State, &mut Effects) -> T) -> T {
        let mut effects = Effects::default();
        let result = change(&mut self.shared.state.write(), &mut effects);
        self.shared.fanout.wake(effects.wakers);
        self.retire(effects.retired);
        result
    }

    /// Applies what another state has decided, and notifies watchers.
    pub(crate) fn apply(&self, batch: &Batch) {
        self.change(|state, effects| state.apply(batch, effects));
        if batch.compacted.is_some() {
            self.forget_compacted_pages();
        }
    }

    /// Returns the current versions, shared.
    pub(crate) fn versions(&self) -> Versions {
        self.shared.state.read().versions.clone()
    }

    pub(crate) fn now(&self) -> Duration {
        self.shared.clock.now()
    }

    /// Sends due progress notifications.
    pub(crate) fn send_progress(&self) {
        for progress in self.due_progress(self.now()) {
            progress.request();
        }
    }

    fn expire(&self, now: Duration) {
        while self.change(|state, effects| state.expire(now, effects)) {}
    }

    /// Returns a snapshot for reading `range`, and the current revision.
    fn view(&self, range: &KeyRange, at: Option<Revision>) -> Result<(View, Revision), ReadError> {
        let state = self.shared.state.read();
        if state.closed {
            return Err(ReadError::Closed);
        }
        let requested = state.versions.readable(at)?;
        let paged = at.and_then(|_| self.shared.paged.lock().get(requested).cloned());
        let view = match paged {
            Some(tree) => View::new(tree, Vec::new()),
            None => state.versions.view(range, requested),
        };
        Ok((view, state.versions.revision()))
    }

    /// Keeps the current state that a page was read from: the next page is likely to follow.
    fn keep_for_next_page(&self, view: &View, head: Revision) {
        let evicted = self.shared.paged.lock().keep(head, view.tree().clone());
        self.retire(evicted.map(|(_, tree)| tree));
    }

    fn due_progress(&self, now: Duration) -> Vec<Arc<Progress>> {
        let mut progress = self.shared.progress.lock();
        if now < progress.due {
            return Vec::new();
        }
        progress.due = now.saturating_add(self.shared.config.progress_every);
        progress.alive()
    }
}

impl ProgressWatches {
    fn alive(&mut self) -> Vec<Arc<Progress>> {
        let alive: Vec<_> = self.watches.iter().filter_map(Weak::upgrade).collect();
        self.watches.retain(|it| it.strong_count() > 0);
        alive
    }

    /// Adds a watch. Removes ended ones whenever the list would have to grow.
    fn add(&mut self, progress: &Arc<Progress>) {
        if self.watches.len() == self.watches.capacity() {
            self.watches.retain(|it| it.strong_count() > 0);
        }
        self.watches.push(Arc::downgrade(progress));
    }
}

impl KvRead for MemoryKv {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        let range = || KeyRange::key(bytes::Bytes::copy_from_slice(key));
        // Only reads of the past need the range, to find its events.
        let range = at.map_or_else(KeyRange::all, |_| range());
        KvFuture::ready(self.view(&range, at).map(|(view, revision)| {
            let kv = view.get(key).cloned();
            GetResponse { kv, revision }
        }))
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvFuture::ready(
            self.view(&request.range, request.at)
                .map(|(view, revision)| {
                    let page = view.page(&request.range, request.limit);
                    let more = page.kvs.len() < page.count;
                    if more && !page.kvs.is_empty() && request.at.is_none_or(|at| at == revision) {
                        self.keep_for_next_page(&view, revision);
                    }
                    RangeResponse {
                        kvs: page.kvs,
                        count: page.count,
                        more,
                        revision,
                    }
                }),
        )
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        let state = self.shared.state.read();
        let revision = state.versions.revision();
        KvFuture::ready(if state.closed {
            Err(ReadError::Closed)
        } else {
            Ok(revision)
        })
    }

    fn head(&self) -> Option<(Tree, Revision)> {
        let state = self.shared.state.read();
        let versions = &state.versions;
        (!state.closed).then(|| (versions.head().clone(), versions.revision()))
    }
}

impl KvWrite for MemoryKv {
    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::ready(self.change(|state, effects| state.put(request, effects)))
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::ready(self.change(|state, effects| state.delete(&request, effects)))
    }

    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        let now = self.shared.clock.now();
        KvFuture::ready(self.change(|state, effects| state.grant(now, ttl, effects)))
    }

    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        let revoked = self.change(|state, effects| state.revoke(lease, effects));
        self.expire(self.shared.clock.now());
        KvFuture::ready(revoked)
    }
}

impl KvTransact for MemoryKv {
    fn transact(
        &self,
        transaction: Transaction,
    ) -> KvFuture<'_, Result<TransactionOutcome, WriteError>> {
        KvFuture::ready(self.change(|state, effects| state.transact(&transaction, effects)))
    }
}

impl KvLeases for MemoryKv {
    fn grant_as(&self, lease: LeaseId, ttl: Duration) -> KvFuture<'_, Result<(), LeaseError>> {
        let times = (self.now(), ttl);
        KvFuture::ready(self.change(|state, effects| state.grant_as(lease, times, effects)))
    }

    fn keep_alive(&self, lease: LeaseId) -> KvFuture<'_, Result<Duration, LeaseError>> {
        let now = self.now();
        KvFuture::ready(self.shared.state.write().keep_alive(now, lease))
    }

    fn lease(&self, lease: LeaseId) -> KvFuture<'_, Result<LeaseStatus, LeaseError>> {
        let now = self.now();
        KvFuture::ready(self.shared.state.read().lease(now, lease))
    }

    fn leases(&self) -> KvFuture<'_, Result<Vec<LeaseId>, LeaseError>> {
        KvFuture::ready(self.shared.state.read().lease_ids())
    }
}

impl KvWatch for MemoryKv {
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        KvFuture::ready(
            Watcher::start(&self.shared, request.range, request.from).map(|watcher| {
                let progress = Arc::clone(watcher.progress());
                if request.progress {
                    self.shared.progress.lock().add(&progress);
                }
                let weak = Arc::downgrade(&progress);
                Watch::new(watcher, move || {
                    if let Some(progress) = weak.upgrade() {
                        progress.request();
                    }
                })
            }),
        )
    }
}

impl KvMaintenance for MemoryKv {
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        KvFuture::boxed(self.compact_in_steps(revision))
    }

    fn compacted(&self) -> Revision {
        self.shared.state.read().versions.compacted()
    }

    fn no_space_error(&self) -> Option<WriteError> {
        let state = self.shared.state.read();
        state.limit.refused(state.versions.live_bytes())
    }
}
