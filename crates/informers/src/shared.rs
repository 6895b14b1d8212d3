//! `Shared`: the state that an informer's handles and its task share.
//!
//! Handles send commands, which the task carries out in order; the task publishes its state and
//! figures. No lock is held while waiting.

use crate::handler_calls::{HandlerRunner, Panicked};
use crate::informer_state::{HandlerSummary, NOT_STARTED_AFTER, RunError, Status, SyncError};
use crate::listener::Listener;
use crate::problem_log::ProblemLog;
use crate::usage::{Usage, Users};
use crate::{HandlerConfig, HandlerState, InformerConfig, InformerState, InformerStats, Problem};
use kubist_apimachinery::{Object, Str};
use kubist_cache::{IndexHandle, Indexer, Lister, ListerWatcher};
use kubist_reflector::Report;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

pub(crate) struct Shared<K> {
    pub(crate) config: InformerConfig<K>,
    pub(crate) source: Arc<dyn ListerWatcher<K>>,
    pub(crate) lister: Lister<K>,
    /// Stored here until the informer runs.
    indexer: Mutex<Option<Indexer<K>>>,
    /// The commands of handles, in order; bounded by the handles' callers.
    commands: Mutex<VecDeque<Command<K>>>,
    pub(crate) wake: Arc<Notify>,
    status: watch::Sender<Status>,
    pub(crate) stats: Mutex<InformerStats>,
    decodes: Arc<AtomicU64>,
    pub(crate) users: Users,
    /// The last problem of a list or watch; cleared once that works.
    pub(crate) last_problem: Mutex<Option<Str>>,
    log: ProblemLog,
    /// All handlers that may not have ended, in order.
    roster: Mutex<Vec<Weak<Listener<K>>>>,
    /// From the first handler on, checks whether the informer is run. It ends with the start, and
    /// with the last handle.
    start_watch: Mutex<Option<JoinSet<()>>>,
}

pub(crate) enum Command<K> {
    Listener(Arc<Listener<K>>, HandlerRunner<K>),
    Index(IndexHandle<K>),
}

impl<K> Shared<K> {
    pub(crate) fn status(&self) -> Status {
        *self.status.borrow()
    }

    pub(crate) fn report(&self, problem: &Problem) {
        // An object that cannot be decoded does not affect the others.
        let hinders = !matches!(problem, Problem::Fetch(Report::Invalid(_)));
        if hinders && matches!(problem, Problem::Fetch(_)) {
            *self.last_problem.lock() = Some(problem.to_string().into());
        }
        match &self.config.on_problem {
            Some(on_problem) => on_problem(problem),
            None => self.log.log(&self.config.name, problem),
        }
    }
}

impl<K: Object> Shared<K> {
    pub(crate) fn new(
        source: Arc<dyn ListerWatcher<K>>,
        config: InformerConfig<K>,
        decodes: Arc<AtomicU64>,
    ) -> Self {
        let mut indexer = Indexer::new();
        if let Some(budget) = &config.budget {
            budget.limit(&mut indexer);
        }
        Self {
            config,
            source,
            lister: indexer.lister(),
            indexer: Mutex::new(Some(indexer)),
            commands: Mutex::new(VecDeque::new()),
            wake: Arc::default(),
            status: watch::Sender::new(Status {
                state: InformerState::Created,
                has_synced: false,
            }),
            stats: Mutex::new(InformerStats::default()),
            decodes,
            users: Users::new(),
            last_problem: Mutex::default(),
            log: ProblemLog::default(),
            roster: Mutex::new(Vec::new()),
            start_watch: Mutex::new(None),
        }
    }

    /// Creates the usage of a new informer, which cannot have stopped.
    pub(crate) fn new_usage(&self) -> Arc<Usage> {
        self.users
            .acquire()
            .expect("only a factory gives informers up, and later")
    }

    /// Takes the indexer for the run.
    ///
    /// # Errors
    /// The informer was started before.
    pub(crate) fn take_indexer(&self) -> Result<Indexer<K>, RunError> {
        self.indexer.lock().take().ok_or(RunError::StartedBefore)
    }

    /// Returns the callback for panics of a listener's handler.
    pub(crate) fn panicked(self: &Arc<Self>, listener: &Listener<K>) -> Panicked {
        let (shared, handler) = (Arc::clone(self), listener.config.name.clone());
        Arc::new(move |message| {
            shared.stats.lock().handler_panics += 1;
            let handler = handler.clone();
            shared.report(&Problem::HandlerPanicked { handler, message });
        })
    }

    pub(crate) fn add_listener(
        self: &Arc<Self>,
        config: HandlerConfig,
        usage: Arc<Usage>,
        runner: HandlerRunner<K>,
    ) -> Arc<Listener<K>> {
        let listener = Listener::new(config, Some(usage), Arc::clone(&self.wake));
        let mut roster = self.roster.lock();
        roster.retain(|it| it.upgrade().is_some_and(|listener| !listener.is_ended()));
        roster.push(Arc::downgrade(&listener));
        drop(roster);
        self.command(Command::Listener(Arc::clone(&listener), runner));
        self.watch_start();
        listener
    }

    /// Reports a problem if nobody starts the informer, because handlers would wait in vain.
    fn watch_start(self: &Arc<Self>) {
        let mut start_watch = self.start_watch.lock();
        if start_watch.is_some() || self.status().state != InformerState::Created {
            return;
        }
        // Outside a runtime there is no timer.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let (shared, mut statuses) = (Arc::downgrade(self), self.status.subscribe());
        let mut tasks = JoinSet::new();
        let watch = async move {
            let started = statuses.wait_for(|it| it.state != InformerState::Created);
            if timeout(NOT_STARTED_AFTER, started).await.is_err()
                && let Some(shared) = shared.upgrade()
            {
                shared.report(&Problem::NotStarted);
            }
        };
        tasks.spawn_on(watch, &runtime);
        *start_watch = Some(tasks);
    }

    /// Ends that check: the informer is run.
    pub(crate) fn end_start_watch(&self) {
        drop(self.start_watch.lock().take());
    }

    pub(crate) fn command(&self, command: Command<K>) {
        let mut commands = self.commands.lock();
        if self.status().state == InformerState::Stopped {
            drop(commands);
            if let Command::Listener(listener, _) = command {
                listener.end(HandlerState::Stopped);
            }
            return;
        }
        commands.push_back(command);
        drop(commands);
        self.wake.notify_one();
    }

    pub(crate) fn next_command(&self) -> Option<Command<K>> {
        self.commands.lock().pop_front()
    }

    /// Sets the informer's state; a stopped informer stays stopped.
    pub(crate) fn set_state(&self, state: InformerState, has_synced: bool) {
        let new = Status { state, has_synced };
        self.status.send_if_modified(|now| {
            let changes = *now != new && now.state != InformerState::Stopped;
            if changes {
                *now = new;
            }
            changes
        });
    }

    /// Stops the informer and drops its pending commands.
    pub(crate) fn stop(&self) {
        // Under the lock of the commands, so that no handler is added afterwards.
        let mut commands = self.commands.lock();
        self.set_state(InformerState::Stopped, self.status().has_synced);
        let undone = std::mem::take(&mut *commands);
        drop(commands);
        for command in undone {
            if let Command::Listener(listener, _) = command {
                listener.end(HandlerState::Stopped);
            }
        }
    }

    /// Waits until a condition holds or the informer has stopped.
    pub(crate) async fn until(&self, reached: impl Fn(&Status) -> bool) -> Status {
        let mut statuses = self.status.subscribe();
        let reached = |it: &Status| it.state == InformerState::Stopped || reached(it);
        match statuses.wait_for(reached).await {
            Ok(status) => *status,
            // Unreachable: the sender is a field of `self`.
            Err(_) => self.status(),
        }
    }

    /// Waits until the informer is run; returns false if nobody runs it.
    pub(crate) async fn started(&self) -> bool {
        let started = self.until(|it| it.state != InformerState::Created);
        timeout(NOT_STARTED_AFTER, started).await.is_ok()
    }

    /// Returns [`InformerState::Created`] if nobody runs it.
    pub(crate) async fn settled(&self) -> InformerState {
        if !self.started().await {
            return self.status().state;
        }
        let settled = |it: &Status| it.has_synced || it.state == InformerState::NotServed;
        self.until(settled).await.state
    }

    pub(crate) async fn synced(&self) -> Result<(), SyncError> {
        if !self.started().await {
            return Err(SyncError::NotStarted);
        }
        let status = self.until(|it| it.has_synced).await;
        let synced = status.has_synced && status.state != InformerState::Stopped;
        synced.then_some(()).ok_or_else(|| SyncError::Stopped {
            problem: self.last_problem.lock().clone(),
        })
    }

    pub(crate) fn stats(&self) -> InformerStats {
        let mut stats = *self.stats.lock();
        stats.full_decodes = self.decodes.load(Ordering::Relaxed);
        stats
    }

    pub(crate) fn handlers(&self) -> Vec<HandlerSummary> {
        let roster = self.roster.lock();
        let listeners = roster.iter().filter_map(Weak::upgrade);
        let summary = |listener: Arc<Listener<K>>| HandlerSummary {
            name: listener.config.name.clone(),
            state: listener.current(),
            waiting: listener.waiting(),
            handled: listener.handled.load(Ordering::Relaxed),
            panics: listener.panics.load(Ordering::Relaxed),
            resync: listener.resync(),
        };
        listeners
            .filter(|listener| !listener.is_ended())
            .map(summary)
            .collect()
    }
}
