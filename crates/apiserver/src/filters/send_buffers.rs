//! `SendBuffers`: limits the bytes of responses that clients do not read.
//!
//! Before a client reads any of a response, the server has produced a chunk with at least one
//! object, which may be large, and a client can request many responses without reading any. So a
//! connection that holds [`CONNECTION_BYTES_MAX`] begins no more responses, and while all
//! connections together hold more than [`BYTES_MAX`], clients that read nothing for [`STALLED`]
//! lose their responses. Other clients are not affected.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// Limit of unread bytes of all connections.
const BYTES_MAX: usize = 64 << 20;
/// Unread bytes of one connection above which its next requests wait.
const CONNECTION_BYTES_MAX: usize = 16 << 20;
/// Bytes reserved for a response that is being produced.
const RESERVED_BYTES: usize = 256 << 10;
/// Smaller responses are not dropped: that would free too little.
pub(crate) const SMALL_BYTES: usize = 64 << 10;
/// How long a client may read nothing while the limit is exceeded.
pub(crate) const STALLED: Duration = Duration::from_secs(1);

/// The unread bytes of all connections.
#[derive(Debug, Default)]
pub(crate) struct SendBuffers {
    bytes: AtomicUsize,
    /// Notified when the limit is exceeded.
    exceeded: Notify,
}

impl SendBuffers {
    /// Reports whether the limit is exceeded.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > BYTES_MAX
    }

    /// Completes when the limit is exceeded.
    ///
    /// # Cancel safety
    /// Cancel safe: it has no effect.
    pub(crate) async fn over_limit(&self) {
        let mut notified = pin!(self.exceeded.notified());
        // From here on the notification is not missed.
        notified.as_mut().enable();
        if !self.is_over_limit() {
            notified.await;
        }
    }

    /// Registers a connection.
    pub(crate) fn connection(self: &Arc<Self>) -> Arc<ConnectionSendBuffers> {
        Arc::new(ConnectionSendBuffers {
            all: Arc::clone(self),
            bytes: AtomicUsize::new(0),
            freed: Notify::new(),
        })
    }
}

/// The unread bytes of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionSendBuffers {
    all: Arc<SendBuffers>,
    bytes: AtomicUsize,
    freed: Notify,
}

impl ConnectionSendBuffers {
    /// Registers a response that has no bytes yet.
    pub(crate) fn response(self: &Arc<Self>) -> ResponseBuffer {
        ResponseBuffer {
            share: Arc::clone(self),
            bytes: AtomicUsize::new(0),
        }
    }
}

/// The unread bytes of one response.
#[derive(Debug)]
pub(crate) struct ResponseBuffer {
    share: Arc<ConnectionSendBuffers>,
    bytes: AtomicUsize,
}

impl ResponseBuffer {
    /// Waits until this response may begin, and reserves bytes for it.
    ///
    /// # Cancel safety
    /// Cancel safe: nothing is reserved before it returns.
    pub(crate) async fn reserve(&self) {
        let share = &self.share;
        loop {
            let mut freed = pin!(share.freed.notified());
            freed.as_mut().enable();
            if share.bytes.load(Ordering::Relaxed) < CONNECTION_BYTES_MAX {
                break;
            }
            freed.await;
        }
        self.set(RESERVED_BYTES);
    }

    /// Sets the number of unread bytes.
    pub(crate) fn set(&self, bytes: usize) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        let (share, all) = (&self.share, &self.share.all);
        if let Some(more) = bytes.checked_sub(before).filter(|more| *more > 0) {
            share.bytes.fetch_add(more, Ordering::Relaxed);
            let total = all.bytes.fetch_add(more, Ordering::Relaxed);
            if total <= BYTES_MAX && total + more > BYTES_MAX {
                all.exceeded.notify_waiters();
            }
        } else if before > bytes {
            let less = before - bytes;
            all.bytes.fetch_sub(less, Ordering::Relaxed);
            let own = share.bytes.fetch_sub(less, Ordering::Relaxed);
            if own >= CONNECTION_BYTES_MAX && own - less < CONNECTION_BYTES_MAX {
                share.freed.notify_waiters();
            }
        }
    }
}

impl Drop for ResponseBuffer {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn a_connection_with_unread_responses_begins_no_more() {
        let all = Arc::<SendBuffers>::default();
        let (one, other) = (all.connection(), all.connection());
        let held = one.response();
        held.reserve().await;
        held.set(CONNECTION_BYTES_MAX);
        let (next, elsewhere) = (one.response(), other.response());
        assert!(elsewhere.reserve().now_or_never().is_some());
        {
            let mut waiting = pin!(next.reserve());
            assert!((&mut waiting).now_or_never().is_none());
            held.set(10);
            waiting.now_or_never().expect("there is room again");
        }
        drop((held, next, elsewhere));
        assert_eq!(all.bytes.load(Ordering::Relaxed), 0);
        assert_eq!(one.bytes.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn exceeding_the_limit_notifies() {
        let all = Arc::<SendBuffers>::default();
        let shares: Vec<_> = (0..5).map(|_| all.connection()).collect();
        let mut held = Vec::new();
        let mut over_limit = std::pin::pin!(all.over_limit());
        for share in &shares {
            assert!(!all.is_over_limit());
            assert!((&mut over_limit).now_or_never().is_none());
            let response = share.response();
            response.reserve().await;
            response.set(CONNECTION_BYTES_MAX);
            held.push(response);
        }
        assert!(all.is_over_limit());
        assert!(over_limit.now_or_never().is_some());
        held.pop();
        assert!(!all.is_over_limit());
    }
}
