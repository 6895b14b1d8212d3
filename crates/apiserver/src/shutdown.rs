//! `Shutdown`: how far the end of a server has come.
//!
//! First it is announced: the server is not ready any more, and serves as before, so that whoever
//! sends requests its way stops doing so. Then it closes: nothing is accepted any more, connections
//! are told to go (GOAWAY on HTTP/2, `Connection: close` on HTTP/1.1), requests end by themselves,
//! and each watch ends, with a bookmark if its client takes them, at a moment of its own within a
//! bound, so that their clients do not all arrive elsewhere together.

use crate::random;
use std::time::Duration;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// How far the end of a server has come. A clone is another handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shutdown {
    announced: CancellationToken,
    closing: CancellationToken,
    watches_within: Duration,
}

impl Shutdown {
    /// A server that does not end yet; its watches will, within this time.
    pub(crate) fn new(watches_within: Duration) -> Self {
        Self {
            watches_within,
            ..Self::default()
        }
    }

    /// From here on the server is not ready. Whether it was announced before.
    pub(crate) fn announce(&self) -> bool {
        let before = self.announced.is_cancelled();
        self.announced.cancel();
        before
    }

    pub(crate) fn is_announced(&self) -> bool {
        self.announced.is_cancelled()
    }

    /// From here on connections and watches end.
    pub(crate) fn close(&self) {
        self.announced.cancel();
        self.closing.cancel();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// As [`closing`](Self::closing), for who keeps it.
    pub(crate) fn closed(&self) -> WaitForCancellationFutureOwned {
        self.closing.clone().cancelled_owned()
    }

    pub(crate) async fn closing(&self) {
        self.closing.cancelled().await;
    }

    /// How long one watch still goes on once the server closes.
    pub(crate) fn watch_delay(&self) -> Duration {
        let within = u64::try_from(self.watches_within.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(random::number() % within.saturating_add(1))
    }
}
