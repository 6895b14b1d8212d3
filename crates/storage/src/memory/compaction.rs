//! Compaction of the memory engine, in steps: no write waits for more than one of them.

use super::{MemoryKv, Tree};
use crate::{CompactError, KvMaintenance as _, Revision};
use std::future::poll_fn;
use std::mem;
use std::task::Poll;
use std::time::Duration;

/// Maximum number of events that leave history before the lock is released.
const COMPACTED_AT_ONCE_MAX: usize = 256;
/// The most steps of old history that one tick discards: more than the writes of the time between
/// two ticks can leave behind.
const AGED_STEPS_MAX: usize = 8;
/// Nodes of retired trees that are dropped at once, in well under a millisecond.
const RELEASED_NODES_MAX: usize = 64;

impl MemoryKv {
    /// Discards history that is too old.
    pub(super) fn age(&self, now: Duration) {
        for _ in 0..AGED_STEPS_MAX {
            if self.change(|state, effects| state.age(now, COMPACTED_AT_ONCE_MAX, effects)) {
                break;
            }
        }
        self.forget_compacted_pages();
    }

    /// Discards history below a revision.
    pub(super) async fn compact_in_steps(&self, revision: Revision) -> Result<(), CompactError> {
        let mut begun = false;
        loop {
            let step = self
                .change(|state, effects| state.compact(revision, COMPACTED_AT_ONCE_MAX, effects));
            match step {
                Ok(true) => break,
                Ok(false) => begun = true,
                // Another compaction, or a full history, has overtaken this one.
                Err(CompactError::Compacted { .. }) if begun => break,
                Err(error) => return Err(error),
            }
            rest().await;
        }
        self.forget_compacted_pages();
        Ok(())
    }

    /// Takes trees that nobody can ask for any more, to drop them in small steps.
    pub(crate) fn retire(&self, trees: impl IntoIterator<Item = Tree>) {
        let mut trees = trees.into_iter().peekable();
        if trees.peek().is_some() {
            self.shared.retired.lock().extend(trees);
        }
    }

    /// Drops a part of the retired trees. Returns whether there are more.
    pub(crate) fn release_some(&self) -> bool {
        self.shared.retired.lock().release(RELEASED_NODES_MAX)
    }

    pub(super) fn forget_compacted_pages(&self) {
        let compacted = self.compacted();
        let dropped = self.shared.paged.lock().drop_before(compacted);
        self.retire(dropped.into_iter().map(|(_, tree)| tree));
    }
}

/// Lets other tasks run.
async fn rest() {
    let mut rested = false;
    poll_fn(|cx| {
        if mem::replace(&mut rested, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
