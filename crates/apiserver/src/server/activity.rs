//! `Activity`: what is going on, on one connection and in the whole server.
//!
//! A request counts from its head until its answer was sent, or given up. Besides, what is
//! known of a connection that may have to make room for another (`room.rs`).

use crate::filters::caller::Standing;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What a server is busy with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Connections that are open, those that have not said anything yet too.
    pub connections: usize,
    /// Requests that have not been answered to the end; a watch is one.
    pub requests: usize,
}

/// The counts of a server.
#[derive(Debug)]
pub(super) struct Totals {
    began: Instant,
    connections: AtomicUsize,
    requests: AtomicUsize,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            connections: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        }
    }
}

impl Totals {
    /// Milliseconds since the beginning.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn load(&self) -> Load {
        Load {
            connections: self.connections.load(Ordering::Relaxed),
            requests: self.requests.load(Ordering::Relaxed),
        }
    }
}

/// A connection that is open, as long as this is there.
#[derive(Debug)]
pub(super) struct Activity {
    totals: Arc<Totals>,
    running: AtomicUsize,
    /// Requests so far.
    begun: AtomicUsize,
    /// When the last one came, or the connection.
    last: AtomicU64,
    standing: Arc<Standing>,
    leave: Notify,
}

impl Activity {
    pub(super) fn new(totals: &Arc<Totals>) -> Arc<Self> {
        totals.connections.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            totals: Arc::clone(totals),
            running: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            last: AtomicU64::new(totals.now()),
            standing: Arc::default(),
            leave: Notify::new(),
        })
    }

    /// Whether anybody has said who they are.
    pub(super) fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }

    /// When a request came last, or the connection; in milliseconds since some moment.
    pub(super) fn last_asked(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Has the connection end, if nobody has said who they are. Whether it does.
    pub(super) fn send_away(&self) -> bool {
        let leaves = self.standing.leave();
        if leaves {
            self.leave.notify_one();
        }
        leaves
    }

    /// Returns once the connection has to end.
    ///
    /// # Cancel safety
    /// Safe: it is still told afterwards.
    pub(super) async fn sent_away(&self) {
        self.leave.notified().await;
    }

    /// A request that goes on as long as what this returns is there.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.totals.requests.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.last.store(self.totals.now(), Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Whether several requests go on, each of which may have something to send.
    pub(super) fn is_crowded(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 1
    }

    /// Returns once there was no request for `timeout`, and no later than after twice as long.
    ///
    /// # Cancel safety
    ///
    /// Begins anew when it is called again.
    pub(super) async fn idle_for(&self, timeout: Duration) {
        loop {
            let begun = self.begun.load(Ordering::Relaxed);
            let idle = self.running.load(Ordering::Relaxed) == 0;
            tokio::time::sleep(timeout).await;
            if idle && begun == self.begun.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.totals.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that goes on.
#[derive(Debug)]
pub(super) struct Busy(Arc<Activity>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
        self.0.totals.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_when_no_request_ran_for_so_long() {
        let totals = Arc::new(Totals::default());
        let activity = Activity::new(&totals);
        let timeout = Duration::from_secs(90);
        let start = Instant::now();
        activity.idle_for(timeout).await;
        assert_eq!(start.elapsed(), timeout);

        let busy = activity.begin();
        assert_eq!(totals.load().requests, 1);
        let waiting = tokio::time::timeout(Duration::from_hours(1), activity.idle_for(timeout));
        assert!(waiting.await.is_err(), "it is busy");
        let ended = Instant::now();
        let ends = async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            drop(busy);
        };
        tokio::join!(activity.idle_for(timeout), ends);
        let waited = ended.elapsed();
        assert!(waited >= timeout && waited <= 2 * timeout, "{waited:?}");
        drop(activity);
        assert_eq!(totals.load(), Load::default());
    }
}
