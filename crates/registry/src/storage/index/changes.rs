//! `Changes`: the events that an index has to catch up with.
//!
//! An index asks for them when it is used, so writes do not wait for it.

use crate::strategy::BoxFuture;
use futures_core::Stream;
use kubist_storage::{Event, KeyRange, Kv, Revision, Watch, WatchRangeRequest};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A source of events.
pub(crate) trait Changes: fmt::Debug + Send + Sync {
    /// Follows the events after a revision; `None` if that is not possible.
    fn follow(&self, after: u64) -> BoxFuture<'_, Option<Box<dyn Follow>>>;
}

/// A position in the events.
pub(crate) trait Follow: Send {
    /// Returns the next events. Does no I/O.
    fn next(&mut self) -> Step;
}

/// The next events.
pub(crate) enum Step {
    /// The events up to a revision, with the versions that they replaced.
    Events(Vec<Arc<Event>>, u64),
    /// Nothing is known yet.
    Nothing,
    /// Events are missing.
    Lost,
}

/// The events of an engine of this process.
#[derive(Debug)]
pub(crate) struct KvChanges {
    pub(crate) kv: Arc<dyn Kv>,
    pub(crate) range: KeyRange,
}

impl Changes for KvChanges {
    fn follow(&self, after: u64) -> BoxFuture<'_, Option<Box<dyn Follow>>> {
        Box::pin(async move {
            let request = WatchRangeRequest::new(self.range.clone())
                .from(Revision(after).next())
                .previous();
            let watch = self.kv.watch(request).await.ok()?;
            Some(Box::new(FollowedKv(watch)) as Box<dyn Follow>)
        })
    }
}

/// A watch that is polled by hand, and asked for its progress: an engine of this process answers
/// at once.
struct FollowedKv(Watch);

impl Follow for FollowedKv {
    fn next(&mut self) -> Step {
        self.0.request_progress();
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.0).poll_next(&mut cx) {
            Poll::Ready(Some(Ok(batch))) => Step::Events(batch.events, batch.revision.0),
            Poll::Ready(_) => Step::Lost,
            Poll::Pending => Step::Nothing,
        }
    }
}
