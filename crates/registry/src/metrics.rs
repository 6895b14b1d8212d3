//! What the storage stack counts, for whoever exports it.
//!
//! Plain atomics, one set for each resource: counting takes no lock, allocates nothing, and needs
//! no registry of metrics. Names and bounds of buckets are upstream's. It exports nothing itself.

use kubist_apimachinery::Str;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Upper bounds of the buckets of what storage takes, in seconds, as upstream's
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

/// How long things took, counted in buckets.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One for each bound, and one for what is above all.
    counts: Box<[AtomicU64]>,
    nanos: AtomicU64,
}

/// The state of a [`Histogram`].
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a histogram has no other parts")]
pub struct HistogramState {
    /// Upper bounds of the buckets, in seconds.
    pub bounds: &'static [f64],
    /// What fell into each bucket and not into one before; the last is above all bounds.
    pub counts: Vec<u64>,
    /// All durations together, in seconds.
    pub seconds: f64,
}

impl Histogram {
    /// With these upper bounds, in seconds, in rising order.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            nanos: AtomicU64::new(0),
        }
    }

    /// Counts a duration.
    pub fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = self.bounds.partition_point(|bound| *bound < seconds);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// What was counted.
    pub fn state(&self) -> HistogramState {
        let counts = self.counts.iter().map(|it| it.load(Ordering::Relaxed));
        HistogramState {
            bounds: self.bounds,
            counts: counts.collect(),
            seconds: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64(),
        }
    }
}

impl HistogramState {
    /// How much was counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// A number that only rises.
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

/// What is asked of storage.
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
            Self::Count => "count",
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
    /// Those that storage did not answer; a conflict is an answer.
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

/// What a watch cache counts.
#[derive(Debug)]
#[non_exhaustive]
pub struct CacheMetrics {
    /// Times that it has read everything.
    pub initializations: Count,
    /// Objects read then.
    pub init_events: Count,
    /// Events that came from the engine.
    pub events_received: Count,
    /// Events that were offered to watchers.
    pub events_dispatched: Count,
    /// Watchers ended because they were too slow.
    pub terminated_watchers: Count,
    /// How long requests waited until the cache was fresh.
    pub read_wait: Histogram,
    /// Consistent lists: by whether they succeeded, and whether storage had to answer.
    consistent: [[Count; 2]; 2],
}

impl CacheMetrics {
    /// Consistent lists that ended so: whether they succeeded, and whether storage answered them.
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
    /// Stored values that could not be read.
    pub decode_errors: Count,
    requests: [RequestMetrics; StorageRequest::ALL.len()],
}

impl ResourceMetrics {
    /// Zeros.
    pub fn new(group: impl Into<Str>, resource: impl Into<Str>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
            from_storage: ListMetrics::default(),
            from_cache: ListMetrics::default(),
            cache: CacheMetrics {
                initializations: Count::default(),
                init_events: Count::default(),
                events_received: Count::default(),
                events_dispatched: Count::default(),
                terminated_watchers: Count::default(),
                read_wait: Histogram::new(READ_WAIT_SECONDS),
                consistent: Default::default(),
            },
            decode_errors: Count::default(),
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

    #[test]
    fn durations_fall_into_the_first_bucket_whose_bound_is_not_below_them() {
        let histogram = Histogram::new(&[0.1, 1.0]);
        for millis in [0, 100, 101, 1_000, 1_001] {
            histogram.observe(Duration::from_millis(millis));
        }
        let state = histogram.state();
        assert_eq!(state.counts, [2, 2, 1]);
        assert_eq!(state.count(), 5);
        assert!((state.seconds - 2.202).abs() < 1e-9, "{}", state.seconds);
    }

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
