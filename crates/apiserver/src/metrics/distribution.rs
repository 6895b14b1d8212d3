//! `Distribution`: durations or sizes, counted in buckets.

use kubist_registry::metrics::HistogramState;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Whole numbers of a unit that are counted in buckets.
#[derive(Debug)]
pub(crate) struct Distribution {
    bounds: &'static [f64],
    /// What the unit is of the numbers in `bounds`.
    unit: f64,
    /// One count for each bound, and one for what is above all bounds.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// Counts that are not added to a [`Distribution`] yet.
#[derive(Debug, Default)]
pub(super) struct Unadded {
    /// Empty until there is something.
    counts: Box<[u64]>,
    sum: u64,
}

const NANOSECONDS: f64 = 1e-9;
const BYTES: f64 = 1.0;

impl Distribution {
    /// Creates one of durations, with these bounds in seconds.
    pub(super) fn of_seconds(bounds: &'static [f64]) -> Self {
        Self::new(bounds, NANOSECONDS)
    }

    /// Creates one of sizes, with these bounds in bytes.
    pub(super) fn of_bytes(bounds: &'static [f64]) -> Self {
        Self::new(bounds, BYTES)
    }

    fn new(bounds: &'static [f64], unit: f64) -> Self {
        Self {
            bounds,
            unit,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a duration.
    pub(crate) fn took(&self, took: Duration) {
        self.add(
            u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
            took.as_secs_f64(),
        );
    }

    /// Counts a size.
    pub(super) fn sized(&self, bytes: u64) {
        self.add(bytes, super::exposition::number(bytes));
    }

    fn add(&self, number: u64, value: f64) {
        self.counts[bucket(self.bounds, value)].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(number, Ordering::Relaxed);
    }

    /// Adds what is not added yet.
    pub(super) fn add_all(&self, unadded: &mut Unadded) {
        for (count, more) in self.counts.iter().zip(&mut unadded.counts) {
            count.fetch_add(std::mem::take(more), Ordering::Relaxed);
        }
        let sum = std::mem::take(&mut unadded.sum);
        self.sum.fetch_add(sum, Ordering::Relaxed);
    }

    /// Returns the current state.
    pub(super) fn state(&self) -> HistogramState {
        let counts = self.counts.iter().map(|it| it.load(Ordering::Relaxed));
        HistogramState {
            bounds: self.bounds,
            counts: counts.collect(),
            seconds: super::exposition::number(self.sum.load(Ordering::Relaxed)) * self.unit,
        }
    }
}

impl Unadded {
    /// Counts a size.
    pub(super) fn sized(&mut self, bounds: &'static [f64], bytes: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; bounds.len() + 1].into();
        }
        self.counts[bucket(bounds, super::exposition::number(bytes))] += 1;
        self.sum = self.sum.saturating_add(bytes);
    }
}

fn bucket(bounds: &[f64], value: f64) -> usize {
    bounds.partition_point(|bound| *bound < value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_later_is_counted_in_the_same_buckets() {
        let bounds = &[10.0, 100.0];
        let sizes = Distribution::of_bytes(bounds);
        let mut unadded = Unadded::default();
        for bytes in [10, 11, 1000] {
            sizes.sized(bytes);
            unadded.sized(bounds, bytes);
        }
        sizes.add_all(&mut unadded);
        sizes.add_all(&mut unadded);
        let state = sizes.state();
        assert_eq!(state.counts, [2, 2, 2]);
        assert!((state.seconds - 2042.0).abs() < 1e-9);
        let times = Distribution::of_seconds(bounds);
        times.took(Duration::from_millis(10_500));
        assert_eq!(times.state().counts, [0, 1, 0]);
        assert!((times.state().seconds - 10.5).abs() < 1e-9);
    }
}
