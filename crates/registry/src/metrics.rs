//! The metrics of the storage stack, for an exporter.
//!
//! Plain atomics, one set per resource: counting takes no lock, allocates nothing, and needs no
//! metrics registry. Names and bucket bounds are upstream's. This module exports nothing itself.

mod histogram;

pub use histogram::{Histogram, HistogramState};

use kubist_apimachinery::Str;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::Instant;

/// The bucket bounds of storage request durations, in seconds, as upstream's
/// `etcd_request_duration_seconds`.
pub const STORAGE_SECONDS: &[f64] = &[
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
/// Upper bounds of the buckets of waits for a watch cache, in seconds, as upstream's
/// `apiserver_watch_cache_read_wait_seconds`.
pub const READ_WAIT_SECONDS: &[f64] = &[
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0,
];

/// A monotonic counter.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Increments the counter by `more`.
    pub fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Returns the current value.
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The operation of a storage request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageRequest {
    /// Creates an object.
    Create,
    /// Counts the objects.
    Count,
    /// Deletes an object.
    Delete,
    /// Reads one object.
    Get,
    /// Lists objects.
    List,
    /// Updates an object.
    Update,
}

impl StorageRequest {
    /// All operations, in the order of the variants.
    pub const ALL: [Self; 6] = [
        Self::Create,
        Self::Count,
        Self::Delete,
        Self::Get,
        Self::List,
        Self::Update,
    ];

    /// Returns the value of the label `operation`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Count => "listWithCount",
            Self::Delete => "delete",
            Self::Get => "get",
            Self::List => "list",
            Self::Update => "update",
        }
    }
}

/// The metrics of one storage operation.
#[derive(Debug)]
#[non_exhaustive]
pub struct RequestMetrics {
    /// The durations of the requests.
    pub took: Histogram,
    /// Requests that failed; a conflict is not a failure.
    pub errors: Count,
}

/// The metrics of lists served from storage or from a watch cache.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ListMetrics {
    /// Served lists.
    pub lists: Count,
    /// Objects read for the lists.
    pub fetched: Count,
    /// Objects tested against selectors.
    pub evaluated: Count,
    /// Objects returned.
    pub returned: Count,
}

impl ListMetrics {
    pub(crate) fn listed(&self, fetched: usize, evaluated: usize, returned: usize) {
        self.lists.add(1);
        self.fetched.add(fetched);
        self.evaluated.add(evaluated);
        self.returned.add(returned);
    }
}

/// The metrics of a watch cache. They continue when the cache is rebuilt, or replaced because the
/// definition of its resource has changed.
#[derive(Debug)]
#[non_exhaustive]
pub struct CacheMetrics {
    /// Initial lists of all objects (`apiserver_watch_cache_initializations_total`).
    pub initializations: Count,
    /// Objects and past events delivered at the start of watches (`apiserver_init_events_total`).
    pub init_events: Count,
    /// Events received from the engine (`apiserver_watch_cache_events_received_total`).
    pub events_received: Count,
    /// Events that changed an object and were dispatched to watchers
    /// (`apiserver_watch_cache_events_dispatched_total`).
    pub events_dispatched: Count,
    /// Capacity increases of the ring (`watch_cache_capacity_increase_total`).
    pub capacity_increases: Count,
    /// Capacity decreases of the ring (`watch_cache_capacity_decrease_total`).
    pub capacity_decreases: Count,
    /// Watches ended for slowness, without those closed by clients
    /// (`apiserver_terminated_watchers_total`).
    pub watchers_terminated: Count,
    /// Comparisons with storage that matched (`apiserver_storage_consistency_checks_total`,
    /// success).
    pub checks_passed: Count,
    /// Comparisons with storage that did not match (the same metric, failure).
    pub checks_failed: Count,
    /// Comparisons with storage that failed (the same metric, error).
    pub checks_without_result: Count,
    /// The times that requests waited until the cache was fresh.
    pub read_wait: Histogram,
    /// Consistent lists, by success and by fallback to storage.
    consistent: [[Count; 2]; 2],
}

impl CacheMetrics {
    fn new() -> Self {
        Self {
            initializations: Count::default(),
            init_events: Count::default(),
            events_received: Count::default(),
            events_dispatched: Count::default(),
            capacity_increases: Count::default(),
            capacity_decreases: Count::default(),
            watchers_terminated: Count::default(),
            checks_passed: Count::default(),
            checks_failed: Count::default(),
            checks_without_result: Count::default(),
            read_wait: Histogram::new(READ_WAIT_SECONDS),
            consistent: Default::default(),
        }
    }

    /// Returns the counter of consistent lists with this result: whether they succeeded, and
    /// whether storage served them because the cache lagged behind
    /// (`apiserver_watch_cache_consistent_read_total`).
    pub fn consistent_reads(&self, success: bool, fallback: bool) -> &Count {
        &self.consistent[usize::from(success)][usize::from(fallback)]
    }
}

/// The metrics of one resource.
#[derive(Debug)]
#[non_exhaustive]
pub struct ResourceMetrics {
    /// The API group; empty for core.
    pub group: Str,
    /// The plural name.
    pub resource: Str,
    /// Lists served by storage.
    pub from_storage: ListMetrics,
    /// Lists served by the watch cache.
    pub from_cache: ListMetrics,
    /// The watch cache; zeros if the resource has none.
    pub cache: CacheMetrics,
    /// Events received from the engine, by the watch cache or by watches without one
    /// (`apiserver_storage_events_received_total`).
    pub engine_events: Count,
    /// Progress notifications of the engine (`etcd_bookmark_total`).
    pub engine_bookmarks: Count,
    /// Stored values that could not be decoded.
    pub decode_errors: Count,
    /// The newest logged revision of an undecodable value.
    logged: AtomicU64,
    requests: [RequestMetrics; StorageRequest::ALL.len()],
}

impl ResourceMetrics {
    /// Reports whether to log an undecodable value of this revision: true once, although every
    /// watch observes it.
    pub(crate) fn should_log(&self, revision: u64) -> bool {
        self.logged.fetch_max(revision, Ordering::Relaxed) < revision
    }

    /// Counts a delivery of the engine: events, or a progress notification if there are none.
    pub(crate) fn delivered(&self, events: usize) {
        self.engine_events.add(events);
        self.engine_bookmarks.add(usize::from(events == 0));
    }

    /// Creates metrics of zero.
    pub fn new(group: impl Into<Str>, resource: impl Into<Str>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
            from_storage: ListMetrics::default(),
            from_cache: ListMetrics::default(),
            cache: CacheMetrics::new(),
            engine_events: Count::default(),
            engine_bookmarks: Count::default(),
            decode_errors: Count::default(),
            logged: AtomicU64::new(0),
            requests: StorageRequest::ALL.map(|_| RequestMetrics {
                took: Histogram::new(STORAGE_SECONDS),
                errors: Count::default(),
            }),
        }
    }

    /// Returns the metrics of one storage operation.
    pub fn request(&self, request: StorageRequest) -> &RequestMetrics {
        &self.requests[request as usize]
    }

    /// Waits for storage, and records the duration and the result.
    pub(crate) async fn time<T, E>(
        &self,
        request: StorageRequest,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let begun = Instant::now();
        let answered = answer.await;
        let of_request = self.request(request);
        of_request.took.observe(begun.elapsed());
        of_request.errors.add(usize::from(answered.is_err()));
        answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn requests_are_timed_and_errors_counted_by_kind() {
        let metrics = ResourceMetrics::new("apps", "deployments");
        for (index, request) in StorageRequest::ALL.into_iter().enumerate() {
            assert_eq!(request as usize, index, "{request:?}");
        }
        let slow = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Err::<(), _>("no")
        };
        assert_eq!(metrics.time(StorageRequest::Get, slow).await, Err("no"));
        let of_get = metrics.request(StorageRequest::Get);
        let state = of_get.took.state();
        assert_eq!((state.count(), of_get.errors.value()), (1, 1));
        assert_eq!(state.counts[5], 1, "between 0.2 s and 0.4 s");
        assert_eq!(
            metrics.request(StorageRequest::List).took.state().count(),
            0
        );
    }
}
