//! How many seats a priority level was asked for: average, spread and peak over a period.

use std::time::Duration;

/// How much of the last smoothed demand is kept each period, as upstream: it halves in five
/// minutes of periods of ten seconds.
const KEPT: f64 = 0.977;

/// The demand for seats of one level.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    current: f64,
    changed: Duration,
    began: Duration,
    /// The integrals of the demand and of its square.
    sum: f64,
    squares: f64,
    peak: f64,
    smoothed: f64,
}

/// The demand of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Period {
    /// The most seats at a time.
    pub(crate) peak: f64,
    /// Average and spread, which falls slowly.
    pub(crate) smoothed: f64,
}

impl Demand {
    /// The demand changes.
    pub(crate) fn set(&mut self, now: Duration, seats: u32) {
        self.integrate(now);
        self.current = f64::from(seats);
        self.peak = self.peak.max(self.current);
    }

    fn integrate(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.changed).as_secs_f64();
        self.sum += self.current * passed;
        self.squares += self.current * self.current * passed;
        self.changed = self.changed.max(now);
    }

    /// Ends a period, and begins the next one.
    pub(crate) fn period(&mut self, now: Duration) -> Period {
        self.integrate(now);
        let length = now.saturating_sub(self.began).as_secs_f64();
        let (average, mean_square) = if length > 0.0 {
            (self.sum / length, self.squares / length)
        } else {
            (self.current, self.current * self.current)
        };
        let deviation = (mean_square - average * average).max(0.0).sqrt();
        let envelope = average + deviation;
        self.smoothed = envelope.max(KEPT * self.smoothed + (1.0 - KEPT) * envelope);
        let period = Period {
            peak: self.peak,
            smoothed: self.smoothed,
        };
        (self.sum, self.squares, self.peak) = (0.0, 0.0, self.current);
        self.began = now;
        period
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole numbers are exact")]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_period_knows_its_peak_and_average_and_forgets_slowly() {
        let mut demand = Demand::default();
        demand.set(at(0), 4);
        let period = demand.period(at(10));
        assert_eq!((period.peak, period.smoothed), (4.0, 4.0));
        demand.set(at(15), 0);
        let period = demand.period(at(20));
        assert_eq!(period.peak, 4.0);
        // Half of the time four, half none: the average is 2, and so is the deviation.
        assert!((period.smoothed - 4.0).abs() < 1e-9);
        let period = demand.period(at(30));
        assert_eq!(period.peak, 0.0);
        assert!((period.smoothed - 4.0 * KEPT).abs() < 1e-9);
    }

    #[test]
    fn a_period_without_length_is_what_is_now() {
        let mut demand = Demand::default();
        demand.set(at(0), 3);
        assert_eq!(demand.period(at(0)).smoothed, 3.0);
    }
}
