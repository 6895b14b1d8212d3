//! `Listeners`: the handlers of one informer, as used by the informer's task, with their resyncs.
//!
//! An event goes into a handler's mailbox, or for a handler in place is a call at once. The task
//! yields after every few of them.

use crate::batch::Batch;
use crate::handler_calls::InPlace;
use crate::listener::Listener;
use crate::resync::Resyncs;
use crate::shared::Shared;
use crate::{CoopBudget, HandlerState, Problem};
use kubist_apimachinery::Object;
use kubist_cache::{ResourceEvent, Snapshot};
use std::sync::Arc;
use tokio::time::Instant;

/// The number of events for one mailbox before the next mailbox has its turn.
const CHANGES_AT_ONCE: usize = 64;

pub(crate) struct Listeners<K: Object> {
    shared: Arc<Shared<K>>,
    all: Vec<Attached<K>>,
    next_id: u64,
    resyncs: Resyncs,
    /// The budget of the informer's task.
    pub(crate) budget: CoopBudget,
    /// The turn of the task in which mailboxes last received events.
    offered_in: Option<Instant>,
    /// The start of the resync clock.
    started: Instant,
}

struct Attached<K: Object> {
    /// The handler's number for resyncs.
    id: u64,
    listener: Arc<Listener<K>>,
    in_place: Option<InPlace<K>>,
}

impl<K: Object> Attached<K> {
    /// Delivers some events; returns false once the listener has ended.
    async fn offer(&mut self, batch: &Arc<Batch<K>>, budget: &mut CoopBudget) -> bool {
        let Some(handler) = &mut self.in_place else {
            let goes_on = self.listener.push(batch);
            budget.yield_if_due().await;
            return goes_on;
        };
        for change in batch.changes() {
            if self.listener.is_ended() {
                return false;
            }
            handler.call(change.clone());
            budget.yield_if_due().await;
        }
        true
    }
}

impl<K: Object> Listeners<K> {
    pub(crate) fn new(shared: Arc<Shared<K>>) -> Self {
        Self {
            resyncs: Resyncs::new(shared.config.resync),
            budget: CoopBudget::start(),
            offered_in: None,
            started: Instant::now(),
            shared,
            all: Vec::new(),
            next_id: 0,
        }
    }

    /// Starts the resync clock.
    pub(crate) fn start(&mut self) {
        self.resyncs.start(self.started.elapsed());
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds a handler and delivers the existing objects to it as additions.
    pub(crate) async fn join(
        &mut self,
        listener: Arc<Listener<K>>,
        in_place: Option<InPlace<K>>,
        present: &Snapshot<K>,
        is_whole: bool,
    ) {
        let id = self.next_id;
        self.next_id += 1;
        // Added before any event is delivered, so that dropping this future ends every listener.
        self.all.push(Attached {
            id,
            listener,
            in_place,
        });
        let Some(attached) = self.all.last_mut() else {
            return;
        };
        let mut additions = present.iter().map(|object| ResourceEvent::Added {
            object: Arc::clone(object),
            initial: true,
        });
        loop {
            let some: Vec<_> = additions.by_ref().take(CHANGES_AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            let batch = Arc::new(Batch::new(some));
            if !attached.offer(&batch, &mut self.budget).await {
                break;
            }
        }
        if is_whole {
            attached.listener.fill();
        }
        let asked = attached.listener.config.resync;
        self.resyncs.join(id, asked, self.started.elapsed());
        self.note_periods();
    }

    /// Applies the resync periods that handles requested.
    pub(crate) fn change_periods(&mut self) {
        let now = self.started.elapsed();
        let mut changed = false;
        for attached in &self.all {
            if let Some(asked) = attached.listener.take_requested() {
                self.resyncs.change(attached.id, asked.period, now);
                changed = true;
            }
        }
        if changed {
            self.note_periods();
        }
    }

    fn note_periods(&self) {
        for attached in &self.all {
            attached
                .listener
                .set_resync(self.resyncs.period(attached.id));
        }
    }

    /// Returns when [`Self::resync`] is to be called next.
    pub(crate) fn resync_due(&self) -> Option<Instant> {
        self.resyncs.due().map(|due| self.started + due)
    }

    /// Delivers every object again to the handlers whose resync is due.
    pub(crate) async fn resync(&mut self, present: &Snapshot<K>) {
        let due = self.resyncs.take_due(self.started.elapsed());
        let objects: Vec<_> = present.iter().collect();
        for some in objects.chunks(CHANGES_AT_ONCE) {
            let again = some
                .iter()
                .map(|it| ResourceEvent::Resynced(Arc::clone(it)));
            let batch = Arc::new(Batch::new(again.collect()));
            self.offer(&batch, |id| due.contains(&id)).await;
        }
    }

    /// Delivers events to all handlers. Without handlers, it leaves them to the caller.
    pub(crate) async fn notify(&mut self, changes: &mut Vec<ResourceEvent<K>>) {
        // Applying a long list or batch took time too.
        self.budget.yield_if_due().await;
        if self.all.is_empty() {
            return;
        }
        let mut changes = changes.drain(..);
        loop {
            let some: Vec<_> = changes.by_ref().take(CHANGES_AT_ONCE).collect();
            if some.is_empty() {
                return;
            }
            if self.offered_in == Some(self.budget.turn()) {
                // Mailboxes that handlers have emptied need not merge these events.
                self.budget.yield_now().await;
            }
            let batch = Arc::new(Batch::new(some));
            self.offer(&batch, |_| true).await;
            let has_mailboxes = self.all.iter().any(|it| it.in_place.is_none());
            self.offered_in = has_mailboxes.then(|| self.budget.turn());
        }
    }

    /// Delivers a batch to the selected handlers and removes those that have ended.
    async fn offer(
        &mut self,
        batch: &Arc<Batch<K>>,
        is_chosen: impl Fn(u64) -> bool + Send + Sync,
    ) {
        let mut index = 0;
        while let Some(attached) = self.all.get_mut(index) {
            if !is_chosen(attached.id) || attached.offer(batch, &mut self.budget).await {
                index += 1;
            } else {
                let ended = self.all.remove(index);
                self.note_end(&ended);
            }
        }
    }

    fn note_end(&mut self, ended: &Attached<K>) {
        self.resyncs.retain(|id| id != ended.id);
        if ended.listener.current() == HandlerState::Overflowed {
            self.shared.stats.lock().handler_overflows += 1;
            let handler = ended.listener.config.name.clone();
            self.shared.report(&Problem::HandlerOverflowed { handler });
        }
    }

    /// Marks the first list as delivered.
    pub(crate) fn fill(&self) {
        self.all
            .iter()
            .for_each(|attached| attached.listener.fill());
    }

    /// Removes handlers that have ended.
    pub(crate) fn prune(&mut self) {
        let before = self.all.len();
        self.all.retain(|attached| !attached.listener.is_ended());
        if self.all.len() < before {
            let all = &self.all;
            self.resyncs.retain(|id| all.iter().any(|it| it.id == id));
        }
    }

    /// Ends all listeners.
    pub(crate) fn stop(&mut self) {
        for attached in self.all.drain(..) {
            attached.listener.end(HandlerState::Stopped);
        }
    }
}
