//! `Watcher`: a watch on the memory engine: a position in history.
//!
//! It holds no events. At the current revision it reads its topic; further back it reads the log,
//! until it has caught up or the log was compacted past it.

use super::Shared;
use super::topic::{Read, Topic};
use super::versions::Scan;
use crate::{Event, KeyRange, Revision, WatchBatch, WatchError};
use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// Number of log events scanned under the lock.
const SCANNED_AT_ONCE_MAX: u64 = 1024;
/// Number of scans before the task yields.
const SCANS_PER_POLL_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    topic: Arc<Topic>,
    slot: usize,
    /// The next revision to deliver.
    position: Revision,
    progress: Arc<Progress>,
    /// Set at the start: the watch then ends with it.
    failed: Option<WatchError>,
    ended: bool,
}

/// Whether progress was requested for a watch.
#[derive(Debug)]
pub(crate) struct Progress {
    wanted: AtomicBool,
    topic: Arc<Topic>,
    slot: usize,
}

impl Progress {
    pub(crate) fn request(&self) {
        self.wanted.store(true, Ordering::Release);
        self.topic.wake(self.slot);
    }
}

type Item = Result<WatchBatch, WatchError>;

impl Watcher {
    pub(crate) fn start(
        shared: &Arc<Shared>,
        range: KeyRange,
        from: Option<Revision>,
    ) -> Result<Self, WatchError> {
        let mut state = shared.state.write();
        if state.closed {
            return Err(WatchError::Closed);
        }
        let (head, compacted) = (state.versions.revision(), state.versions.compacted());
        let topic = state.topics.join(range, head);
        let slot = topic.join();
        drop(state);
        let position = from.unwrap_or_else(|| head.next());
        let failed = (position < compacted).then_some(WatchError::Compacted {
            requested: position,
            compacted,
        });
        let wanted = AtomicBool::new(false);
        let progress = Arc::new(Progress {
            wanted,
            topic: Arc::clone(&topic),
            slot,
        });
        let shared = Arc::clone(shared);
        Ok(Self {
            shared,
            topic,
            slot,
            position,
            progress,
            failed,
            ended: false,
        })
    }

    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Tries to find something to deliver. `None` means to try again.
    fn step(&mut self, cx: &Context<'_>) -> Option<Poll<Item>> {
        // Read before the topic: everything up to this revision is in the topic by then.
        let wanted = self.progress.wanted.swap(false, Ordering::AcqRel);
        let reached = wanted.then(|| self.shared.state.read().versions.revision());
        let mut budget = Budget::of(&self.shared);
        let read = self
            .topic
            .read(self.position, self.slot, cx.waker(), |it| budget.takes(it));
        if wanted && !matches!(read, Read::Nothing) {
            self.progress.wanted.store(true, Ordering::Release);
        }
        match read {
            Read::Events(events) => {
                let revision = events.last().map_or(self.position, |event| event.revision);
                Some(Poll::Ready(Ok(self.deliver(revision, events))))
            }
            Read::Behind { complete_from } => self.catch_up(complete_from),
            Read::Nothing => Some(match reached {
                Some(revision) if revision.next() >= self.position => {
                    Poll::Ready(Ok(self.deliver(revision, Vec::new())))
                }
                _ => Poll::Pending,
            }),
            Read::Closed => Some(Poll::Ready(Err(WatchError::Closed))),
        }
    }

    fn catch_up(&mut self, to: Revision) -> Option<Poll<Item>> {
        let mut budget = Budget::of(&self.shared);
        let range = self.topic.range();
        let scan = self.shared.state.read().versions.scan(
            range,
            self.position,
            to,
            SCANNED_AT_ONCE_MAX,
            |event| budget.takes(event),
        );
        match scan {
            Scan::Found { events, next } if events.is_empty() => {
                self.position = next;
                None
            }
            Scan::Found { events, next } => {
                Some(Poll::Ready(Ok(self.deliver(next.previous(), events))))
            }
            Scan::Compacted { compacted } => {
                let requested = self.position;
                Some(Poll::Ready(Err(WatchError::Compacted {
                    requested,
                    compacted,
                })))
            }
        }
    }

    fn deliver(&mut self, revision: Revision, events: Vec<Arc<Event>>) -> WatchBatch {
        self.position = revision.next();
        WatchBatch { revision, events }
    }
}

impl Stream for Watcher {
    type Item = Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        if let Some(error) = this.failed.take() {
            this.ended = true;
            return Poll::Ready(Some(Err(error)));
        }
        for _ in 0..SCANS_PER_POLL_MAX {
            if let Some(step) = this.step(cx) {
                this.ended = matches!(step, Poll::Ready(Err(_)));
                return step.map(Some);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut state = self.shared.state.write();
        let (last, waker) = self.topic.leave(self.slot);
        if last {
            state.topics.remove(self.topic.range());
        }
        drop(state);
        // Dropped last: a waker can own a task with another watch.
        drop(waker);
    }
}

/// The remaining size of the batch. The first event always fits.
#[derive(Debug)]
struct Budget {
    events: usize,
    bytes: usize,
    begun: bool,
}

impl Budget {
    fn of(shared: &Shared) -> Self {
        let (events, bytes) = (
            shared.config.batch_events_max,
            shared.config.batch_bytes_max,
        );
        Self {
            events,
            bytes,
            begun: false,
        }
    }

    fn takes(&mut self, event: &Event) -> bool {
        let weight = event.weight();
        if self.begun && (self.events == 0 || self.bytes < weight) {
            return false;
        }
        self.begun = true;
        self.events = self.events.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(weight);
        true
    }
}
