//! The metrics of the storage stack, for an exporter.
//!
//! Plain atomics, one set per resource: counting takes no lock, allocates nothing, and needs no
//! metrics registry. Names and bucket bounds are upstream's. It exports nothing itself.

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
    /// Adds to it.
    pub fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Where it stands.
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A storage request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageRequest {
    /// A new object.
    Create,
    /// How many objects there are.
    Count,
    /// The end of an object.
    Delete,
    /// One object.
    Get,
    /// Several objects.
    List,
    /// An object in place of another version of it.
    Update,
}

impl StorageRequest {
    /// All of them, in the order above.
    pub const ALL: [Self; 6] = [
        Self::Create,
        Self::Count,
        Self::Delete,
        Self::Get,
        Self::List,
        Self::Update,
    ];

    /// The value of the label `operation`.
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

/// One kind of request to storage.
#[derive(Debug)]
#[non_exhaustive]
pub struct RequestMetrics {
    /// How long they took.
    pub took: Histogram,
    /// Requests that storage did not answer; a conflict is an answer.
    pub errors: Count,
}

/// Lists that were answered, from storage or from a watch cache.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ListMetrics {
    /// Lists.
    pub lists: Count,
    /// Objects read for them.
    pub fetched: Count,
    /// Objects that selectors were asked about.
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
    /// Times that it has read everything (`apiserver_watch_cache_initializations_total`).
    pub initializations: Count,
    /// Objects and events of the past that watches began with (`apiserver_init_events_total`).
    pub init_events: Count,
    /// Events that came from the engine (`apiserver_watch_cache_events_received_total`).
    pub events_received: Count,
    /// Events that changed something, and were offered to watchers
    /// (`apiserver_watch_cache_events_dispatched_total`).
    pub events_dispatched: Count,
    /// Times that the ring grew (`watch_cache_capacity_increase_total`).
    pub capacity_increases: Count,
    /// Times that the ring shrank (`watch_cache_capacity_decrease_total`).
    pub capacity_decreases: Count,
    /// Watches that were ended because they did not keep up, not those that clients closed
    /// (`apiserver_terminated_watchers_total`).
    pub watchers_terminated: Count,
    /// Comparisons with storage that found the same
    /// (`apiserver_storage_consistency_checks_total`, success).
    pub checks_passed: Count,
    /// Comparisons with storage that found something else (the same, failure).
    pub checks_failed: Count,
    /// Comparisons with storage that could not be made (the same, error).
    pub checks_without_result: Count,
    /// How long requests waited until the cache was fresh.
    pub read_wait: Histogram,
    /// Consistent lists: by whether they succeeded, and whether storage had to answer.
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

    /// Consistent lists that ended so: whether they succeeded, and whether storage answered them
    /// because the cache did not get there in time
    /// (`apiserver_watch_cache_consistent_read_total`).
    pub fn consistent_reads(&self, success: bool, fallback: bool) -> &Count {
        &self.consistent[usize::from(success)][usize::from(fallback)]
    }
}

/// What is counted about one resource.
#[derive(Debug)]
#[non_exhaustive]
pub struct ResourceMetrics {
    /// The API group; empty for core.
    pub group: Str,
    /// The plural name.
    pub resource: Str,
    /// Lists answered by storage.
    pub from_storage: ListMetrics,
    /// Lists answered by the watch cache.
    pub from_cache: ListMetrics,
    /// The watch cache; zeros if there is none.
    pub cache: CacheMetrics,
    /// Events that came from the engine, to the watch cache or to watches without one
    /// (`apiserver_storage_events_received_total`).
    pub engine_events: Count,
    /// Times that the engine said how far it is, without an event (`etcd_bookmark_total`).
    pub engine_bookmarks: Count,
    /// Stored values that could not be decoded.
    pub decode_errors: Count,
    /// The newest revision of an undecodable value that was logged.
    told: AtomicU64,
    requests: [RequestMetrics; StorageRequest::ALL.len()],
}

impl ResourceMetrics {
    /// Reports whether an undecodable value of this revision is not logged yet: it is written once,
    /// but seen by every watch.
    pub(crate) fn tells(&self, revision: u64) -> bool {
        self.told.fetch_max(revision, Ordering::Relaxed) < revision
    }

    /// Counts what the engine delivered: so many events, or that there is none.
    pub(crate) fn delivered(&self, events: usize) {
        self.engine_events.add(events);
        self.engine_bookmarks.add(usize::from(events == 0));
    }

    /// Zeros.
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
            told: AtomicU64::new(0),
            requests: StorageRequest::ALL.map(|_| RequestMetrics {
                took: Histogram::new(STORAGE_SECONDS),
                errors: Count::default(),
            }),
        }
    }

    /// One kind of request to storage.
    pub fn request(&self, request: StorageRequest) -> &RequestMetrics {
        &self.requests[request as usize]
    }

    /// Waits for an answer of storage, and counts it.
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
