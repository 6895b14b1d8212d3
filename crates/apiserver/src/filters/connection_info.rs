//! `ConnectionInfo`: the facts about a connection that its requests use.

use crate::authentication::peer::Peer;
use crate::filters::pending_bodies::ConnectionBodies;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A connection, as its requests see it.
#[derive(Debug)]
pub(crate) struct ConnectionInfo {
    pub(crate) peer: Peer,
    /// The client's address, if it is not in this process.
    pub(crate) source: Option<SocketAddr>,
    /// The pending bodies of its requests.
    pub(crate) bodies: ConnectionBodies,
    pub(crate) client_state: Arc<ClientState>,
}

const UNAUTHENTICATED: u8 = 0;
const AUTHENTICATED: u8 = 1;
const CLOSING: u8 = 2;

/// Whether a request on the connection was authenticated, and if not, whether it is being evicted.
#[derive(Debug, Default)]
pub(crate) struct ClientState(AtomicU8);

impl ClientState {
    /// A request was authenticated. A connection that is already closing still closes.
    pub(crate) fn mark_authenticated(&self) {
        // Only the first request writes, so that the others share the cache line.
        if self.is_unauthenticated() {
            self.change(AUTHENTICATED);
        }
    }

    pub(crate) fn is_unauthenticated(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNAUTHENTICATED
    }

    /// Begins to close the connection unless a request was authenticated. Returns whether it
    /// closes.
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
    fn authenticated_connections_stay_and_closing_ones_close() {
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
