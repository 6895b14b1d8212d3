//! `Membership`: a server among those of its cluster.
//!
//! It maintains the system objects, and with them the server's endpoint of the service
//! `kubernetes`, until the server leaves; then the endpoint is withdrawn, before anything else
//! stops.

use kubist_registry::{Announcement, Registry};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The time for the withdrawal; without it, the endpoint ends with its lease of 15 seconds.
const WITHDRAWAL_LIMIT: Duration = Duration::from_secs(2);

/// Dropping it ends the maintenance, without a withdrawal.
#[derive(Debug)]
pub(crate) struct Membership {
    leaving: CancellationToken,
    task: JoinSet<()>,
}

impl Membership {
    /// Begins the maintenance. Needs a tokio runtime.
    pub(crate) fn begin(registry: Registry, announcement: Announcement) -> Self {
        let leaving = CancellationToken::new();
        let asked = leaving.clone();
        let mut task = JoinSet::new();
        task.spawn(async move {
            let running = registry.run_system_objects(&announcement);
            if asked.run_until_cancelled(running).await.is_none() {
                withdraw(&registry, &announcement).await;
            }
        });
        Self { leaving, task }
    }

    /// Begins the withdrawal.
    pub(crate) fn leave(&self) {
        self.leaving.cancel();
    }

    /// Returns when the withdrawal has ended, with or without success.
    ///
    /// Cancel safe.
    pub(crate) async fn left(&mut self) {
        self.leave();
        while self.task.join_next().await.is_some() {}
    }
}

async fn withdraw(registry: &Registry, announcement: &Announcement) {
    match timeout(WITHDRAWAL_LIMIT, registry.withdraw(announcement)).await {
        Ok(Ok(())) => {}
        Ok(Err(status)) => {
            tracing::warn!(why = %status.message, "the server's endpoint could not be withdrawn");
        }
        Err(_) => tracing::warn!("withdrawing the server's endpoint took too long"),
    }
}
