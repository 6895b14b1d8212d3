//! `Watch`: a stream of event batches.
//!
//! It is not a queue: an engine returns events when the watch is polled. A watch that is not polled
//! costs a few words, and eventually falls behind the history (`WatchError::Compacted`).

use crate::{Event, Revision, WatchError};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A running watch. Dropping it ends it.
///
/// Batches are in order of revision and complete. After an error the stream ends.
pub struct Watch {
    batches: Pin<Box<dyn Stream<Item = Result<WatchBatch, WatchError>> + Send>>,
    progress: ProgressRequester,
}

/// Events in order of revision. An empty batch is a progress notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchBatch {
    /// All events of the watch's range up to and including this revision have been delivered, in
    /// this batch or before. Later events are above it.
    pub revision: Revision,
    /// The events. All events of a revision are in the same batch.
    pub events: Vec<Arc<Event>>,
}

impl WatchBatch {
    /// Reports whether the batch is a progress notification.
    pub fn is_progress(&self) -> bool {
        self.events.is_empty()
    }
}

impl Watch {
    /// Creates a watch from an engine's stream and a function that requests progress.
    ///
    /// The stream must end after an error, and its batches must be as [`WatchBatch`] describes.
    pub fn new(
        batches: impl Stream<Item = Result<WatchBatch, WatchError>> + Send + 'static,
        progress: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            batches: Box::pin(batches),
            progress: ProgressRequester(Arc::new(progress)),
        }
    }

    /// Returns the next batch; `None` after the watch has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<WatchBatch, WatchError>> {
        poll_fn(|cx| self.batches.as_mut().poll_next(cx)).await
    }

    /// Requests a progress notification; see [`ProgressRequester::request`].
    pub fn request_progress(&self) {
        self.progress.request();
    }

    /// Returns a handle that requests progress for this watch.
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

/// Requests progress for a watch. It has no effect after the watch has ended.
#[derive(Clone)]
pub struct ProgressRequester(Arc<dyn Fn() + Send + Sync>);

impl ProgressRequester {
    /// Requests a progress notification for at least the current revision of the store. Several
    /// requests may get a single response.
    ///
    /// A watch whose start is in the future gets no response. An engine on etcd may also send none
    /// to a watch at the current revision until the next write, so callers repeat the request.
    pub fn request(&self) {
        (self.0)();
    }
}

impl fmt::Debug for ProgressRequester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressRequester")
    }
}
