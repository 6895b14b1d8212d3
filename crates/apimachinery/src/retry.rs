//! `Retry`: whether and when to retry after an error.
//!
//! Every error of a network operation has one, so that loops need not know the error types. It is
//! advice, not a policy: the loop decides on counts and delays.

use std::time::Duration;

/// Whether and when to retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a loop must handle each answer")]
pub enum Retry {
    /// Do not retry: the same request would fail again.
    Never,
    /// Retry after the time that the server requested.
    After(Duration),
    /// Retry with growing pauses.
    Backoff,
    /// The requested version is gone: list again, then continue from there.
    Relist,
}

impl Retry {
    /// Reports whether a retry makes sense.
    pub fn is_retryable(self) -> bool {
        self != Self::Never
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_never_is_final() {
        let answers = [
            Retry::Never,
            Retry::After(Duration::from_secs(1)),
            Retry::Backoff,
            Retry::Relist,
        ];
        assert_eq!(answers.map(Retry::is_retryable), [false, true, true, true]);
    }
}
