//! `ConnectionInfo`: what a request is told of the connection that it came on.

use crate::authentication::authenticator::Peer;
use crate::filters::pending_bodies::ConnectionBodies;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A connection, as its requests see it.
#[derive(Debug)]
pub(crate) struct ConnectionInfo {
    pub(crate) peer: Peer,
    /// Where its requests wait for their bodies.
    pub(crate) bodies: ConnectionBodies,
    pub(crate) client_state: Arc<ClientState>,
}

const UNAUTHENTICATED: u8 = 0;
const AUTHENTICATED: u8 = 1;
const CLOSING: u8 = 2;

/// Whether anybody has said, rightly, who they are on a connection; and if not, whether it has to
/// make room for another.
#[derive(Debug, Default)]
pub(crate) struct ClientState(AtomicU8);

impl ClientState {
    /// A request came of somebody who is known. One that has to leave leaves all the same.
    pub(crate) fn mark_authenticated(&self) {
        // Only the first of them writes, so that the others share the memory.
        if self.is_unauthenticated() {
            self.change(AUTHENTICATED);
        }
    }

    pub(crate) fn is_unauthenticated(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNAUTHENTICATED
    }

    /// It has to leave, if nobody is known. Whether that is so.
    pub(crate) fn begin_close(&self) -> bool {
        self.change(CLOSING)
    }

    fn change(&self, to: u8) -> bool {
        let (set, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        self.0
            .compare_exchange(UNAUTHENTICATED, to, set, failed)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_known_stays_and_who_leaves_is_not_kept() {
        let state = ClientState::default();
        assert!(state.is_unauthenticated());
        state.mark_authenticated();
        assert!(!state.is_unauthenticated() && !state.begin_close());
        let state = ClientState::default();
        assert!(state.begin_close());
        state.mark_authenticated();
        assert!(!state.is_unauthenticated() && !state.begin_close());
    }
}
