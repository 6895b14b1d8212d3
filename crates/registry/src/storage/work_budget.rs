//! `WorkBudget`: divides long work into steps by bytes, and yields to other tasks between them.
//!
//! Clients often determine how long work takes, by the amount of data that they store and by their
//! selectors. Done without a yield, it would delay the requests of all other clients. The budget
//! reads no clock: the cost of work is known in bytes.

/// The size of a step, in examined bytes: about a millisecond of work.
const STEP: usize = 256 << 10;
/// The cost of examining an object in addition to its bytes.
pub(crate) const OBJECT: usize = 128;

/// The work that may be done before the next yield.
#[derive(Debug)]
pub(crate) struct WorkBudget {
    left: usize,
}

impl WorkBudget {
    /// Creates a budget of one full step.
    pub(crate) fn new() -> Self {
        Self { left: STEP }
    }

    /// Records completed work.
    pub(crate) fn note(&mut self, cost: usize) {
        self.left = self.left.saturating_sub(cost);
    }

    /// Yields if the recorded work fills a step.
    ///
    /// Cancel safe.
    pub(crate) async fn rest(&mut self) {
        if self.left == 0 {
            self.left = STEP;
            tokio::task::yield_now().await;
        }
    }

    /// Records completed work, and yields if it fills a step.
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
    fn the_budget_yields_after_each_step() {
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
