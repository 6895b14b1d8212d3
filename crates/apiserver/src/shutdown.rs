//! `Shutdown`: the phases of a server's shutdown.
//!
//! First it is announced: the server is no longer ready but serves as before, so that load
//! balancers stop sending requests. Then it closes: no connection is accepted, connections get
//! GOAWAY (HTTP/2) or `Connection: close` (HTTP/1.1), and requests finish. Each watch ends, with a
//! bookmark if its client allows them, at a random moment within a bound, so that the clients do
//! not all reconnect elsewhere at once.

use crate::random::Chance;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The phase of a server's shutdown. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shutdown {
    announced: CancellationToken,
    closing: CancellationToken,
    watches_within: Duration,
    chance: Arc<Chance>,
}

impl Shutdown {
    /// A server that is not shutting down; its watches will end within this time.
    pub(crate) fn new(watches_within: Duration, chance: Arc<Chance>) -> Self {
        Self {
            watches_within,
            chance,
            ..Self::default()
        }
    }

    /// Announces the shutdown: from now on the server is not ready. Returns whether it was
    /// announced before.
    pub(crate) fn announce(&self) -> bool {
        let before = self.announced.is_cancelled();
        self.announced.cancel();
        before
    }

    pub(crate) fn is_announced(&self) -> bool {
        self.announced.is_cancelled()
    }

    /// Closes connections and watches from now on.
    pub(crate) fn close(&self) {
        self.announced.cancel();
        self.closing.cancel();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Like [`closing`](Self::closing), as an owned future.
    pub(crate) fn closed(&self) -> WaitForCancellationFutureOwned {
        self.closing.clone().cancelled_owned()
    }

    pub(crate) async fn closing(&self) {
        self.closing.cancelled().await;
    }

    /// Returns a random time for which a watch may continue after the server closes.
    pub(crate) fn watch_delay(&self) -> Duration {
        let within = u64::try_from(self.watches_within.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.chance.number() % within.saturating_add(1))
    }
}
