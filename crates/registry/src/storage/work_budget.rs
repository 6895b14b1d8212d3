//! `WorkBudget`: long work in steps of so many bytes, between which others have their turn.
//!
//! How long work takes is often up to a client: how much it stores, what it selects. A task that
//! did all of it at once would keep the requests of everybody else waiting. It reads no clock: what
//! the work costs is known in bytes.

/// What may be done at a time, in bytes that are looked at: about a millisecond's work.
const STEP: usize = 256 << 10;
/// What looking at an object costs beside its bytes.
pub(crate) const OBJECT: usize = 128;

/// How much may be done before others have their turn.
#[derive(Debug)]
pub(crate) struct WorkBudget {
    left: usize,
}

impl WorkBudget {
    /// A full step.
    pub(crate) fn new() -> Self {
        Self { left: STEP }
    }

    /// Notes work that was done.
    pub(crate) fn note(&mut self, cost: usize) {
        self.left = self.left.saturating_sub(cost);
    }

    /// Gives way once what was noted makes a step.
    ///
    /// Cancel safe.
    pub(crate) async fn rest(&mut self) {
        if self.left == 0 {
            self.left = STEP;
            tokio::task::yield_now().await;
        }
    }

    /// Notes work that was done, and gives way once that makes a step.
    ///
    /// Cancel safe.
    pub(crate) async fn spend(&mut self, cost: usize) {
        self.note(cost);
        self.rest().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn others_have_their_turn_after_each_step() {
        let mut budget = WorkBudget::new();
        let mut turns = 0;
        for _ in 0..10 {
            if budget.spend(STEP / 2).now_or_never().is_none() {
                turns += 1;
            }
        }
        assert_eq!(turns, 5);
    }
}
