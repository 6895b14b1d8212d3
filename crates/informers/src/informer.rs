//! `Informer`: one watch and one store, driven by one reader.
//!
//! It has no task: the reader drives the watch, which is read only when everything before it has
//! been returned. So a slow reader slows down the watch through the connection to the server, and
//! no backlog builds up: at most one list or one watch batch is pending, which the store holds as
//! well. It has no handlers, merges nothing and spawns nothing. For several readers, use
//! [`SharedInformer`](crate::SharedInformer).

use crate::intake::{self, Intake, Step};
use crate::problem_log::ProblemLog;
use crate::resync::Resyncs;
use crate::{CoopBudget, InformerConfig, InformerState, OnProblem, Problem};
use futures_core::Stream;
use kubist_apimachinery::Object;
use kubist_cache::{
    Delta, Index, IndexHandle, Indexer, Lister, ListerWatcher, Queue, ResourceEvent,
};
use kubist_reflector::Reflector;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep};

/// The number of the reader for resyncs.
const READER: u64 = 0;

/// An event for the reader of an [`Informer`].
#[expect(clippy::exhaustive_enums, reason = "a reader must handle each")]
pub enum InformerEvent<K> {
    /// A change that the store shows.
    Resource(ResourceEvent<K>),
    /// All of the first list was returned; sent once.
    Synced,
}

/// One watch and one store with one reader. It is a [`Stream`] of [`InformerEvent`] that never
/// ends; dropping it ends the watch.
///
/// The store is ahead of the reader by the pending events at most. A list that follows an expired
/// version is returned as the changes it made, including deletions. Problems go to
/// [`InformerConfig::on_problem`]; the informer recovers by itself.
///
/// If the reader pauses for longer than the server keeps a watch open, the watch is resumed from
/// the last version, or the informer lists again if that version has expired.
///
/// Resyncs require [`Resync::Checked`](crate::Resync::Checked), whose period applies to this
/// reader. Resyncs that became due during a pause are merged into one.
pub struct Informer<K: Object> {
    indexer: Indexer<K>,
    reflector: Reflector<K>,
    queue: Box<dyn Queue<K>>,
    on_problem: OnProblem,
    resyncs: Resyncs,
    /// The start of the resync clock.
    started: Instant,
    alarm: Option<Pin<Box<Sleep>>>,
    intake: Intake<K>,
    /// The changes made by a list that is not complete yet.
    changes: Vec<ResourceEvent<K>>,
    waiting: std::vec::IntoIter<ResourceEvent<K>>,
    synced_reported: bool,
    /// Makes a reader that never pauses yield now and then.
    budget: CoopBudget,
}

impl<K: Object> Informer<K> {
    /// Creates an informer that has read nothing yet.
    pub fn new(source: Arc<dyn ListerWatcher<K>>, config: InformerConfig<K>) -> Self {
        let mut indexer = Indexer::new();
        if let Some(budget) = &config.budget {
            budget.limit(&mut indexer);
        }
        let (reflector, queue) = intake::open(source, &config, &mut indexer);
        let mut resyncs = Resyncs::new(config.resync);
        let now = std::time::Duration::ZERO;
        resyncs.join(READER, None, now);
        resyncs.start(now);
        Self {
            indexer,
            reflector,
            queue,
            on_problem: config.on_problem.unwrap_or_else(|| logged(config.name)),
            resyncs,
            started: Instant::now(),
            alarm: None,
            intake: Intake::default(),
            changes: Vec::new(),
            waiting: Vec::new().into_iter(),
            synced_reported: false,
            budget: CoopBudget::start(),
        }
    }

    /// Returns the next event.
    ///
    /// # Cancel safety
    /// Safe: a dropped future loses nothing.
    pub async fn next(&mut self) -> InformerEvent<K> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Returns a lister of the store. It can be used anywhere; it does not drive the watch.
    pub fn lister(&self) -> Lister<K> {
        self.indexer.lister()
    }

    /// Adds an index at any time.
    pub fn add_index(&mut self, index: Index<K>) -> IndexHandle<K> {
        let handle = IndexHandle::new(index);
        // Nothing else may be written within a list; no earlier events are pending.
        while self.intake.is_within_list() {
            let (queue, changes) = (&mut *self.queue, &mut self.changes);
            if self.intake.step(queue, &mut self.indexer, changes) == Step::Batch {
                self.waiting = std::mem::take(changes).into_iter();
            }
        }
        self.indexer.build_index(&handle);
        self.indexer.publish();
        self.report_errors();
        handle
    }

    /// Returns the state, which is never [`InformerState::Stopped`].
    pub fn state(&self) -> InformerState {
        match self.indexer.has_synced() {
            _ if self.reflector.is_not_served() => InformerState::NotServed,
            true => InformerState::Synced,
            false => InformerState::Syncing,
        }
    }

    /// Returns the figures of lists and watches.
    pub fn stats(&self) -> kubist_reflector::Stats {
        self.reflector.stats()
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<InformerEvent<K>> {
        loop {
            if !self.waiting.as_slice().is_empty() {
                ready!(self.budget.poll_yield(cx));
            }
            if let Some(change) = self.waiting.next() {
                return Poll::Ready(InformerEvent::Resource(change));
            }
            if !self.synced_reported && self.indexer.has_synced() {
                self.synced_reported = true;
                return Poll::Ready(InformerEvent::Synced);
            }
            let (queue, changes) = (&mut *self.queue, &mut self.changes);
            let step = self.intake.step(queue, &mut self.indexer, changes);
            if step == Step::Batch || (step == Step::Idle && self.poll_resync(cx)) {
                self.report_errors();
                self.waiting = std::mem::take(&mut self.changes).into_iter();
                continue;
            }
            ready!(self.budget.poll_yield(cx));
            if step == Step::Idle {
                ready!(self.poll_step(cx));
            }
        }
    }

    /// Drives the reflector by one step.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let on_problem = &self.on_problem;
        let mut report = |report| on_problem(&Problem::Fetch(report));
        pin!(self.reflector.step(&mut *self.queue, &mut report)).poll(cx)
    }

    /// Reports whether a resync was due; its events are in `changes` then.
    fn poll_resync(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(due) = self.resyncs.due() else {
            return false;
        };
        let due = self.started + due;
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if alarm.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.alarm = None;
        self.resyncs.take_due(self.started.elapsed());
        self.indexer.apply(Delta::SyncAll, &mut self.changes);
        true
    }

    fn report_errors(&mut self) {
        let index = self.indexer.take_index_errors().into_iter();
        let budget = self.indexer.take_budget_errors().into_iter();
        let problems = index.map(Problem::Index);
        for problem in problems.chain(budget.map(Problem::OverBudget)) {
            (self.on_problem)(&problem);
        }
    }
}

/// The default callback, which logs.
fn logged(name: kubist_apimachinery::Str) -> OnProblem {
    let log = ProblemLog::default();
    Arc::new(move |problem| log.log(&name, problem))
}

impl<K: Object> Stream for Informer<K> {
    type Item = InformerEvent<K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<InformerEvent<K>>> {
        self.get_mut().poll_event(cx).map(Some)
    }
}

impl<K: Object> fmt::Debug for InformerEvent<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(change) => change.fmt(f),
            Self::Synced => f.write_str("Synced"),
        }
    }
}

impl<K: Object> fmt::Debug for Informer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
