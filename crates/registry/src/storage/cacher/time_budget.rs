//! The time that all slow watchers of a cache together may delay the others.
//!
//! It refills over time, up to a maximum; unused time is returned. The numbers are upstream's.

use std::time::Duration;
use tokio::time::Instant;

/// The time refilled per second.
const REFILL_PER_SECOND: Duration = Duration::from_millis(50);
/// The maximum budget.
const MAX: Duration = Duration::from_millis(100);

/// A budget of waiting time.
#[derive(Debug)]
pub(crate) struct TimeBudget {
    left: Duration,
    at: Instant,
}

impl TimeBudget {
    /// Creates a full budget.
    pub(crate) fn new(now: Instant) -> Self {
        Self { left: MAX, at: now }
    }

    /// Takes the whole budget.
    pub(crate) fn take(&mut self, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.at);
        self.at = now;
        let refill = passed.mul_f64(REFILL_PER_SECOND.as_secs_f64());
        let all = self.left.saturating_add(refill).min(MAX);
        self.left = Duration::ZERO;
        all
    }

    /// Returns unused time.
    pub(crate) fn return_unused(&mut self, unused: Duration) {
        self.left = self.left.saturating_add(unused).min(MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_budget_refills_up_to_its_bound() {
        let start = Instant::now();
        let mut budget = TimeBudget::new(start);
        assert_eq!(budget.take(start), MAX);
        assert_eq!(budget.take(start), Duration::ZERO);
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(budget.take(after(1)), Duration::from_millis(50));
        budget.return_unused(Duration::from_millis(30));
        assert_eq!(budget.take(after(1)), Duration::from_millis(30));
        assert_eq!(budget.take(after(100)), MAX);
        budget.return_unused(Duration::from_secs(5));
        assert_eq!(budget.take(after(100)), MAX);
    }
}
