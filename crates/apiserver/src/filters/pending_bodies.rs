//! `PendingBodies`: requests whose bodies are still being received.
//!
//! The client determines how long its body takes, so meanwhile its request has no seat in flight
//! (`in_flight.rs`) and waits here instead, within a separate limit. Each counts as [`EACH_BYTES`]
//! plus what was received of its body. The total is limited to [`BYTES_MAX`] (4,096 requests
//! without any body data), or to [`BODIES_MAX`] of the longest bodies if that is more.
//!
//! A new request is never refused for this limit. Instead, others are rejected with 429 until the
//! total fits: first those that have waited longer than [`GRACE_PERIOD`], oldest first; otherwise
//! the oldest of the connection that holds the most. So neither clients that hold many idle
//! requests nor clients that flood a few connections can lock out a client that sends its body.

use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Limit of the total.
const BYTES_MAX: usize = 128 << 20;
/// Bodies of maximum length that always fit.
const BODIES_MAX: usize = 4;
/// What a request without any body data counts as.
const EACH_BYTES: usize = 32 << 10;
/// How long a body may take before its request is among the first to be rejected. Three megabytes
/// at ten megabits per second take half of that.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The pending bodies of a server.
#[derive(Debug)]
pub(crate) struct PendingBodies {
    bytes_max: usize,
    waiting: Mutex<Waiting>,
}

/// Requests and connections by number, in order of arrival.
#[derive(Debug, Default)]
struct Waiting {
    requests: BTreeMap<u64, Entry>,
    connections: BTreeMap<u64, ConnectionLoad>,
    /// Connections, ordered by the bytes they hold.
    by_bytes: BTreeSet<(usize, u64)>,
    bytes: usize,
    next: u64,
    next_connection: u64,
}

#[derive(Debug)]
struct Entry {
    connection: u64,
    bytes: usize,
    began: Instant,
    rejected: Arc<Notify>,
}

/// What one connection holds.
#[derive(Debug, Default)]
struct ConnectionLoad {
    bytes: usize,
    requests: BTreeSet<u64>,
}

impl PendingBodies {
    /// Creates the limiter of a server whose bodies have this maximum length.
    pub(crate) fn new(body_bytes_max: usize) -> Arc<Self> {
        let bodies = body_bytes_max.saturating_add(EACH_BYTES);
        Arc::new(Self {
            bytes_max: BYTES_MAX.max(bodies.saturating_mul(BODIES_MAX)),
            waiting: Mutex::default(),
        })
    }

    /// Registers a new connection.
    pub(crate) fn connection(self: &Arc<Self>) -> ConnectionBodies {
        let mut waiting = self.waiting.lock();
        let connection = waiting.next_connection;
        waiting.next_connection += 1;
        ConnectionBodies {
            all: Arc::clone(self),
            connection,
        }
    }
}

/// The pending bodies of one connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionBodies {
    all: Arc<PendingBodies>,
    connection: u64,
}

impl ConnectionBodies {
    /// Registers a request whose body is pending, until the returned guard is dropped.
    pub(crate) fn begin(&self) -> PendingBody {
        let rejected = Arc::<Notify>::default();
        let mut waiting = self.all.waiting.lock();
        let number = waiting.next;
        waiting.next += 1;
        let entry = Entry {
            connection: self.connection,
            bytes: 0,
            began: Instant::now(),
            rejected: Arc::clone(&rejected),
        };
        waiting.requests.insert(number, entry);
        let holding = waiting.connections.entry(self.connection).or_default();
        holding.requests.insert(number);
        waiting.set(number, EACH_BYTES);
        waiting.reject_until_below(self.all.bytes_max);
        PendingBody {
            all: Arc::clone(&self.all),
            number,
            rejected,
        }
    }
}

/// A request whose body is pending.
#[derive(Debug)]
pub(crate) struct PendingBody {
    all: Arc<PendingBodies>,
    number: u64,
    rejected: Arc<Notify>,
}

impl PendingBody {
    /// Reports the number of bytes received so far.
    pub(crate) fn received(&self, bytes: usize) {
        let mut waiting = self.all.waiting.lock();
        waiting.set(self.number, EACH_BYTES.saturating_add(bytes));
        waiting.reject_until_below(self.all.bytes_max);
    }

    /// Completes when this request is rejected.
    ///
    /// # Cancel safety
    /// Cancel safe: a later call still completes.
    pub(crate) async fn rejected(&self) {
        self.rejected.notified().await;
    }
}

impl Drop for PendingBody {
    fn drop(&mut self) {
        self.all.waiting.lock().remove(self.number);
    }
}

impl Waiting {
    /// Sets what a request holds, unless it was rejected.
    fn set(&mut self, number: u64, bytes: usize) {
        let Some(entry) = self.requests.get_mut(&number) else {
            return;
        };
        let before = std::mem::replace(&mut entry.bytes, bytes);
        self.bytes = self.bytes - before + bytes;
        let connection = entry.connection;
        if let Some(holding) = self.connections.get_mut(&connection) {
            self.by_bytes.remove(&(holding.bytes, connection));
            holding.bytes = holding.bytes - before + bytes;
            self.by_bytes.insert((holding.bytes, connection));
        }
    }

    fn remove(&mut self, number: u64) -> Option<Entry> {
        self.set(number, 0);
        let entry = self.requests.remove(&number)?;
        let connection = entry.connection;
        if let Some(holding) = self.connections.get_mut(&connection) {
            holding.requests.remove(&number);
            if holding.requests.is_empty() {
                self.by_bytes.remove(&(holding.bytes, connection));
                self.connections.remove(&connection);
            }
        }
        Some(entry)
    }

    fn reject_until_below(&mut self, bytes_max: usize) {
        while self.bytes > bytes_max {
            let Some(entry) = self.next_to_reject().and_then(|number| self.remove(number)) else {
                return;
            };
            entry.rejected.notify_one();
        }
    }

    fn next_to_reject(&self) -> Option<u64> {
        let (oldest, entry) = self.requests.first_key_value()?;
        if entry.began.elapsed() > GRACE_PERIOD {
            return Some(*oldest);
        }
        let (_, connection) = self.by_bytes.last()?;
        let holding = self.connections.get(connection)?;
        holding.requests.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn is_rejected(arrival: &PendingBody) -> bool {
        arrival.rejected().now_or_never().is_some()
    }

    fn is_empty(all: &PendingBodies) -> bool {
        let waiting = all.waiting.lock();
        let nobody = waiting.requests.is_empty() && waiting.connections.is_empty();
        nobody && waiting.by_bytes.is_empty() && waiting.bytes == 0
    }

    const FULL: usize = BYTES_MAX / EACH_BYTES;

    #[tokio::test(start_paused = true)]
    async fn the_oldest_idle_requests_are_rejected_first() {
        let all = PendingBodies::new(3 << 20);
        let idle: Vec<PendingBody> = (0..FULL).map(|_| all.connection().begin()).collect();
        assert!(!idle.iter().any(is_rejected));
        tokio::time::advance(GRACE_PERIOD + Duration::from_secs(1)).await;
        let honest = all.connection();
        // It holds more than any other connection, but is recent.
        let arrivals: Vec<PendingBody> = (0..3).map(|_| honest.begin()).collect();
        arrivals[0].received(EACH_BYTES);
        assert!(!arrivals.iter().any(is_rejected));
        assert!(idle[..4].iter().all(is_rejected));
        assert!(!idle[4..].iter().any(is_rejected));
        drop((idle, arrivals));
        assert!(is_empty(&all));
    }

    #[tokio::test(start_paused = true)]
    async fn a_flooding_connection_is_rejected_before_others() {
        let all = PendingBodies::new(3 << 20);
        let honest = all.connection().begin();
        let flood = all.connection();
        let mut flooding: Vec<PendingBody> = (0..2 * FULL).map(|_| flood.begin()).collect();
        honest.received(1 << 20);
        assert!(!is_rejected(&honest));
        let other = all.connection().begin();
        assert!(!is_rejected(&other));
        let gone = flooding.extract_if(.., |it| is_rejected(it)).count();
        assert!((FULL..FULL + 40).contains(&gone), "{gone}");
        let youngest = flooding.last().expect("some are left");
        youngest.received(usize::MAX / 2);
        assert!(is_rejected(youngest), "more than all may hold");
        assert!(!is_rejected(&honest));
        drop((flooding, honest, other));
        assert!(is_empty(&all));
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_of_the_maximum_length_always_fit() {
        let all = PendingBodies::new(1 << 30);
        let gate = all.connection();
        let arrivals: Vec<PendingBody> = (0..BODIES_MAX).map(|_| gate.begin()).collect();
        for arrival in &arrivals {
            arrival.received(1 << 30);
        }
        assert!(!arrivals.iter().any(is_rejected));
    }
}
