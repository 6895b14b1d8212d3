//! `Retry`: what a caller should do after an error.
//!
//! Every error of a network operation answers this question, so that loops need not know its kind.
//! It is advice, not a policy: counts and delays of a backoff belong to whoever loops.

use std::time::Duration;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a loop must handle each answer")]
pub enum Retry {
    /// Do not try again: the same request would fail the same way.
    Never,
    /// Try again after the time that the server asked for.
    After(Duration),
    /// Try again, at growing intervals.
    Backoff,
    /// The version asked for is gone: list again, then continue from there.
    Relist,
}

impl Retry {
    /// Whether trying again makes sense.
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
