//! `Histogram`: durations counted in buckets, without locks.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A histogram of durations.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One count for each bound, and one for durations above all bounds. None before the first: of
    /// what is counted for each of a thousand kinds, most never happens.
    counts: OnceLock<Box<[AtomicU64]>>,
    nanos: AtomicU64,
}

/// The state of a [`Histogram`].
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a histogram has no other parts")]
pub struct HistogramState {
    /// Upper bounds of the buckets, in seconds.
    pub bounds: &'static [f64],
    /// The count of each bucket, not cumulative; the last is above all bounds.
    pub counts: Vec<u64>,
    /// The sum of all durations, in seconds.
    pub seconds: f64,
}

impl Histogram {
    /// Creates a histogram with these upper bounds in seconds, in ascending order.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: OnceLock::new(),
            nanos: AtomicU64::new(0),
        }
    }

    /// Counts a duration.
    pub fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = self.bounds.partition_point(|bound| *bound < seconds);
        let zeros = || (0..=self.bounds.len()).map(|_| AtomicU64::new(0)).collect();
        self.counts.get_or_init(zeros)[bucket].fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Returns the current state.
    pub fn state(&self) -> HistogramState {
        let counts = match self.counts.get() {
            Some(counts) => counts.iter().map(|it| it.load(Ordering::Relaxed)).collect(),
            None => vec![0; self.bounds.len() + 1],
        };
        HistogramState {
            bounds: self.bounds,
            counts,
            seconds: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64(),
        }
    }
}

impl HistogramState {
    /// Adds the counts of another state with the same bounds.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.seconds += other.seconds;
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
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

    #[test]
    fn histograms_with_the_same_bounds_add_up() {
        let (one, other) = (Histogram::new(&[0.1, 1.0]), Histogram::new(&[0.1, 1.0]));
        one.observe(Duration::from_millis(50));
        other.observe(Duration::from_millis(500));
        let mut sum = one.state();
        sum.add(&other.state());
        assert_eq!(sum.counts, [1, 1, 0]);
        assert!((sum.seconds - 0.55).abs() < 1e-9, "{}", sum.seconds);
    }
}
