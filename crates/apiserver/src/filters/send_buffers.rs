//! `SendBuffers`: how much of answers is made and not taken by the clients that asked for it.
//!
//! What is made of an answer before its client takes any is a chunk with at least one object, which
//! may be large; and a client can ask for very many answers and take none. So each connection
//! begins no more answers once it holds [`CONNECTION_BYTES_MAX`], and while all together hold more
//! than [`BYTES_MAX`], clients that take nothing lose their answers after [`STALLED`]. Others
//! notice nothing of either.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// What clients may leave untaken, all together.
const BYTES_MAX: usize = 64 << 20;
/// What they may leave untaken on one connection before their other requests wait.
const CONNECTION_BYTES_MAX: usize = 16 << 20;
/// What is set aside for an answer that is being made.
const RESERVED_BYTES: usize = 256 << 10;
/// Answers that hold less are not given up: there is nothing to be won.
pub(crate) const SMALL_BYTES: usize = 64 << 10;
/// How long a client may take nothing, while there is too much of that.
pub(crate) const STALLED: Duration = Duration::from_secs(1);

/// What all connections hold.
#[derive(Debug, Default)]
pub(crate) struct SendBuffers {
    bytes: AtomicUsize,
    /// LogThrottle when it becomes too much.
    crowded: Notify,
}

impl SendBuffers {
    /// Whether it is too much.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > BYTES_MAX
    }

    /// Returns once it is too much.
    ///
    /// # Cancel safety
    /// Safe: it changes nothing.
    pub(crate) async fn over_limit(&self) {
        let mut told = pin!(self.crowded.notified());
        // What becomes too much from here on is heard of.
        told.as_mut().enable();
        if !self.is_over_limit() {
            told.await;
        }
    }

    /// That of one connection.
    pub(crate) fn connection(self: &Arc<Self>) -> Arc<ConnectionSendBuffers> {
        Arc::new(ConnectionSendBuffers {
            all: Arc::clone(self),
            bytes: AtomicUsize::new(0),
            freed: Notify::new(),
        })
    }
}

/// What one connection holds.
#[derive(Debug)]
pub(crate) struct ConnectionSendBuffers {
    all: Arc<SendBuffers>,
    bytes: AtomicUsize,
    freed: Notify,
}

impl ConnectionSendBuffers {
    /// An answer of which nothing is made yet.
    pub(crate) fn answer(self: &Arc<Self>) -> ResponseBuffer {
        ResponseBuffer {
            share: Arc::clone(self),
            bytes: AtomicUsize::new(0),
        }
    }
}

/// What one answer holds.
#[derive(Debug)]
pub(crate) struct ResponseBuffer {
    share: Arc<ConnectionSendBuffers>,
    bytes: AtomicUsize,
}

impl ResponseBuffer {
    /// Waits until this answer may be made, and sets something aside for it.
    ///
    /// # Cancel safety
    /// Safe: nothing was set aside before it returns.
    pub(crate) async fn room(&self) {
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

    /// It holds so many bytes from now on.
    pub(crate) fn set(&self, bytes: usize) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        let (share, all) = (&self.share, &self.share.all);
        if let Some(more) = bytes.checked_sub(before).filter(|more| *more > 0) {
            share.bytes.fetch_add(more, Ordering::Relaxed);
            let total = all.bytes.fetch_add(more, Ordering::Relaxed);
            if total <= BYTES_MAX && total + more > BYTES_MAX {
                all.crowded.notify_waiters();
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
    async fn a_connection_whose_client_takes_nothing_begins_no_more_answers() {
        let all = Arc::<SendBuffers>::default();
        let (one, other) = (all.connection(), all.connection());
        let held = one.answer();
        held.room().await;
        held.set(CONNECTION_BYTES_MAX);
        let (next, elsewhere) = (one.answer(), other.answer());
        assert!(elsewhere.room().now_or_never().is_some());
        {
            let mut waiting = pin!(next.room());
            assert!((&mut waiting).now_or_never().is_none());
            held.set(10);
            waiting.now_or_never().expect("there is room again");
        }
        drop((held, next, elsewhere));
        assert_eq!(all.bytes.load(Ordering::Relaxed), 0);
        assert_eq!(one.bytes.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn too_much_is_told_once_it_is() {
        let all = Arc::<SendBuffers>::default();
        let shares: Vec<_> = (0..5).map(|_| all.connection()).collect();
        let mut held = Vec::new();
        let mut told = std::pin::pin!(all.over_limit());
        for share in &shares {
            assert!(!all.is_over_limit());
            assert!((&mut told).now_or_never().is_none());
            let answer = share.answer();
            answer.room().await;
            answer.set(CONNECTION_BYTES_MAX);
            held.push(answer);
        }
        assert!(all.is_over_limit());
        assert!(told.now_or_never().is_some());
        held.pop();
        assert!(!all.is_over_limit());
    }
}
