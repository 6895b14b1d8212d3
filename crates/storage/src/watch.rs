//! A running watch: a stream of batches of events.
//!
//! Not a queue: an engine hands out events when the watch is polled. A watch that nobody polls
//! costs its own few words, and falls off the history in the end (`WatchError::Compacted`).

use crate::{Event, Revision, WatchError};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A running watch. Dropping it ends it.
///
/// Batches come in order of revision and miss nothing. After an error the stream ends.
pub struct Watch {
    batches: Pin<Box<dyn Stream<Item = Result<WatchBatch, WatchError>> + Send>>,
    progress: ProgressRequester,
}

/// Events in order of revision, or none: then it is a progress notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchBatch {
    /// Every event of the watch's range up to and including this revision has been delivered,
    /// by this batch or before. Later events are above it.
    pub revision: Revision,
    /// The events. All events of one revision are in one batch.
    pub events: Vec<Arc<Event>>,
}

impl WatchBatch {
    /// Whether the batch only says how far the watch has come.
    pub fn is_progress(&self) -> bool {
        self.events.is_empty()
    }
}

impl Watch {
    /// A watch made of an engine's stream, and of what to do when progress is asked for.
    ///
    /// The stream must end after an error, and must keep the promises of [`WatchBatch`].
    pub fn new(
        batches: impl Stream<Item = Result<WatchBatch, WatchError>> + Send + 'static,
        progress: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            batches: Box::pin(batches),
            progress: ProgressRequester(Arc::new(progress)),
        }
    }

    /// The next batch; `None` after the watch has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<WatchBatch, WatchError>> {
        poll_fn(|cx| self.batches.as_mut().poll_next(cx)).await
    }

    /// Asks for a progress notice; see [`ProgressRequester::request`].
    pub fn request_progress(&self) {
        self.progress.request();
    }

    /// A handle with which others may ask this watch for progress.
    pub fn progress_requester(&self) -> ProgressRequester {
        self.progress.clone()
    }
}

impl Stream for Watch {
    type Item = Result<WatchBatch, WatchError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().batches.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// Asks one watch for progress from elsewhere. Useless, and harmless, once the watch is gone.
#[derive(Clone)]
pub struct ProgressRequester(Arc<dyn Fn() + Send + Sync>);

impl ProgressRequester {
    /// Asks for a batch that says how far the watch has come: at least to the revision at which
    /// the store stands now. Several requests may get one answer.
    ///
    /// A watch whose start lies ahead of the store gets no answer. An engine on etcd may also
    /// stay silent for a watch at the very head until one more write, so callers ask again.
    pub fn request(&self) {
        (self.0)();
    }
}

impl fmt::Debug for ProgressRequester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressRequester")
    }
}
