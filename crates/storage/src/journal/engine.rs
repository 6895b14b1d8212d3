//! `JournaledKv`: reads and watches go to the memory engine, writes to the writer.

use super::Journal;
use super::queue::{Queue, Refusal, Request};
use super::replay::Replayed;
use super::worker::{Place, Worker};
use super::writer::Writer;
use crate::memory::{DataLimit, Leases, MemoryKv, State, Stats, Tree};
use crate::{Clock, CompactError, DeleteRequest, Fault, GetResponse, KvFuture};
use crate::{KvMaintenance, KvRead, KvWatch, KvWrite};
use crate::{LeaseError, LeaseId, PutRequest, RangeRequest, RangeResponse, ReadError, Revision};
use crate::{Watch, WatchError, WatchRangeRequest, WriteError, WriteOutcome};
use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// Limit of write requests that wait; further callers wait for a place.
const WAITING_MAX: usize = 8192;

/// The memory engine with every write made durable by a [`Journal`] before it is visible. Clones
/// share the same store.
///
/// Needs a tokio runtime, on whose blocking threads the journal runs unless it has
/// [a thread of its own](Self::on_own_thread). Something must advance its time:
/// [`run`](Self::run) in a task, or calls of [`tick`](Self::tick).
#[derive(Clone, Debug)]
pub struct JournaledKv {
    shared: Arc<Shared>,
}

/// Lock order: `writer`, then `queue`.
#[derive(Debug)]
pub(super) struct Shared {
    /// The durable state, for readers and watchers.
    pub(super) published: MemoryKv,
    /// A permit for each request that waits or is being processed.
    room: Semaphore,
    pub(super) queue: Mutex<Queue>,
    /// Locked by the worker while there is work.
    pub(super) writer: Mutex<Writer>,
    pub(super) place: Place,
    /// Whether the journal stores the next small batch at once.
    pub(super) is_quick: Arc<AtomicBool>,
    /// The active leases.
    leases: Arc<AtomicUsize>,
    /// The last request that the writer had no space for.
    limit: Arc<DataLimit>,
    /// Size of the journal in bytes; zero if unknown.
    size: Arc<AtomicU64>,
}

impl JournaledKv {
    /// A store that continues from a replay and writes to `journal`.
    pub fn new(replayed: Replayed, clock: Arc<dyn Clock>, journal: impl Journal) -> Self {
        let Replayed {
            config,
            versions,
            leases,
        } = replayed;
        let leases = leases.restored(&versions, clock.now());
        let published = State::restored(versions.clone(), Leases::default(), &config);
        let writer = Writer::new(
            State::restored(versions, leases, &config),
            config.clone(),
            Box::new(journal),
        );
        let shared = Shared {
            published: MemoryKv::with_state(published, config, clock),
            room: Semaphore::new(WAITING_MAX),
            queue: Mutex::default(),
            leases: writer.leases(),
            limit: writer.limit(),
            size: writer.size(),
            is_quick: writer.is_quick(),
            writer: Mutex::new(writer),
            place: Place::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Gives the journal a thread of its own, in place of the runtime's blocking threads. It ends
    /// with the last clone. Tokio's paused time does not wait for it.
    ///
    /// # Errors
    /// The system has no thread; the store works as before.
    pub fn on_own_thread(&self) -> io::Result<()> {
        Worker::start_thread(&self.shared)
    }

    /// Ticks, and wakes large numbers of watchers, until the store is closed. Run it once per
    /// store; a second run only ticks.
    ///
    /// # Cancel safety
    ///
    /// May be dropped at any time and run again.
    pub async fn run(&self) {
        self.shared.published.drive(|| self.tick()).await;
    }

    /// Advances to the clock's time: schedules the expiry of leases and the compaction of old
    /// history, sends due progress notifications, and retries a failed journal. Must be called
    /// within the runtime.
    pub fn tick(&self) {
        self.shared.published.send_progress();
        let now = self.shared.published.now();
        let mut queue = self.shared.queue.lock();
        if queue.closed || queue.has_tick() {
            return;
        }
        if queue.stalled.is_none() {
            self.shared.add(queue, Request::Tick { now });
        } else if queue.may_reopen(now) {
            self.shared.add(queue, Request::Reopen { now });
        }
    }

    /// Ends all watches, refuses further operations, writes pending requests, and returns once the
    /// journal is released. Closing again has no effect.
    ///
    /// # Cancel safety
    ///
    /// Once polled it completes in the background.
    pub async fn close(&self) {
        let (answer, answered) = oneshot::channel();
        {
            let mut queue = self.shared.queue.lock();
            queue.closed = true;
            self.shared.add(queue, Request::Close { answer });
        }
        // No response: the runtime is shutting down, and the journal with it.
        drop(answered.await);
    }

    /// Reports whether the store was closed, or closed itself.
    pub fn is_closed(&self) -> bool {
        self.shared.published.is_closed()
    }

    /// Returns why the store closed itself, if it did.
    pub fn failure(&self) -> Option<Fault> {
        self.shared.queue.lock().failed.clone()
    }

    /// Returns why writes are refused while reads work; `None` if writes are accepted or the store
    /// is closed.
    pub fn stalled(&self) -> Option<Fault> {
        let queue = self.shared.queue.lock();
        queue.stalled.as_ref().map(|it| it.fault.clone())
    }

    /// Returns the current size of the store.
    pub fn stats(&self) -> Stats {
        Stats {
            leases: self.shared.leases.load(Ordering::Relaxed),
            ..self.shared.published.stats()
        }
    }

    /// The time of the store's clock.
    pub(super) fn now(&self) -> Duration {
        self.shared.published.now()
    }

    /// Submits a request and waits for its response.
    pub(super) async fn ask<T, E: Refusal>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T, E>>) -> Request,
    ) -> Result<T, E> {
        let Ok(_room) = self.shared.room.acquire().await else {
            return Err(self.shared.refusal());
        };
        let (answer, answered) = oneshot::channel();
        {
            let queue = self.shared.queue.lock();
            if queue.closed || queue.stalled.is_some() {
                drop(queue);
                return Err(self.shared.refusal());
            }
            self.shared.add(queue, request(answer));
        }
        let unanswered = |_| Err(self.shared.refusal());
        answered.await.unwrap_or_else(unanswered)
    }
}

impl Shared {
    /// Enqueues a request, and starts a worker if there is none.
    fn add(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>, request: Request) {
        // Before any change, because it panics outside a runtime.
        let start = self.place.start();
        queue.push(request);
        if mem::replace(&mut queue.working, true) {
            return;
        }
        // A runtime that is shutting down drops the worker here, which then needs the lock.
        drop(queue);
        let worker = Worker::new(Arc::clone(self));
        if self.is_quick.load(Ordering::Relaxed) {
            worker.work_here(start);
        } else {
            worker.hand_over(start);
        }
    }

    /// Refuses everything from now on because of `fault`, including pending requests.
    pub(super) fn fail(&self, fault: Fault) {
        {
            let mut queue = self.queue.lock();
            queue.closed = true;
            queue.stalled = None;
            queue.failed.get_or_insert(fault);
            queue.clear();
        }
        self.published.close();
    }

    /// Refuses writes until the journal works again; published data stays readable. False if the
    /// store is being closed anyway.
    pub(super) fn stall(&self, fault: &Fault) -> bool {
        let now = self.published.now();
        let mut queue = self.queue.lock();
        if !queue.closed {
            queue.stall(fault.clone(), now);
        }
        !queue.closed
    }

    fn refusal<E: Refusal>(&self) -> E {
        let queue = self.queue.lock();
        let stalled = queue.stalled.as_ref().map(|it| it.fault.clone());
        let why = queue.failed.clone().or(stalled);
        why.map_or_else(E::closed, E::from)
    }
}

impl KvRead for JournaledKv {
    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        self.shared.published.get(key, at)
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        self.shared.published.range(request)
    }

    fn revision(&self) -> KvFuture<'_, Result<Revision, ReadError>> {
        self.shared.published.revision()
    }

    fn head(&self) -> Option<(Tree, Revision)> {
        self.shared.published.head()
    }
}

impl KvWrite for JournaledKv {
    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(self.ask(|answer| Request::Put(request, answer)))
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(self.ask(|answer| Request::Delete(request, answer)))
    }

    fn grant(&self, ttl: Duration) -> KvFuture<'_, Result<LeaseId, LeaseError>> {
        let now = self.shared.published.now();
        KvFuture::boxed(self.ask(move |answer| Request::Grant { now, ttl, answer }))
    }

    fn revoke(&self, lease: LeaseId) -> KvFuture<'_, Result<(), LeaseError>> {
        let now = self.shared.published.now();
        KvFuture::boxed(self.ask(move |answer| Request::Revoke { now, lease, answer }))
    }
}

impl KvWatch for JournaledKv {
    fn watch(&self, request: WatchRangeRequest) -> KvFuture<'_, Result<Watch, WatchError>> {
        self.shared.published.watch(request)
    }
}

impl KvMaintenance for JournaledKv {
    fn compact(&self, revision: Revision) -> KvFuture<'_, Result<(), CompactError>> {
        KvFuture::boxed(self.ask(move |answer| Request::Compact { revision, answer }))
    }

    fn compacted(&self) -> Revision {
        self.shared.published.compacted()
    }

    fn size_bytes(&self) -> KvFuture<'_, Result<Option<u64>, ReadError>> {
        let size = self.shared.size.load(Ordering::Relaxed);
        KvFuture::ready(Ok((size > 0).then_some(size)))
    }

    fn writable(&self) -> Result<(), Fault> {
        let queue = self.shared.queue.lock();
        let stalled = queue.stalled.as_ref().map(|it| &it.fault);
        match queue.failed.as_ref().or(stalled) {
            Some(fault) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    fn no_space_error(&self) -> Option<WriteError> {
        self.shared.limit.refused(self.stats().data_bytes)
    }
}
