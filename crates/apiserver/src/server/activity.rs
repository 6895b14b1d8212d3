//! `Activity`: the load of one connection and of the whole server.
//!
//! A request counts from its head until its response was sent or abandoned. This also holds the
//! state by which a connection may be evicted (`eviction.rs`).

use crate::filters::connection_info::ClientState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The load of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Open connections, including those without a request so far.
    pub connections: usize,
    /// Requests whose responses are not complete; a watch is one.
    pub requests: usize,
    /// Open connections to kubelets, Pods and Services.
    pub backend_connections: usize,
}

/// The counters of a server.
#[derive(Debug)]
pub(super) struct LoadCounters {
    began: Instant,
    connections: AtomicUsize,
    requests: AtomicUsize,
}

impl Default for LoadCounters {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            connections: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        }
    }
}

impl LoadCounters {
    /// Milliseconds since the server started.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn load(&self) -> Load {
        Load {
            connections: self.connections.load(Ordering::Relaxed),
            requests: self.requests.load(Ordering::Relaxed),
            backend_connections: 0,
        }
    }
}

/// An open connection. Dropping it removes it from the counters.
#[derive(Debug)]
pub(super) struct Activity {
    counters: Arc<LoadCounters>,
    running: AtomicUsize,
    /// Requests so far.
    begun: AtomicUsize,
    /// When the last request came, or the connection.
    last: AtomicU64,
    client_state: Arc<ClientState>,
    eviction: Notify,
}

impl Activity {
    pub(super) fn new(counters: &Arc<LoadCounters>) -> Arc<Self> {
        counters.connections.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            counters: Arc::clone(counters),
            running: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            last: AtomicU64::new(counters.now()),
            client_state: Arc::default(),
            eviction: Notify::new(),
        })
    }

    /// Whether a request on it was authenticated.
    pub(super) fn client_state(&self) -> &Arc<ClientState> {
        &self.client_state
    }

    /// When the last request came, or the connection, in milliseconds since the server started.
    pub(super) fn last_request_at(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Evicts the connection unless a request on it was authenticated. Returns whether it did.
    pub(super) fn evict(&self) -> bool {
        let leaves = self.client_state.begin_close();
        if leaves {
            self.eviction.notify_one();
        }
        leaves
    }

    /// Completes when the connection is evicted.
    ///
    /// # Cancel safety
    /// Cancel safe: a later call still completes.
    pub(super) async fn evicted(&self) {
        self.eviction.notified().await;
    }

    /// Begins a request, which ends when the returned guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> ActiveRequest {
        self.counters.requests.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.last.store(self.counters.now(), Ordering::Relaxed);
        ActiveRequest(Arc::clone(self))
    }

    /// Reports whether several requests are in progress, each of which may have data to send.
    pub(super) fn has_concurrent_requests(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 1
    }

    /// Completes when there was no request for `timeout`, and after at most twice that time.
    ///
    /// # Cancel safety
    /// A new call starts over.
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
        self.counters.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct ActiveRequest(Arc<Activity>);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
        self.0.counters.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_when_no_request_ran_for_so_long() {
        let counters = Arc::new(LoadCounters::default());
        let activity = Activity::new(&counters);
        let timeout = Duration::from_secs(90);
        let start = Instant::now();
        activity.idle_for(timeout).await;
        assert_eq!(start.elapsed(), timeout);

        let busy = activity.begin();
        assert_eq!(counters.load().requests, 1);
        let waiting = tokio::time::timeout(Duration::from_secs(3600), activity.idle_for(timeout));
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
        assert_eq!(counters.load(), Load::default());
    }
}
