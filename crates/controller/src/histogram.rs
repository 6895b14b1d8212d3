//! `Histogram`: a distribution of durations in constant memory.
//!
//! It has sixteen buckets per power of two, so a quantile is at most 1/16 too high and never too
//! low. Below 16 µs it is exact to the microsecond. Only the maximum is kept as a single value.

use std::fmt;
use std::time::Duration;

/// The number of buckets per power of two, as an exponent.
const STEP_BITS: u32 = 4;
const STEPS: u64 = 1 << STEP_BITS;
/// The largest distinguished power of two: 2^40 µs are 12 days.
const EXPONENT_MAX: u32 = 40;
const BUCKETS: usize = ((EXPONENT_MAX - STEP_BITS + 2) as usize) << STEP_BITS;

/// Counts durations from microseconds to days.
#[derive(Clone)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    count: u64,
    sum: Duration,
    max: Duration,
}

impl Histogram {
    /// Records one duration.
    pub fn record(&mut self, duration: Duration) {
        self.counts[bucket(micros(duration))] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(duration);
        self.max = self.max.max(duration);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count += more;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// Returns the number of recorded durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of all durations.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// Returns how many durations are above the bound before and not above each bound, up to 1/16
    /// too low a bound; and, as the last, how many are above all. The bounds ascend.
    pub fn counts_within(&self, bounds: &[Duration]) -> Vec<u64> {
        let mut counts = vec![0; bounds.len() + 1];
        for (index, count) in self.counts.iter().enumerate().filter(|(_, it)| **it > 0) {
            let most = Duration::from_micros(upper(index));
            let place = bounds.partition_point(|it| *it < most);
            counts[place] += count;
        }
        counts
    }

    /// Returns the maximum.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// Returns the mean; zero if the histogram is empty.
    pub fn mean(&self) -> Duration {
        u32::try_from(self.count).map_or_else(
            |_| self.sum / u32::MAX,
            |count| self.sum.checked_div(count).unwrap_or_default(),
        )
    }

    /// Returns the duration that `percent` of all do not exceed (up to 1/16 more); zero if the
    /// histogram is empty. `percent` is clamped to 0 to 100.
    pub fn percentile(&self, percent: u8) -> Duration {
        let percent = u128::from(percent.min(100));
        let wanted = (u128::from(self.count) * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= wanted {
                return Duration::from_micros(upper(index)).min(self.max);
            }
        }
        self.max
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: Box::new([0; BUCKETS]),
            count: 0,
            sum: Duration::ZERO,
            max: Duration::ZERO,
        }
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("p50", &self.percentile(50))
            .field("p99", &self.percentile(99))
            .field("max", &self.max)
            .finish_non_exhaustive()
    }
}

/// Rounded up, so that a quantile is never too low.
fn micros(duration: Duration) -> u64 {
    let micros = duration.as_nanos().div_ceil(1000);
    u64::try_from(micros)
        .unwrap_or(u64::MAX)
        .min((2 << EXPONENT_MAX) - 1)
}

fn bucket(micros: u64) -> usize {
    if micros < STEPS {
        return usize::try_from(micros).expect("less than 16");
    }
    let exponent = micros.ilog2();
    let step = (micros >> (exponent - STEP_BITS)) & (STEPS - 1);
    let index = (u64::from(exponent - STEP_BITS + 1) << STEP_BITS) + step;
    usize::try_from(index).expect("micros() is limited")
}

/// Returns the largest number of microseconds in a bucket.
fn upper(index: usize) -> u64 {
    let index = index as u64;
    let Some(exponent) = (index >> STEP_BITS).checked_sub(1) else {
        return index;
    };
    (((index & (STEPS - 1)) + STEPS + 1) << exponent) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_in_the_bucket_that_holds_it() {
        let mut last = None;
        for exponent in 0..=EXPONENT_MAX {
            for step in 0..32 {
                let value = (1_u64 << exponent) + ((1_u64 << exponent) * step) / 32;
                let index = bucket(value);
                assert!(last <= Some(index), "{value} is in order");
                last = Some(index);
                assert!(value <= upper(index) && upper(index) <= value + value / 16);
                assert!(index == 0 || upper(index - 1) < value);
            }
        }
        assert_eq!(bucket(micros(Duration::MAX)), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_close_and_never_too_low() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(99), Duration::ZERO);
        assert_eq!(histogram.mean(), Duration::ZERO);
        (1..=1000).for_each(|it| histogram.record(Duration::from_millis(it)));
        let p50 = histogram.percentile(50);
        assert!(p50 >= Duration::from_millis(500) && p50 < Duration::from_millis(532));
        assert_eq!(histogram.percentile(100), Duration::from_secs(1));
        assert_eq!(histogram.mean(), Duration::from_micros(500_500));
        let mut both = Histogram::default();
        both.record(Duration::from_secs(9));
        both.merge(&histogram);
        assert_eq!((both.count(), both.max()), (1001, Duration::from_secs(9)));
    }
}
