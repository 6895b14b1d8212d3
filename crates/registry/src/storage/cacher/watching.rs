//! One watch on a cache: first the history in the ring, then new events.
//!
//! History is read in batches, and the stream ends without an error when the ring has evicted the
//! next events. New events wait in a bounded buffer; a watch that was ended for slowness delivers
//! its buffer and ends.

use super::Shared;
use super::freshness::ProgressWaiter;
use super::watchers::{Dispatch, Place};
use futures_core::Stream;
use kubist_storage::{Event, KeyRange, Revision, Watch, WatchBatch, WatchError};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The batch size of history, as upstream.
const HISTORY_BATCH: usize = 100;
/// The revisions taken from the buffer at once.
const DELIVERY_BATCH: usize = 1000;

/// One watch on a cache.
pub(super) struct Watching {
    shared: Arc<Shared>,
    place: Place,
    range: KeyRange,
    /// The remaining history: after the first, up to the second.
    history: Option<(u64, u64)>,
    buffer: mpsc::Receiver<Arc<Dispatch>>,
    /// Events up to here are not delivered from the buffer.
    after: u64,
    waiter: Arc<ProgressWaiter>,
    generation: u64,
    taken: Vec<Arc<Dispatch>>,
}

/// The start of a watch.
pub(super) struct Begin {
    pub(super) place: Place,
    pub(super) range: KeyRange,
    /// The revision after which it starts.
    pub(super) after: u64,
    /// The end of its history.
    pub(super) until: u64,
    pub(super) buffer: mpsc::Receiver<Arc<Dispatch>>,
    pub(super) generation: u64,
}

type Item = Result<WatchBatch, WatchError>;

impl Watching {
    pub(super) fn start(shared: Arc<Shared>, begin: Begin) -> Watch {
        let waiter = Arc::new(ProgressWaiter::default());
        let weak = (Arc::downgrade(&shared), Arc::downgrade(&waiter));
        let watching = Self {
            shared,
            place: begin.place,
            range: begin.range,
            history: (begin.after < begin.until).then_some((begin.after, begin.until)),
            buffer: begin.buffer,
            after: begin.after.max(begin.until),
            waiter,
            generation: begin.generation,
            taken: Vec::new(),
        };
        Watch::new(watching, move || {
            if let (Some(shared), Some(waiter)) = (weak.0.upgrade(), weak.1.upgrade()) {
                shared.freshness.notify_on_progress(&waiter);
            }
        })
    }

    /// Returns the next batch of history; `None` if there is none left.
    fn next_history_batch(&mut self) -> Option<Poll<Option<Item>>> {
        let (after, until) = self.history?;
        let found = {
            let state = self.shared.state.lock();
            if state.generation != self.generation {
                return Some(Poll::Ready(None));
            }
            let content = state.content.as_ref();
            content.map(|it| it.events(after, until, HISTORY_BATCH))
        };
        let Some(Ok(events)) = found else {
            return Some(Poll::Ready(None));
        };
        let revision = events.last().map_or(until, |it| it.revision.0);
        self.history = (revision < until).then_some((revision, until));
        let events: Vec<_> = events
            .into_iter()
            .filter(|it| self.range.contains(&it.key))
            .collect();
        self.shared.counted().init_events.add(events.len());
        (!events.is_empty()).then(|| batch(revision, events))
    }

    fn buffered(&mut self, cx: &mut Context<'_>) -> Option<Poll<Option<Item>>> {
        // Loaded first: everything dispatched up to here is in the buffer by then.
        let dispatched = self.shared.dispatched.load(Ordering::Acquire);
        self.waiter.register(cx.waker());
        let mut taken = std::mem::take(&mut self.taken);
        let polled = self.buffer.poll_recv_many(cx, &mut taken, DELIVERY_BATCH);
        let mut events: Vec<Arc<Event>> = Vec::new();
        for dispatch in taken.drain(..) {
            let wanted =
                |it: &&Arc<Event>| it.revision.0 > self.after && self.range.contains(&it.key);
            events.extend(dispatch.events.iter().filter(wanted).cloned());
        }
        self.taken = taken;
        match polled {
            Poll::Ready(0) => Some(Poll::Ready(None)),
            Poll::Ready(_) => {
                let last = events.last()?.revision.0;
                Some(batch(last, events))
            }
            Poll::Pending if self.waiter.take() => {
                let revision = dispatched.max(self.after);
                Some(batch(revision, Vec::new()))
            }
            Poll::Pending => Some(Poll::Pending),
        }
    }
}

fn batch(revision: u64, events: Vec<Arc<Event>>) -> Poll<Option<Item>> {
    Poll::Ready(Some(Ok(WatchBatch {
        revision: Revision(revision),
        events,
    })))
}

impl Stream for Watching {
    type Item = Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        let this = self.get_mut();
        while this.history.is_some() {
            if let Some(polled) = this.next_history_batch() {
                return polled;
            }
        }
        loop {
            if let Some(polled) = this.buffered(cx) {
                return polled;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let removed = self.shared.state.lock().watchers.remove(&self.place);
        // Dropped only now, outside the lock.
        drop(removed);
    }
}
