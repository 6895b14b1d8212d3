//! `Reflector`: the driver that carries out the decisions of the [`Machine`].
//!
//! It owns the requests and streams, turns items into [`Queue`] entries, and reports problems. It
//! spawns nothing: its owner calls [`Reflector::step`] repeatedly.

mod list;
mod timer;
mod watch;

use self::timer::Timer;
use crate::list_buffer::{ListBuffer, Transform};
use crate::machine::{Action, Config, Machine, WatchEnd};
use crate::{CoopBudget, Report, Stats};
use futures_core::future::BoxFuture;
use kubist_apimachinery::{Object, ResourceVersion};
use kubist_cache::{
    FetchError, InvalidItem, ListStream, Lister, ListerWatcher, Queue, WatchStream,
};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Beyond any deadline that matters; adding it to the current time does not overflow.
const FAR: Duration = Duration::from_secs(24 * 365 * 3600);

/// The most chunks of a watch that [`Reflector::step_while_ready`] takes.
const BURST_MAX: usize = 63;

/// Keeps a queue up to date with a server.
pub struct Reflector<K> {
    source: Arc<dyn ListerWatcher<K>>,
    machine: Machine,
    io: Io<K>,
    list_buffer: ListBuffer<K>,
    started: Instant,
    timer: Timer,
    budget: CoopBudget,
    stats: Stats,
}

/// The current request or stream.
enum Io<K> {
    None,
    OpeningList(BoxFuture<'static, Result<ListStream<K>, FetchError>>),
    List(ListStream<K>),
    OpeningWatch(BoxFuture<'static, Result<WatchStream<K>, FetchError>>),
    Watch(WatchStream<K>),
}

/// The outputs of a step.
struct Out<'a, K> {
    queue: &'a mut dyn Queue<K>,
    report: &'a mut (dyn FnMut(Report) + Send),
}

impl<K: Object> Reflector<K> {
    /// Creates a reflector. `seed` varies pauses and watch timeouts.
    pub fn new(source: Arc<dyn ListerWatcher<K>>, config: Config, seed: u64) -> Self {
        Self {
            source,
            machine: Machine::new(config, seed),
            io: Io::None,
            list_buffer: ListBuffer::new(),
            started: Instant::now(),
            timer: Timer::default(),
            budget: CoopBudget::start(),
            stats: Stats::default(),
        }
    }

    /// Reuses the objects of this store that are listed in the same version, so that a relist needs
    /// little more memory than the store.
    #[must_use]
    pub fn with_known(mut self, lister: Lister<K>) -> Self {
        self.list_buffer.set_known(lister);
        self
    }

    /// Sets a function that changes each object once before it enters the queue.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<K>) -> Self {
        self.list_buffer.set_transform(transform);
        self
    }

    /// Returns the figures so far.
    pub fn stats(&self) -> Stats {
        Stats {
            listed: self.list_buffer.listed,
            unchanged: self.list_buffer.unchanged,
            ..self.stats
        }
    }

    /// Returns the last version received. It never decreases, except if the server's newest state
    /// is older.
    pub fn version(&self) -> &ResourceVersion {
        self.machine.version()
    }

    /// Reports whether the server currently does not serve the kind.
    pub fn is_not_served(&self) -> bool {
        self.machine.is_not_served()
    }

    /// Waits until something was put into the queue or failed; failures are passed to `report`.
    ///
    /// # Cancel safety
    /// Safe: a dropped future loses nothing, and the next call continues. Whatever a dropped future
    /// waited for still wakes the task that polled it, so that it can be polled anew each time.
    pub async fn step(
        &mut self,
        queue: &mut dyn Queue<K>,
        report: &mut (dyn FnMut(Report) + Send),
    ) {
        let mut out = Out { queue, report };
        loop {
            let deadline = self.deadline();
            let progress = match &mut self.io {
                Io::None => {
                    self.begin().await;
                    false
                }
                Io::OpeningList(opening) => match self
                    .timer
                    .before(deadline, |cx| opening.as_mut().poll(cx))
                    .await
                {
                    Some(opened) => self.list_opened(opened, &mut out),
                    None => self.list_silent(&mut out),
                },
                Io::List(stream) => match self
                    .timer
                    .before(deadline, |cx| stream.as_mut().poll_next(cx))
                    .await
                {
                    Some(item) => self.list_item(item, &mut out),
                    None => self.list_silent(&mut out),
                },
                Io::OpeningWatch(opening) => match self
                    .timer
                    .before(deadline, |cx| opening.as_mut().poll(cx))
                    .await
                {
                    Some(opened) => self.watch_opened(opened, &mut out),
                    None => self.watch_end(&WatchEnd::Silent, &mut out),
                },
                Io::Watch(stream) => match self
                    .timer
                    .before(deadline, |cx| stream.as_mut().poll_next(cx))
                    .await
                {
                    Some(item) => self.watch_item(item, &mut out),
                    None => self.watch_end(&WatchEnd::Silent, &mut out),
                },
            };
            if progress {
                return;
            }
            if matches!(self.io, Io::List(_)) {
                // A list that arrives faster than it is consumed never waits otherwise.
                self.budget.yield_if_due().await;
            }
        }
    }

    /// Takes what else has come of a watch, without waiting, so that a burst is applied and
    /// published together: at most 63 chunks, which is enough to make the costs of a batch small.
    /// To be called after [`Self::step`], by those who need no back pressure.
    ///
    /// # Cancel safety
    /// Safe: it waits for nothing.
    pub async fn step_while_ready(
        &mut self,
        queue: &mut dyn Queue<K>,
        report: &mut (dyn FnMut(Report) + Send),
    ) {
        let mut out = Out { queue, report };
        for _ in 0..BURST_MAX {
            let Io::Watch(stream) = &mut self.io else {
                return;
            };
            let polled = poll_fn(|cx| Poll::Ready(stream.as_mut().poll_next(cx)));
            let Poll::Ready(item) = polled.await else {
                return;
            };
            self.watch_item(item, &mut out);
        }
    }

    /// Returns the time since the reflector was created, which is the machine's clock.
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    async fn begin(&mut self) {
        if !self.source.supports_streaming_list() {
            // Another reflector of this server may have found out meanwhile.
            self.machine.refuse_streaming();
        }
        let source = Arc::clone(&self.source);
        match self.machine.action(self.now()) {
            Action::List(request) => {
                self.io = Io::OpeningList(Box::pin(async move { source.list(request).await }));
            }
            Action::Watch(request) => {
                self.stats.watches += 1;
                self.io = Io::OpeningWatch(Box::pin(async move { source.watch(request).await }));
            }
            Action::Pause { until } => {
                let until = self.at(until);
                let nothing = |_: &mut Context<'_>| Poll::<()>::Pending;
                self.timer.before(until, nothing).await;
            }
            Action::Read { .. } => {
                // There is no stream to read from, so the request must be repeated.
                let now = self.now();
                self.machine.list_silent(now);
                self.machine.watch_ended(now, &WatchEnd::Clean);
            }
        }
    }

    /// Returns the time until which the current request or stream may be silent.
    fn deadline(&mut self) -> Instant {
        if matches!(self.io, Io::None) {
            return self.started;
        }
        match self.machine.action(self.started.elapsed()) {
            Action::Read { deadline } => self.at(deadline),
            _ => self.started,
        }
    }

    fn at(&self, time: Duration) -> Instant {
        self.started + time.min(self.now().saturating_add(FAR))
    }

    fn invalid(&mut self, item: InvalidItem, out: &mut Out<'_, K>) {
        self.stats.invalid += 1;
        (out.report)(Report::Invalid(item));
    }

    fn not_served(&mut self, error: FetchError, known: bool, out: &mut Out<'_, K>) -> bool {
        self.stats.not_served += 1;
        if !known {
            (out.report)(Report::NotServed(error));
        }
        true
    }

    fn complete(&mut self, out: &mut Out<'_, K>) {
        self.stats.lists += 1;
        let version = self.machine.version().clone();
        out.queue.replace(self.list_buffer.take(version));
    }

    /// Handles a state that is older than the requested version.
    fn stale(&mut self, out: &mut Out<'_, K>) {
        self.io = Io::None;
        self.list_buffer.clear();
        self.stats.stale += 1;
        let floor = self.machine.version().clone();
        (out.report)(Report::Stale { floor });
    }

    /// Shares with all reflectors of the server that it does not support streaming lists.
    fn share(&self, was_refused: bool) {
        if self.machine.is_streaming_refused() && !was_refused {
            self.source.streaming_list_refused();
        }
    }
}

impl<K> fmt::Debug for Reflector<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector")
            .field("machine", &self.machine)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}
