//! `Processor`: the one task of an informer. It owns the indexer and the queue, and is the only
//! one that writes.
//!
//! Each turn waits for news, a command or a resync; then everything queued is applied, published,
//! and only then told to handlers. So the queue never holds more than one batch of the stream.

use std::sync::Arc;
use std::time::Duration;

use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{Change, Indexer, Queue as _, RealFifo};
use kubist_reflector::{Reflector, Report};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::handler::RESYNC_MIN;
use crate::seat::Seat;
use crate::shared_informer::{Command, Shared};
use crate::{HandlerState, InformerState, Problem};

pub(crate) struct Processor<K: Object> {
    shared: Arc<Shared<K>>,
    indexer: Indexer<K>,
    reflector: Reflector<K>,
    queue: RealFifo<K>,
    seats: Vec<Served<K>>,
    handlers: JoinSet<()>,
    /// Reused by every batch.
    changes: Vec<Change<K>>,
}

/// A seat, and when its next resync is due.
struct Served<K> {
    seat: Arc<Seat<K>>,
    period: Option<Duration>,
    due: Option<Instant>,
}

/// What a turn of the loop waited for.
enum Turn {
    Stop,
    Command,
    Resync,
    News(Vec<Report>),
}

impl<K: Object> Processor<K> {
    pub(crate) fn new(shared: Arc<Shared<K>>, indexer: Indexer<K>) -> Self {
        let source = Arc::clone(&shared.source);
        let config = shared.config.reflector.clone();
        let mut reflector =
            Reflector::new(source, config, shared.seed()).with_known(indexer.lister());
        if let Some(transform) = &shared.config.transform {
            reflector = reflector.with_transform(Arc::clone(transform));
        }
        Self {
            shared,
            indexer,
            reflector,
            queue: RealFifo::new(),
            seats: Vec::new(),
            handlers: JoinSet::new(),
            changes: Vec::new(),
        }
    }

    pub(crate) async fn run(mut self, token: CancellationToken) {
        self.shared.state.send_replace(InformerState::Syncing);
        loop {
            match self.turn(&token).await {
                Turn::Stop => break,
                Turn::Command => self.obey(),
                Turn::Resync => self.resync(),
                Turn::News(reports) => {
                    // Handlers and indexes that were added in the meantime come first: they are
                    // then told of the news like all others.
                    self.obey();
                    for report in reports {
                        self.shared.report(&Problem::Fetch(report));
                    }
                    self.process();
                }
            }
            self.note_stats();
            tokio::task::consume_budget().await;
        }
        self.stop();
        while self.handlers.join_next().await.is_some() {}
    }

    async fn turn(&mut self, token: &CancellationToken) -> Turn {
        let due = self.seats.iter().filter_map(|served| served.due).min();
        let mut reports = Vec::new();
        let mut report = |it| reports.push(it);
        tokio::select! {
            biased;
            () = token.cancelled() => Turn::Stop,
            () = self.shared.wake.notified() => Turn::Command,
            () = sleep_until(due) => Turn::Resync,
            () = self.reflector.step(&mut self.queue, &mut report) => Turn::News(reports),
        }
    }

    /// Does what handles asked for.
    fn obey(&mut self) {
        while let Some(_finished) = self.handlers.try_join_next() {}
        let commands = std::mem::take(&mut *self.shared.commands.lock());
        for command in commands {
            match command {
                Command::Index(handle) => {
                    self.indexer.build_index(&handle);
                    self.indexer.publish();
                }
                Command::Seat(seat, handler) => {
                    self.join(&seat);
                    if let Some(handler) = handler {
                        let shared = Arc::clone(&self.shared);
                        let name = seat.config.name.clone();
                        let panicked = move || {
                            shared.stats.lock().handler_panics += 1;
                            shared.report(&Problem::HandlerPanicked {
                                handler: name.clone(),
                            });
                        };
                        self.handlers
                            .spawn(Arc::clone(&seat).serve(handler, panicked));
                    }
                }
            }
        }
        self.report_index_errors();
    }

    /// Whoever comes late hears of what is there, as additions.
    fn join(&mut self, seat: &Arc<Seat<K>>) {
        let snapshot = self.indexer.snapshot();
        for object in snapshot.iter() {
            let change = Change::Added {
                object: Arc::clone(object),
                initial: true,
            };
            if !seat.push(std::iter::once((&object.object_name(), &change))) {
                break;
            }
        }
        if self.indexer.has_synced() {
            seat.fill();
        }
        let period = seat.config.resync.map(|period| period.max(RESYNC_MIN));
        let due = period.map(|period| Instant::now() + period);
        self.seats.push(Served {
            seat: Arc::clone(seat),
            period,
            due,
        });
    }

    fn process(&mut self) {
        while let Some(batch) = self.queue.pop_batch() {
            let mut changes = std::mem::take(&mut self.changes);
            for delta in batch.deltas {
                self.indexer.apply(delta, &mut changes);
            }
            self.indexer.publish();
            self.tell(&changes, |_| true);
            self.shared.stats.lock().changes += changes.len() as u64;
            changes.clear();
            // A first list is large, and never comes again.
            changes.shrink_to(kubist_cache::BATCH_MAX);
            self.changes = changes;
        }
        self.report_index_errors();
        if self.indexer.has_synced() && *self.shared.state.borrow() == InformerState::Syncing {
            self.shared.state.send_replace(InformerState::Synced);
            self.seats.iter().for_each(|served| served.seat.fill());
        }
    }

    /// Puts changes into the mailboxes of the chosen seats; those that have ended go.
    fn tell(&mut self, changes: &[Change<K>], chosen: impl Fn(&Served<K>) -> bool) {
        if changes.is_empty() || self.seats.is_empty() {
            return;
        }
        let names: Vec<ObjectName> = changes.iter().map(Change::object_name).collect();
        let shared = &self.shared;
        self.seats.retain(|served| {
            if !chosen(served) || served.seat.push(names.iter().zip(changes)) {
                return true;
            }
            if *served.seat.watch_state().borrow() == HandlerState::Overflowed {
                shared.stats.lock().handler_overflows += 1;
                let handler = served.seat.config.name.clone();
                shared.report(&Problem::HandlerOverflowed { handler });
            }
            false
        });
    }

    /// Tells every object again to those whose time has come.
    fn resync(&mut self) {
        let now = Instant::now();
        let mut changes = Vec::new();
        self.indexer
            .apply(kubist_cache::Delta::SyncAll, &mut changes);
        let is_due = |served: &Served<K>| served.due.is_some_and(|due| due <= now);
        self.tell(&changes, is_due);
        for served in &mut self.seats {
            if is_due(served) {
                served.due = served.period.map(|period| now + period);
            }
        }
    }

    fn report_index_errors(&mut self) {
        for error in self.indexer.take_index_errors() {
            self.shared.report(&Problem::Index(error));
        }
    }

    fn note_stats(&mut self) {
        self.seats.retain(|served| !served.seat.is_ended());
        let mut stats = self.shared.stats.lock();
        stats.reflector = self.reflector.stats();
        stats.objects = self.indexer.len();
        stats.handlers = self.seats.len();
        stats.index_errors = self.indexer.index_errors_total();
    }

    fn stop(&mut self) {
        // Under the lock of the commands, so that no handler is added to nobody.
        let mut commands = self.shared.commands.lock();
        self.shared.state.send_replace(InformerState::Stopped);
        for command in commands.drain(..) {
            if let Command::Seat(seat, _) = command {
                seat.end(HandlerState::Stopped);
            }
        }
        drop(commands);
        for served in self.seats.drain(..) {
            served.seat.end(HandlerState::Stopped);
        }
    }
}

/// A dropped `run` stops too: handles must not wait for what will not come.
impl<K: Object> Drop for Processor<K> {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
