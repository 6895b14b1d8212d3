//! `RetryWindow`: for how long errors of one kind are met by trying the same again.
//!
//! It opens with a first error, stays open for a fixed time, and is forgotten after a quiet
//! minute. Source: client-go `tools/cache/retry_with_deadline.go`.

use super::config::RETRY_WINDOW_RESET;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(super) struct RetryWindow {
    max: Duration,
    /// When the first and the last error of this trouble came.
    trouble: Option<(Duration, Duration)>,
}

impl RetryWindow {
    /// A window of this length; none if it is 0.
    pub(super) fn new(max: Duration) -> Self {
        Self { max, trouble: None }
    }

    /// An error came. Whether the same may be tried again.
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
        // After it has closed, the next error begins another.
        assert_eq!(admitted(30, &[5, 36, 37]), [true, false, true]);
        // Quiet for a minute: what comes is a new trouble; for less: the same.
        assert_eq!(admitted(90, &[0, 59, 119]), [true, true, true]);
        assert_eq!(admitted(90, &[0, 59, 118]), [true, true, false]);
    }
}
