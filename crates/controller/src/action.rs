//! `Action`: what a reconciler that succeeded wants next.

use std::time::Duration;

/// What happens to the name after a run that succeeded. Changes bring it back in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[must_use = "it is the answer to the controller"]
pub struct Action {
    pub(crate) requeue_after: Option<Duration>,
}

impl Action {
    /// Nothing: the next change brings the name back.
    pub const fn done() -> Self {
        Self {
            requeue_after: None,
        }
    }

    /// Again after `wait`, or earlier if something changes.
    pub const fn requeue_after(wait: Duration) -> Self {
        Self {
            requeue_after: Some(wait),
        }
    }

    /// The earlier of both.
    pub fn earlier(self, other: Self) -> Self {
        let requeue_after = match (self.requeue_after, other.requeue_after) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self { requeue_after }
    }

    /// After how long the name comes back without a change.
    pub const fn wait(self) -> Option<Duration> {
        self.requeue_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_of_two_actions_wins() {
        let second = Action::requeue_after(Duration::from_secs(1));
        let minute = Action::requeue_after(Duration::from_mins(1));
        assert_eq!(minute.earlier(second), second);
        assert_eq!(Action::done().earlier(minute), minute);
        assert_eq!(Action::done().earlier(Action::done()).wait(), None);
    }
}
