//! `Shared`: what the handles of an informer and its running task share.
//!
//! Handles ask by commands, which the task carries out in order; the task answers by its standing
//! and its figures. Nobody here waits with a lock held.

use crate::handler_calls::{HandlerRunner, Panicked};
use crate::informer_state::{HandlerSummary, NOT_STARTED_AFTER, RunError, Standing, SyncError};
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
    /// Waits here until the informer runs.
    indexer: Mutex<Option<Indexer<K>>>,
    /// What handles ask of the task, in order; bounded by what callers hold.
    commands: Mutex<VecDeque<Command<K>>>,
    pub(crate) wake: Arc<Notify>,
    standing: watch::Sender<Standing>,
    pub(crate) stats: Mutex<InformerStats>,
    decodes: Arc<AtomicU64>,
    pub(crate) users: Users,
    /// What kept it from listing or watching last; none once that works.
    pub(crate) last_problem: Mutex<Option<Str>>,
    log: ProblemLog,
    /// Every handler that may not have ended, in order.
    roster: Mutex<Vec<Weak<Listener<K>>>>,
    /// Looks, from the first handler on, whether anybody runs the informer. It ends with the start,
    /// and with the last handle.
    start_watch: Mutex<Option<JoinSet<()>>>,
}

pub(crate) enum Command<K> {
    Listener(Arc<Listener<K>>, HandlerRunner<K>),
    Index(IndexHandle<K>),
}

impl<K> Shared<K> {
    pub(crate) fn standing(&self) -> Standing {
        *self.standing.borrow()
    }

    pub(crate) fn report(&self, problem: &Problem) {
        // One object that cannot be read keeps nothing else from coming.
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
            standing: watch::Sender::new(Standing {
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

    /// The usage of a new informer, which cannot have been given up.
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

    /// What a panic in a call of this listener's handler leads to.
    pub(crate) fn panicked(self: &Arc<Self>, listener: &Listener<K>) -> Panicked {
        let (shared, handler) = (Arc::clone(self), listener.config.name.clone());
        Arc::new(move |message| {
            shared.stats.lock().handler_panics += 1;
            let handler = handler.clone();
            shared.report(&Problem::HandlerPanicked { handler, message });
        })
    }

    pub(crate) fn add_seat(
        self: &Arc<Self>,
        config: HandlerConfig,
        usage: Arc<Usage>,
        attend: HandlerRunner<K>,
    ) -> Arc<Listener<K>> {
        let listener = Listener::new(config, Some(usage), Arc::clone(&self.wake));
        let mut roster = self.roster.lock();
        roster.retain(|it| it.upgrade().is_some_and(|listener| !listener.is_ended()));
        roster.push(Arc::downgrade(&listener));
        drop(roster);
        self.command(Command::Listener(Arc::clone(&listener), attend));
        self.watch_start();
        listener
    }

    /// Who waits for changes is told nothing of a start that was forgotten: so it is a problem.
    fn watch_start(self: &Arc<Self>) {
        let mut start_watch = self.start_watch.lock();
        if start_watch.is_some() || self.standing().state != InformerState::Created {
            return;
        }
        // Outside a runtime nothing can wait.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let (shared, mut standings) = (Arc::downgrade(self), self.standing.subscribe());
        let mut tasks = JoinSet::new();
        let watch = async move {
            let started = standings.wait_for(|it| it.state != InformerState::Created);
            if timeout(NOT_STARTED_AFTER, started).await.is_err()
                && let Some(shared) = shared.upgrade()
            {
                shared.report(&Problem::NotStarted);
            }
        };
        tasks.spawn_on(watch, &runtime);
        *start_watch = Some(tasks);
    }

    pub(crate) fn command(&self, command: Command<K>) {
        let mut commands = self.commands.lock();
        if self.standing().state == InformerState::Stopped {
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

    /// Where the informer stands from now on; a stopped one stays so.
    pub(crate) fn stand(&self, state: InformerState, has_synced: bool) {
        let new = Standing { state, has_synced };
        self.standing.send_if_modified(|now| {
            let changes = *now != new && now.state != InformerState::Stopped;
            if changes {
                *now = new;
            }
            changes
        });
    }

    /// The informer stops; what was asked of it will not be done.
    pub(crate) fn stop(&self) {
        // Under the lock of the commands, so that no handler is added to nobody.
        let mut commands = self.commands.lock();
        self.stand(InformerState::Stopped, self.standing().has_synced);
        let undone = std::mem::take(&mut *commands);
        drop(commands);
        for command in undone {
            if let Command::Listener(listener, _) = command {
                listener.end(HandlerState::Stopped);
            }
        }
    }

    /// Waits until the informer stands so, or stopped.
    pub(crate) async fn until(&self, reached: impl Fn(&Standing) -> bool) -> Standing {
        let mut standings = self.standing.subscribe();
        let reached = |it: &Standing| it.state == InformerState::Stopped || reached(it);
        match standings.wait_for(reached).await {
            Ok(standing) => *standing,
            // Not reached: the sender is a field of `self`.
            Err(_) => self.standing(),
        }
    }

    /// Waits until somebody runs it; false if nobody does.
    pub(crate) async fn started(&self) -> bool {
        let started = self.until(|it| it.state != InformerState::Created);
        timeout(NOT_STARTED_AFTER, started).await.is_ok()
    }

    /// [`InformerState::Created`] if nobody runs it.
    pub(crate) async fn settled(&self) -> InformerState {
        if !self.started().await {
            return self.standing().state;
        }
        let settled = |it: &Standing| it.has_synced || it.state == InformerState::NotServed;
        self.until(settled).await.state
    }

    pub(crate) async fn synced(&self) -> Result<(), SyncError> {
        if !self.started().await {
            return Err(SyncError::NotStarted);
        }
        let standing = self.until(|it| it.has_synced).await;
        let synced = standing.has_synced && standing.state != InformerState::Stopped;
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
