//! `Delivery`: ends a response whose client stopped reading.
//!
//! Over HTTP/2 the connection stays alive and answers pings while one stream has no window; only
//! that stream is reset. Over HTTP/1.1 such a client blocks the whole connection, which
//! `TimedStream` closes, or this module if clients leave too many bytes unread. Until then a
//! response holds one piece of its body and HTTP's send buffer.

use super::activity::ActiveRequest;
use crate::filters::request_record::RecordedBody;
use crate::filters::send_buffers::{ResponseBuffer, SMALL_BYTES, STALLED, SendBuffers};
use crate::futures::poll_on_wake::PollOnWake;
use crate::response::body::ResponseAborted;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::rt::Executor;
use hyper_util::rt::TokioExecutor;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;

tokio::task_local! {
    /// The progress of the stream that this task serves; only HTTP/2 has a task per stream.
    static DELIVERY_PROGRESS: Arc<DeliveryProgress>;
}

/// How far a body has been sent.
#[derive(Debug, Default)]
pub(super) struct DeliveryProgress {
    /// Notified when a body of more than one piece begins.
    begun: Notify,
    /// How often a piece was polled.
    asked: AtomicUsize,
    /// Whether a piece was returned and none was polled since.
    held: AtomicBool,
    /// Bytes that are produced and not sent.
    bytes: AtomicUsize,
}

impl DeliveryProgress {
    /// Completes when a piece was held for `timeout`, and after at most twice that time. While
    /// clients leave too many bytes unread, a large piece may be held only for [`STALLED`].
    pub(super) async fn stalled_for(&self, timeout: Duration, all: &SendBuffers) {
        self.begun.notified().await;
        loop {
            let before = self.now();
            let was_over_limit = all.is_over_limit();
            if was_over_limit {
                tokio::time::sleep(STALLED).await;
            } else if tokio::time::timeout(timeout, all.over_limit())
                .await
                .is_ok()
            {
                continue;
            }
            if before != self.now() {
                continue;
            }
            let is_large = self.bytes.load(Ordering::Relaxed) >= SMALL_BYTES;
            let (_, is_held) = before;
            if (is_held && !was_over_limit) || (is_large && all.is_over_limit()) {
                return;
            }
        }
    }

    fn now(&self) -> (usize, bool) {
        let held = self.held.load(Ordering::Relaxed);
        (self.asked.load(Ordering::Relaxed), held)
    }
}

/// Runs the streams of an HTTP/2 connection, each until it ends or stalls.
#[derive(Clone, Debug)]
pub(super) struct StreamExecutor {
    /// The unread bytes of all clients.
    pub(super) all: Arc<SendBuffers>,
    /// How long a client may accept nothing of a response.
    pub(super) timeout: Duration,
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let timeout = self.timeout;
        let all = Arc::clone(&self.all);
        // Boxed: the task would hold it in each of the futures around it.
        let stream = Box::pin(stream);
        TokioExecutor::new().execute(async move {
            let progress = Arc::<DeliveryProgress>::default();
            let stream = DELIVERY_PROGRESS.scope(Arc::clone(&progress), stream);
            let stuck = pin!(progress.stalled_for(timeout, &all));
            // Dropping the stream resets it.
            tokio::select! {
                biased;
                () = stream => {}
                () = PollOnWake::new(stuck) => {}
            }
        });
    }
}

/// A response body that is being sent.
#[derive(Debug)]
pub(super) struct Delivery {
    body: RecordedBody,
    progress: Option<Arc<DeliveryProgress>>,
    held: ResponseBuffer,
    _busy: ActiveRequest,
}

impl Delivery {
    /// Must be called in the task that sends the body. `connection` tracks the progress where
    /// streams have no task of their own.
    pub(super) fn new(
        body: RecordedBody,
        busy: ActiveRequest,
        held: ResponseBuffer,
        connection: &Arc<DeliveryProgress>,
    ) -> Self {
        let own = DELIVERY_PROGRESS.try_with(Arc::clone);
        let progress = own.unwrap_or_else(|_| Arc::clone(connection));
        let progress = Some(progress).filter(|_| !body.is_one_piece());
        let ready = body.ready_bytes();
        held.set(ready);
        if let Some(progress) = &progress {
            progress.bytes.store(ready, Ordering::Relaxed);
            progress.begun.notify_one();
        }
        Self {
            body,
            progress,
            held,
            _busy: busy,
        }
    }
}

/// The connection may live on: what it holds from now on is not of this response.
impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(progress) = &self.progress {
            progress.bytes.store(0, Ordering::Relaxed);
            progress.held.store(false, Ordering::Relaxed);
        }
    }
}

impl HttpBody for Delivery {
    type Data = Bytes;
    type Error = ResponseAborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ResponseAborted>>> {
        let poll = Pin::new(&mut self.body).poll_frame(cx);
        let handed = match &poll {
            Poll::Ready(Some(Ok(frame))) => frame.data_ref().map_or(0, Bytes::len),
            _ => 0,
        };
        let bytes = handed + self.body.ready_bytes();
        self.held.set(bytes);
        if let Some(progress) = &self.progress {
            progress.bytes.store(bytes, Ordering::Relaxed);
            progress.asked.fetch_add(1, Ordering::Relaxed);
            let is_piece = matches!(poll, Poll::Ready(Some(_)));
            progress.held.store(is_piece, Ordering::Relaxed);
        }
        poll
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
