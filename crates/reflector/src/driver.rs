//! `Reflector`: the driver that carries out what the [`Machine`] decides.
//!
//! It owns the requests and streams, turns items into [`Queue`] entries, and reports what went
//! wrong. It spawns nothing: its owner calls [`Reflector::step`] again and again.

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
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Further away than any deadline that matters; added to "now" it does not overflow.
const FAR: Duration = Duration::from_hours(24 * 365);

/// Keeps a queue in step with a server.
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

/// The request or stream at hand.
enum Io<K> {
    None,
    OpeningList(BoxFuture<'static, Result<ListStream<K>, FetchError>>),
    List(ListStream<K>),
    OpeningWatch(BoxFuture<'static, Result<WatchStream<K>, FetchError>>),
    Watch(WatchStream<K>),
}

/// Where a step puts what it brings.
struct Out<'a, K> {
    queue: &'a mut dyn Queue<K>,
    report: &'a mut (dyn FnMut(Report) + Send),
}

impl<K: Object> Reflector<K> {
    /// A reflector that has done nothing yet. `seed` varies pauses and watch timeouts.
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

    /// Listed objects that this store has in the same version are taken from it, so that a relist
    /// needs hardly more memory than the store.
    #[must_use]
    pub fn with_known(mut self, lister: Lister<K>) -> Self {
        self.list_buffer.set_known(lister);
        self
    }

    /// Changes each object as it arrives, once.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<K>) -> Self {
        self.list_buffer.set_transform(transform);
        self
    }

    /// What was done so far.
    pub fn stats(&self) -> Stats {
        Stats {
            listed: self.list_buffer.listed,
            unchanged: self.list_buffer.unchanged,
            ..self.stats
        }
    }

    /// The last version seen. It never goes back, except where the server's newest state is older.
    pub fn version(&self) -> &ResourceVersion {
        self.machine.version()
    }

    /// Whether the server's last word was that it does not serve the kind.
    pub fn is_not_served(&self) -> bool {
        self.machine.is_not_served()
    }

    /// Waits until something was put into the queue, or went wrong; reports go to `report`.
    ///
    /// # Cancel safety
    /// Safe: a dropped future loses nothing, the next call goes on where it was. What a dropped
    /// one waited for still wakes the task that polled it, so that it can be polled anew each time.
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
                // One that arrives faster than it is taken in has no other pause.
                self.budget.yield_if_due().await;
            }
        }
    }

    /// Time since the reflector was made, which is the machine's clock.
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    async fn begin(&mut self) {
        if !self.source.supports_streaming_list() {
            // Perhaps another reflector of this server found out in the meantime.
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
                // There is nothing to read from: what was asked for must be asked for anew.
                let now = self.now();
                self.machine.list_silent(now);
                self.machine.watch_ended(now, &WatchEnd::Clean);
            }
        }
    }

    /// Until when the request or stream at hand may be silent.
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

    /// The server answered with an older state than it had.
    fn stale(&mut self, out: &mut Out<'_, K>) {
        self.io = Io::None;
        self.list_buffer.forget();
        self.stats.stale += 1;
        let floor = self.machine.version().clone();
        (out.report)(Report::Stale { floor });
    }

    /// All reflectors of a server share what one has learnt of it.
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
