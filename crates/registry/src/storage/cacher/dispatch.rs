//! Dispatches events to interested watchers. A slow watcher delays the others only briefly.

use super::Shared;
use super::time_budget::TimeBudget;
use super::watchers::{Dispatch, Outlet};
use kubist_apimachinery::Str;
use kubist_storage::{Event, EventKind, KeyValue};
use std::cmp::Ordering;
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, timeout_at};

impl Shared {
    /// Applies all events of one revision, and dispatches them.
    pub(super) async fn take(&self, events: &[Arc<Event>], budget: &mut TimeBudget) {
        let now = Instant::now();
        let Some(revision) = events.last().map(|it| it.revision.0) else {
            return;
        };
        let values = self.values(events);
        let mut wanting = Vec::new();
        self.counted().events_received.add(events.len());
        let taken = {
            let mut state = self.state.lock();
            let Some(content) = &mut state.content else {
                return;
            };
            let capacity = content.capacity();
            let taken: Vec<_> = events
                .iter()
                .filter_map(|event| content.apply(event, now))
                .collect();
            self.count_capacity(capacity, content.capacity());
            content.reached(revision);
            let (keys, watchers) = (self.raw.codec.keys(), &state.watchers);
            let values = values.unwrap_or_else(|| watchers.values());
            for event in &taken {
                watchers.interested(&event.key, keys, &values, &mut wanting);
            }
            taken
        };
        self.counted().events_dispatched.add(taken.len());
        self.freshness.reach(revision);
        if taken.len() > 1 {
            wanting.sort_by_key(|it| Arc::as_ptr(it).addr());
            wanting.dedup_by_key(|it| Arc::as_ptr(it).addr());
        }
        let dispatch = Arc::new(Dispatch { events: taken });
        let slow = offer(wanting, &dispatch);
        if !slow.is_empty() {
            self.wait_for(slow, &dispatch, budget).await;
        }
    }

    fn count_capacity(&self, before: usize, now: usize) {
        match now.cmp(&before) {
            Ordering::Greater => self.counted().capacity_increases.add(1),
            Ordering::Less => self.counted().capacity_decreases.add(1),
            Ordering::Equal => {}
        }
    }

    /// Returns the old and new values of the indexed field, if any watcher selects by it, for all
    /// events of one revision together: that may dispatch too much, but never too little. `None` if
    /// an object cannot be decoded, so that any value is possible.
    fn values(&self, events: &[Arc<Event>]) -> Option<Vec<Str>> {
        let Some(field) = self.config.indexed_field else {
            return Some(Vec::new());
        };
        if !self.state.lock().watchers.have_values() {
            return Some(Vec::new());
        }
        let mut values: Vec<Str> = Vec::new();
        let mut unknown = false;
        let mut add = |kv: &KeyValue| {
            let stored = self.raw.codec.stored(kv);
            let Ok(object) = stored.object() else {
                unknown = true;
                return;
            };
            let value = self.strategy.field(&**object, field);
            if !values.iter().any(|it| **it == *value) {
                values.push(Str::from(&*value));
            }
        };
        for event in events {
            if let EventKind::Put(kv) = &event.kind {
                add(kv);
            }
            let cached = || {
                self.state
                    .lock()
                    .content
                    .as_ref()?
                    .tree()
                    .get(&event.key)
                    .cloned()
            };
            if let Some(old) = event.previous.clone().or_else(cached) {
                add(&old);
            }
        }
        (!unknown).then_some(values)
    }

    /// Waits for watchers with full buffers, in total no longer than the budget allows, and ends
    /// those that are still full.
    async fn wait_for(
        &self,
        slow: Vec<Arc<Outlet>>,
        dispatch: &Arc<Dispatch>,
        budget: &mut TimeBudget,
    ) {
        let begun = Instant::now();
        let deadline = begun + budget.take(begun);
        for outlet in slow {
            let sent = timeout_at(deadline, outlet.buffer.send(Arc::clone(dispatch))).await;
            if sent.is_err() {
                let ended = self.state.lock().watchers.remove(&outlet.place);
                // A watcher that has left is no longer registered.
                let ended_here = usize::from(ended.is_some());
                self.counted().watchers_terminated.add(ended_here);
                drop(ended);
            }
        }
        budget.return_unused(deadline.saturating_duration_since(Instant::now()));
    }
}

/// Sends to watchers with room. Returns those without.
fn offer(wanting: Vec<Arc<Outlet>>, dispatch: &Arc<Dispatch>) -> Vec<Arc<Outlet>> {
    let mut slow = Vec::new();
    for outlet in wanting {
        match outlet.buffer.try_send(Arc::clone(dispatch)) {
            // A closed watcher is about to be removed.
            Ok(()) | Err(TrySendError::Closed(_)) => {}
            Err(TrySendError::Full(_)) => slow.push(outlet),
        }
    }
    slow
}
