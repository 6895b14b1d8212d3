//! `RetryWindow`: a time window in which errors of one kind are retried.
//!
//! It opens with the first error, stays open for a fixed time, and resets after a minute without
//! errors. The rule is that of client-go's `tools/cache/retry_with_deadline.go`.

use super::config::RETRY_WINDOW_RESET;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(super) struct RetryWindow {
    max: Duration,
    /// The times of the first and the last error of this series.
    trouble: Option<(Duration, Duration)>,
}

impl RetryWindow {
    /// Creates a window of this length; none if it is 0.
    pub(super) fn new(max: Duration) -> Self {
        Self { max, trouble: None }
    }

    /// Records an error; reports whether a retry is allowed.
    pub(super) fn admits(&mut self, now: Duration) -> bool {
        let first = match self.trouble {
            Some((first, last)) if now.saturating_sub(last) < RETRY_WINDOW_RESET => first,
            _ => now,
        };
        let open = !self.max.is_zero() && now.saturating_sub(first) <= self.max;
        self.trouble = open.then_some((first, now));
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(max: u64, errors_at: &[u64]) -> Vec<bool> {
        let mut window = RetryWindow::new(Duration::from_secs(max));
        let seconds = errors_at.iter().copied().map(Duration::from_secs);
        seconds.map(|now| window.admits(now)).collect()
    }

    #[test]
    fn a_window_admits_until_its_time_is_over_and_opens_anew_after_a_quiet_minute() {
        assert_eq!(admitted(0, &[0, 1]), [false, false]);
        assert_eq!(admitted(30, &[5, 20, 35, 36]), [true, true, true, false]);
        // After the window has closed, the next error opens another.
        assert_eq!(admitted(30, &[5, 36, 37]), [true, false, true]);
        // An error after a minute without errors starts a new series; an earlier one does not.
        assert_eq!(admitted(90, &[0, 59, 119]), [true, true, true]);
        assert_eq!(admitted(90, &[0, 59, 118]), [true, true, false]);
    }
}
