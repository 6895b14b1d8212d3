//! `Latencies`: latencies of a client that sends requests at a steady rate.

use std::time::Duration;

/// The most samples for one request; at intervals of milliseconds, more than any time limit needs.
const MISSED_MAX: usize = 20_000;

/// Samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    samples: Vec<Duration>,
}

/// A summary of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// The number of samples.
    pub(crate) count: usize,
    /// The median.
    pub(crate) p50: Duration,
    /// The 99th percentile.
    pub(crate) p99: Duration,
    /// The maximum.
    pub(crate) max: Duration,
}

impl Latencies {
    /// Adds a request with this latency, and samples for the requests that the client would have
    /// sent meanwhile, one in each interval: each would have waited for the rest. Without them, a
    /// server that hangs for ten seconds would show one slow request.
    pub(crate) fn record(&mut self, took: Duration, interval: Duration) {
        self.samples.push(took);
        if interval.is_zero() {
            return;
        }
        let mut left = took.saturating_sub(interval);
        let mut missed = 0;
        while left >= interval && missed < MISSED_MAX {
            self.samples.push(left);
            left -= interval;
            missed += 1;
        }
    }

    /// Returns the summary.
    pub(crate) fn figures(mut self) -> Figures {
        self.samples.sort_unstable();
        Figures {
            count: self.samples.len(),
            p50: percentile(&self.samples, 50),
            p99: percentile(&self.samples, 99),
            max: self.samples.last().copied().unwrap_or_default(),
        }
    }
}

/// Returns the smallest sample that this percentage does not exceed; zero without samples.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    let sample = sorted.get(rank.saturating_sub(1));
    sample.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn percentiles_are_the_nearest_rank() {
        let samples: Vec<Duration> = (1..=200).map(ms).collect();
        assert_eq!(percentile(&samples, 50), ms(100));
        assert_eq!(percentile(&samples, 99), ms(198));
        assert_eq!(percentile(&samples[..1], 99), ms(1));
        assert_eq!(percentile(&[], 99), Duration::ZERO);
    }

    #[test]
    fn a_standstill_counts_for_all_who_would_have_waited() {
        let mut latencies = Latencies::default();
        for _ in 0..90 {
            latencies.record(ms(1), ms(5));
        }
        latencies.record(ms(50), ms(5));
        let figures = latencies.figures();
        // 50, 45, 40, and so on down to 5.
        assert_eq!(figures.count, 100);
        assert_eq!(
            (figures.p50, figures.p99, figures.max),
            (ms(1), ms(45), ms(50))
        );
    }

    #[test]
    fn nobody_asked_and_nobody_waited() {
        assert_eq!(Latencies::default().figures(), Figures::default());
    }
}
