//! `Caller`: what a request is told of the connection that it came on.

use crate::authentication::authenticator::Peer;
use crate::filters::pending_bodies::Gate;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A connection, as its requests see it.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) peer: Peer,
    /// Where its requests wait for their bodies.
    pub(crate) gate: Gate,
    pub(crate) standing: Arc<Standing>,
}

const STRANGER: u8 = 0;
const KNOWN: u8 = 1;
const LEAVING: u8 = 2;

/// Whether anybody has said, rightly, who they are on a connection; and if not, whether it has to
/// make room for another.
#[derive(Debug, Default)]
pub(crate) struct Standing(AtomicU8);

impl Standing {
    /// A request came of somebody who is known. One that has to leave leaves all the same.
    pub(crate) fn become_known(&self) {
        // Only the first of them writes, so that the others share the memory.
        if self.is_stranger() {
            self.change(KNOWN);
        }
    }

    pub(crate) fn is_stranger(&self) -> bool {
        self.0.load(Ordering::Relaxed) == STRANGER
    }

    /// It has to leave, if nobody is known. Whether that is so.
    pub(crate) fn leave(&self) -> bool {
        self.change(LEAVING)
    }

    fn change(&self, to: u8) -> bool {
        let (set, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        self.0.compare_exchange(STRANGER, to, set, failed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_known_stays_and_who_leaves_is_not_kept() {
        let standing = Standing::default();
        assert!(standing.is_stranger());
        standing.become_known();
        assert!(!standing.is_stranger() && !standing.leave());
        let standing = Standing::default();
        assert!(standing.leave());
        standing.become_known();
        assert!(!standing.is_stranger() && !standing.leave());
    }
}
