//! `Action`: what a successful reconcile requests next.

use std::time::Duration;

/// What happens to the key after a successful reconcile. Later changes requeue it in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[must_use = "it is the answer to the controller"]
pub struct Action {
    pub(crate) requeue_after: Option<Duration>,
}

impl Action {
    /// Nothing: the next change requeues the key.
    pub const fn done() -> Self {
        Self {
            requeue_after: None,
        }
    }

    /// Requeues the key after `wait`, or earlier if something changes.
    pub const fn requeue_after(wait: Duration) -> Self {
        Self {
            requeue_after: Some(wait),
        }
    }

    /// Returns the earlier of the two.
    pub fn earlier(self, other: Self) -> Self {
        let requeue_after = match (self.requeue_after, other.requeue_after) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self { requeue_after }
    }

    /// Returns the requeue delay, if any.
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
        let minute = Action::requeue_after(Duration::from_secs(60));
        assert_eq!(minute.earlier(second), second);
        assert_eq!(Action::done().earlier(minute), minute);
        assert_eq!(Action::done().earlier(Action::done()).wait(), None);
    }
}
