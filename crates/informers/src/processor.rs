//! `Processor`: the task of an informer. It owns the indexer and the queue, and is the only writer.
//!
//! Each turn waits for an event, a command or a resync. It then applies everything queued,
//! publishes it, and notifies the handlers, in this order. So the queue never holds more than what
//! one burst of the stream brought.

use crate::handler_calls::{HandlerRunner, InPlace};
use crate::informer_state::RunError;
use crate::intake::{self, Intake, Step};
use crate::listener::Listener;
use crate::listeners::Listeners;
use crate::shared::{Command, Shared};
use crate::{InformerState, Problem};
use kubist_apimachinery::{Object, Str};
use kubist_cache::{IndexHandle, Indexer, Queue, ResourceEvent};
use kubist_reflector::Reflector;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

struct Processor<K: Object> {
    shared: Arc<Shared<K>>,
    indexer: Indexer<K>,
    reflector: Reflector<K>,
    queue: Box<dyn Queue<K>>,
    intake: Intake<K>,
    listeners: Listeners<K>,
    handlers: JoinSet<()>,
    /// The number of lists, events and bookmarks so far.
    came: u64,
    /// The problem that was last reported to those who wait for the store.
    reported_problem: Option<Str>,
    /// Reused by every batch.
    changes: Vec<ResourceEvent<K>>,
}

/// What ended the wait of a turn.
enum Turn {
    Stop,
    Command,
    Resync,
    Changes,
}

/// Runs an informer until `token` is cancelled.
///
/// # Errors
/// The informer was started before.
pub(crate) async fn run<K: Object>(
    shared: &Arc<Shared<K>>,
    token: CancellationToken,
) -> Result<(), RunError> {
    let indexer = shared.take_indexer()?;
    let span = tracing::info_span!("informer", informer = %shared.config.name);
    // Boxed: a future holds what it is made of several times, and a process has many informers.
    let processor = Box::new(Processor::new(Arc::clone(shared), indexer));
    processor.run(token).instrument(span).await;
    Ok(())
}

impl<K: Object> Processor<K> {
    fn new(shared: Arc<Shared<K>>, mut indexer: Indexer<K>) -> Self {
        let source = Arc::clone(&shared.source);
        let (reflector, queue) = intake::open(source, &shared.config, &mut indexer);
        Self {
            listeners: Listeners::new(Arc::clone(&shared)),
            shared,
            indexer,
            reflector,
            queue,
            intake: Intake::default(),
            handlers: JoinSet::new(),
            came: 0,
            reported_problem: None,
            changes: Vec::new(),
        }
    }

    async fn run(mut self: Box<Self>, token: CancellationToken) {
        self.shared.set_state(InformerState::Syncing, false);
        self.shared.end_start_watch();
        // Handlers that were added before the start may shorten the resync check.
        self.run_commands().await;
        self.listeners.start();
        loop {
            let mut budget = std::mem::take(&mut self.listeners.budget);
            let turn = budget.track(self.turn(&token)).await;
            self.listeners.budget = budget;
            match turn {
                Turn::Stop => break,
                Turn::Command => self.run_commands().await,
                Turn::Resync => self.listeners.resync(&self.indexer.snapshot()).await,
                Turn::Changes => {
                    self.take_ready().await;
                    // Handlers and indexes that were added meanwhile come first, so that they
                    // receive these events like all others.
                    self.run_commands().await;
                    self.process().await;
                }
            }
            self.note_stats();
            tokio::task::consume_budget().await;
        }
        self.stop();
        // Waits for the store end here; otherwise a handler that waits could not end.
        drop(std::mem::take(&mut self.indexer));
        while self.handlers.join_next().await.is_some() {}
    }

    async fn turn(&mut self, token: &CancellationToken) -> Turn {
        let due = self.listeners.resync_due();
        let shared = &self.shared;
        // Reported at once: a step may be dropped for a command.
        let mut report = |it| shared.report(&Problem::Fetch(it));
        tokio::select! {
            biased;
            () = token.cancelled() => Turn::Stop,
            () = shared.wake.notified() => Turn::Command,
            () = sleep_until(due) => Turn::Resync,
            () = self.reflector.step(&mut *self.queue, &mut report) => Turn::Changes,
        }
    }

    /// Takes what came with the first change: a batch costs little more than one of its changes.
    async fn take_ready(&mut self) {
        let shared = &self.shared;
        let mut report = |it| shared.report(&Problem::Fetch(it));
        self.reflector
            .step_while_ready(&mut *self.queue, &mut report)
            .await;
    }

    /// Carries out the commands of handles.
    async fn run_commands(&mut self) {
        self.listeners.prune();
        while let Some(_finished) = self.handlers.try_join_next() {}
        while let Some(command) = self.shared.next_command() {
            match command {
                Command::Index(handle) => self.index(&handle).await,
                Command::Listener(listener, runner) => self.listener(listener, runner).await,
            }
        }
        self.listeners.change_periods();
        self.report_errors();
    }

    async fn index(&mut self, handle: &IndexHandle<K>) {
        let Some(mut indexing) = self.indexer.begin_index(handle) else {
            return;
        };
        while !self.indexer.index_step(&mut indexing, intake::AT_ONCE) {
            self.listeners.budget.yield_if_due().await;
        }
        self.indexer.publish();
    }

    async fn listener(&mut self, listener: Arc<Listener<K>>, runner: HandlerRunner<K>) {
        let panicked = self.shared.panicked(&listener);
        let (serve, in_place) = match runner {
            HandlerRunner::Caller => (None, None),
            HandlerRunner::Task(serve) => (Some(serve), None),
            HandlerRunner::InPlace(handler) => {
                let in_place = InPlace::begin(&listener, handler, Arc::clone(&panicked));
                (None, Some(in_place))
            }
        };
        let (present, is_whole) = (self.indexer.snapshot(), self.indexer.has_synced());
        self.listeners
            .join(Arc::clone(&listener), in_place, &present, is_whole)
            .await;
        if let Some(serve) = serve {
            self.handlers.spawn(serve(listener, panicked));
        }
    }

    async fn process(&mut self) {
        let mut changes = std::mem::take(&mut self.changes);
        loop {
            let (queue, indexer) = (&mut *self.queue, &mut self.indexer);
            match self.intake.step(queue, indexer, &mut changes) {
                Step::Idle => break,
                Step::Partial => self.listeners.budget.yield_if_due().await,
                Step::Batch => {
                    self.shared.stats.lock().changes += changes.len() as u64;
                    self.listeners.notify(&mut changes).await;
                    // Previous states that nobody holds are freed here.
                    while !changes.is_empty() {
                        changes.truncate(changes.len().saturating_sub(intake::AT_ONCE));
                        self.listeners.budget.yield_if_due().await;
                    }
                    // The first list is large and does not recur.
                    changes.shrink_to(kubist_cache::BATCH_MAX);
                }
            }
        }
        self.changes = changes;
        self.report_errors();
        let (before, synced) = (self.shared.status(), self.indexer.has_synced());
        let state = match synced {
            _ if self.reflector.is_not_served() => InformerState::NotServed,
            true => InformerState::Synced,
            false => InformerState::Syncing,
        };
        self.shared.set_state(state, synced);
        self.note_health();
        if synced && !before.has_synced {
            self.listeners.fill();
        }
    }

    /// Passes the current problem to those who wait for the store.
    fn note_health(&mut self) {
        let mut last = self.shared.last_problem.lock();
        let fetches = self.reflector.stats();
        let came = fetches.lists + fetches.events + fetches.bookmarks;
        if came > std::mem::replace(&mut self.came, came) {
            *last = None;
        }
        let problem = last.clone();
        drop(last);
        if problem != self.reported_problem {
            self.reported_problem.clone_from(&problem);
            self.indexer.set_problem(problem);
        }
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
        self.listeners.prune();
        let mut stats = self.shared.stats.lock();
        stats.reflector = self.reflector.stats();
        stats.objects = self.indexer.len();
        stats.handlers = self.listeners.len();
        stats.budget = self.indexer.budget_stats();
        stats.index_errors = self.indexer.index_errors_total();
    }

    fn stop(&mut self) {
        self.shared.stop();
        self.listeners.stop();
    }
}

/// Dropping `run` stops the informer too: handles must not wait in vain.
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
