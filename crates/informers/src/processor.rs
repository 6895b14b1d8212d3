//! `Processor`: the one task of an informer. It owns the indexer and the queue, and is the only
//! one that writes.
//!
//! Each turn waits for news, a command or a resync; then everything queued is applied, published,
//! and only then told to handlers. So the queue never holds more than one batch of the stream.

use std::sync::Arc;

use kubist_apimachinery::Object;
use kubist_cache::{Change, Delta, Indexer, Queue};
use kubist_reflector::Reflector;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::intake;
use crate::name_hash::NameHash;
use crate::resync::Resyncs;
use crate::seat::Seat;
use crate::serving::Panicked;
use crate::shared::{Command, Shared};
use crate::{HandlerState, InformerState, Problem};

pub(crate) struct Processor<K: Object> {
    shared: Arc<Shared<K>>,
    indexer: Indexer<K>,
    reflector: Reflector<K>,
    queue: Box<dyn Queue<K>>,
    seats: Vec<Served<K>>,
    next_seat: u64,
    resyncs: Resyncs,
    /// What the resyncs count from.
    started: Instant,
    handlers: JoinSet<()>,
    /// Reused by every batch.
    changes: Vec<Change<K>>,
}

/// A seat, and its number.
struct Served<K> {
    id: u64,
    seat: Arc<Seat<K>>,
}

/// What a turn of the loop waited for.
enum Turn {
    Stop,
    Command,
    Resync,
    News,
}

impl<K: Object> Processor<K> {
    pub(crate) fn new(shared: Arc<Shared<K>>, mut indexer: Indexer<K>) -> Self {
        let source = Arc::clone(&shared.source);
        let (reflector, queue) = intake::open(source, &shared.config, &mut indexer);
        Self {
            resyncs: Resyncs::new(shared.config.resync),
            started: Instant::now(),
            shared,
            indexer,
            reflector,
            queue,
            seats: Vec::new(),
            next_seat: 0,
            handlers: JoinSet::new(),
            changes: Vec::new(),
        }
    }

    pub(crate) async fn run(mut self, token: CancellationToken) {
        self.shared.stand(InformerState::Syncing, false);
        // What was added before the start has a say in when resyncs are looked for.
        self.obey();
        self.resyncs.start(self.started.elapsed());
        loop {
            match self.turn(&token).await {
                Turn::Stop => break,
                Turn::Command => self.obey(),
                Turn::Resync => self.resync(),
                Turn::News => {
                    // Handlers and indexes that were added in the meantime come first: they are
                    // then told of the news like all others.
                    self.obey();
                    self.process();
                }
            }
            self.note_stats();
            tokio::task::consume_budget().await;
        }
        self.stop();
        // Whoever waits for the store to show something need not wait any longer; a handler that
        // does could not end otherwise.
        drop(std::mem::take(&mut self.indexer));
        while self.handlers.join_next().await.is_some() {}
    }

    async fn turn(&mut self, token: &CancellationToken) -> Turn {
        let due = self.resyncs.due().map(|due| self.started + due);
        let shared = &self.shared;
        // At once: a step that is given up for a command has reported what it met.
        let mut report = |it| shared.report(&Problem::Fetch(it));
        tokio::select! {
            biased;
            () = token.cancelled() => Turn::Stop,
            () = shared.wake.notified() => Turn::Command,
            () = sleep_until(due) => Turn::Resync,
            () = self.reflector.step(&mut *self.queue, &mut report) => Turn::News,
        }
    }

    /// Does what handles asked for.
    fn obey(&mut self) {
        while let Some(_finished) = self.handlers.try_join_next() {}
        for command in self.shared.take_commands() {
            match command {
                Command::Index(handle) => {
                    self.indexer.build_index(&handle);
                    self.indexer.publish();
                }
                Command::Seat(seat, serve) => {
                    self.join(&seat);
                    if let Some(serve) = serve {
                        let panicked = self.panicked(&seat);
                        self.handlers.spawn(serve(seat, panicked));
                    }
                }
            }
        }
        self.change_periods();
        self.report_errors();
    }

    fn panicked(&self, seat: &Seat<K>) -> Panicked {
        let (shared, handler) = (Arc::clone(&self.shared), seat.config.name.clone());
        Arc::new(move |message| {
            shared.stats.lock().handler_panics += 1;
            let handler = handler.clone();
            shared.report(&Problem::HandlerPanicked { handler, message });
        })
    }

    /// Whoever comes late hears of what is there, as additions.
    fn join(&mut self, seat: &Arc<Seat<K>>) {
        let snapshot = self.indexer.snapshot();
        for object in snapshot.iter() {
            let change = Change::Added {
                object: Arc::clone(object),
                initial: true,
            };
            if !seat.push(std::iter::once((NameHash::of(&change), &change))) {
                break;
            }
        }
        if self.indexer.has_synced() {
            seat.fill();
        }
        let id = self.next_seat;
        self.next_seat += 1;
        let seat = Arc::clone(seat);
        self.resyncs
            .join(id, seat.config.resync, self.started.elapsed());
        self.seats.push(Served { id, seat });
        self.note_periods();
    }

    /// Does what handles of handlers asked for.
    fn change_periods(&mut self) {
        let now = self.started.elapsed();
        let mut changed = false;
        for served in &self.seats {
            if let Some(asked) = served.seat.take_asked() {
                self.resyncs.change(served.id, asked.period, now);
                changed = true;
            }
        }
        if changed {
            self.note_periods();
        }
    }

    fn note_periods(&self) {
        for served in &self.seats {
            served.seat.set_resync(self.resyncs.period(served.id));
        }
    }

    fn process(&mut self) {
        let mut changes = std::mem::take(&mut self.changes);
        while intake::apply_next(&mut *self.queue, &mut self.indexer, &mut changes) {
            self.tell(&changes, |_| true);
            self.shared.stats.lock().changes += changes.len() as u64;
            changes.clear();
            // A first list is large, and never comes again.
            changes.shrink_to(kubist_cache::BATCH_MAX);
        }
        self.changes = changes;
        self.report_errors();
        let (before, synced) = (self.shared.standing(), self.indexer.has_synced());
        let state = match synced {
            _ if self.reflector.is_not_served() => InformerState::NotServed,
            true => InformerState::Synced,
            false => InformerState::Syncing,
        };
        self.shared.stand(state, synced);
        if synced && !before.has_synced {
            self.seats.iter().for_each(|served| served.seat.fill());
        }
    }

    /// Puts changes into the mailboxes of the chosen seats; those that have ended go.
    fn tell(&mut self, changes: &[Change<K>], chosen: impl Fn(&Served<K>) -> bool) {
        if changes.is_empty() || self.seats.is_empty() {
            return;
        }
        let hashes: Vec<NameHash> = changes.iter().map(NameHash::of).collect();
        let shared = &self.shared;
        self.seats.retain(|served| {
            if !chosen(served) || served.seat.push(hashes.iter().copied().zip(changes)) {
                return true;
            }
            if served.seat.current() == HandlerState::Overflowed {
                shared.stats.lock().handler_overflows += 1;
                let handler = served.seat.config.name.clone();
                shared.report(&Problem::HandlerOverflowed { handler });
            }
            false
        });
    }

    /// Tells every object again to those whose time has come.
    fn resync(&mut self) {
        let due = self.resyncs.take_due(self.started.elapsed());
        let mut changes = Vec::new();
        self.indexer.apply(Delta::SyncAll, &mut changes);
        self.tell(&changes, |served| due.contains(&served.id));
    }

    fn report_errors(&mut self) {
        for error in self.indexer.take_index_errors() {
            self.shared.report(&Problem::Index(error));
        }
        for error in self.indexer.take_budget_errors() {
            self.shared.report(&Problem::OverBudget(error));
        }
    }

    fn note_stats(&mut self) {
        let before = self.seats.len();
        self.seats.retain(|served| !served.seat.is_ended());
        if self.seats.len() < before {
            let seats = &self.seats;
            self.resyncs.retain(|id| seats.iter().any(|it| it.id == id));
        }
        let mut stats = self.shared.stats.lock();
        stats.reflector = self.reflector.stats();
        stats.objects = self.indexer.len();
        stats.handlers = self.seats.len();
        stats.budget = self.indexer.budget_stats();
        stats.index_errors = self.indexer.index_errors_total();
    }

    fn stop(&mut self) {
        self.shared.stop();
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
