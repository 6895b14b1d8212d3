//! `Latencies`: how long requests of a client took that asks at a steady pace.

use std::time::Duration;

/// Samples that are kept of one request; at a pace of milliseconds, more than any time limit.
const MISSED_MAX: usize = 20_000;

/// Samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    samples: Vec<Duration>,
}

/// What samples come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// How many samples.
    pub(crate) count: usize,
    /// Half of them took no longer.
    pub(crate) p50: Duration,
    /// All but one in a hundred took no longer.
    pub(crate) p99: Duration,
    /// The longest.
    pub(crate) max: Duration,
}

impl Latencies {
    /// Adds a request that took so long, of a client that would have sent others meanwhile, one in
    /// each interval: these would have waited too, each for what was left. Without them a server
    /// that stands still for ten seconds would show one slow request.
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

    /// What they come to.
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

/// The smallest sample that so many per cent do not exceed; zero if there are none.
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
