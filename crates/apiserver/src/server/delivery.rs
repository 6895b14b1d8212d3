//! `Delivery`: ends an answer over HTTP/2 that its client takes no more of.
//!
//! Over HTTP/1.1 such a client stops the whole connection, and `TimedStream` ends it. Over HTTP/2
//! the connection stays alive, with its pings answered, while one stream gets no room: then the
//! stream alone is reset. What it holds until then is one piece of the body and HTTP's buffer.

use super::activity::Busy;
use crate::body::BrokenOff;
use crate::request_record::RecordedBody;
use crate::seldom::Seldom;
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
    /// That of the stream whose task it is; only HTTP/2 has one for each.
    static PROGRESS: Arc<Progress>;
}

/// How far a body has been taken.
#[derive(Debug, Default)]
struct Progress {
    /// Told once a body is under way that has more than one piece.
    begun: Notify,
    /// How often a piece was asked for.
    asked: AtomicUsize,
    /// Whether a piece was handed out and no other was asked for since.
    held: AtomicBool,
}

impl Progress {
    /// Returns once a piece was held for `timeout`, and no later than after twice as long.
    async fn stuck_for(&self, timeout: Duration) {
        self.begun.notified().await;
        loop {
            let (asked, held) = self.now();
            tokio::time::sleep(timeout).await;
            if held && self.now() == (asked, true) {
                return;
            }
        }
    }

    fn now(&self) -> (usize, bool) {
        let held = self.held.load(Ordering::Relaxed);
        (self.asked.load(Ordering::Relaxed), held)
    }
}

/// Runs the streams of an HTTP/2 connection, each until it ends or gets stuck.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    /// How long a client may take to accept any more of an answer.
    pub(super) timeout: Duration,
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let timeout = self.timeout;
        TokioExecutor::new().execute(async move {
            let progress = Arc::<Progress>::default();
            let stream = PROGRESS.scope(Arc::clone(&progress), stream);
            let stuck = pin!(progress.stuck_for(timeout));
            // Dropping the stream resets it.
            tokio::select! {
                biased;
                () = stream => {}
                () = Seldom::new(stuck) => {}
            }
        });
    }
}

/// A body on its way.
#[derive(Debug)]
pub(super) struct Delivery {
    body: RecordedBody,
    progress: Option<Arc<Progress>>,
    _busy: Busy,
}

impl Delivery {
    /// To be made in the task that sends the body.
    pub(super) fn new(body: RecordedBody, busy: Busy) -> Self {
        let progress = PROGRESS.try_with(Arc::clone).ok();
        let progress = progress.filter(|_| !body.is_one_piece());
        if let Some(progress) = &progress {
            progress.begun.notify_one();
        }
        Self {
            body,
            progress,
            _busy: busy,
        }
    }
}

impl HttpBody for Delivery {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        let poll = Pin::new(&mut self.body).poll_frame(cx);
        if let Some(progress) = &self.progress {
            progress.asked.fetch_add(1, Ordering::Relaxed);
            progress.held.store(poll.is_ready(), Ordering::Relaxed);
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
