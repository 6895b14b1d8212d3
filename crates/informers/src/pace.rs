//! `Pace`: how long a task of ours works before others have their turn.
//!
//! By the clock, because what a call of somebody else's costs is not ours to say; and by tokio's
//! count, so that a paused clock does not make it unfair. It bounds the work between two looks, not
//! a single call that blocks.

use std::time::Duration;

use tokio::time::Instant;

/// How long a task works before it yields.
pub(crate) const TURN_MAX: Duration = Duration::from_millis(1);

/// One turn of a task.
#[derive(Debug)]
pub(crate) struct Pace {
    began: Instant,
}

impl Pace {
    /// A turn begins.
    pub(crate) fn begin() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    /// Whether others shall have their turn now.
    pub(crate) fn is_over(&self) -> bool {
        self.began.elapsed() >= TURN_MAX
    }

    /// Lets others have their turn if this one was long enough. To be asked after each piece of
    /// work.
    ///
    /// # Cancel safety
    /// Safe: it does nothing else.
    pub(crate) async fn keep(&mut self) {
        if self.is_over() {
            tokio::task::yield_now().await;
            *self = Self::begin();
        } else {
            tokio::task::consume_budget().await;
        }
    }
}
