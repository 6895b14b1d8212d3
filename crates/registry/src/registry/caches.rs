//! The watch caches of a registry, and the tasks that keep them up to date.

use crate::storage::cacher::{Cacher, CacherStats};
use kubist_apimachinery::GroupResource;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The timeout for the first fill of all watch caches, as upstream.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// The time that a new custom resource waits for its watch cache before it is served: as long as a
/// request would. After that, requests are asked to retry.
const FILL_TIMEOUT: Duration = Duration::from_secs(3);

/// The watch caches of built-in resources. Dropping this stops their updates.
#[derive(Debug)]
pub(super) struct Caches {
    cachers: Vec<(GroupResource, Cacher)>,
    running: Mutex<JoinSet<()>>,
}

impl Caches {
    pub(super) fn new(cachers: Vec<(GroupResource, Cacher)>) -> Self {
        Self {
            cachers,
            running: Mutex::default(),
        }
    }

    /// Runs the caches, and waits for each for a limited time: a request reports if its resource is
    /// not ready.
    pub(super) async fn start(&self) {
        self.run();
        let all = async {
            for (_, cacher) in &self.cachers {
                cacher.wait_until_ready().await;
            }
        };
        drop(timeout(READY_TIMEOUT, all).await);
    }

    fn run(&self) {
        let mut running = self.running.lock();
        if !running.is_empty() {
            return;
        }
        for (_, cacher) in &self.cachers {
            let cacher = cacher.clone();
            running.spawn(async move { cacher.run().await });
        }
    }

    /// Returns the statistics of each cache.
    pub(super) fn stats(&self) -> impl Iterator<Item = (GroupResource, CacherStats)> {
        let cachers = self.cachers.iter();
        cachers.map(|(resource, cacher)| (resource.clone(), cacher.stats()))
    }
}

/// The watch cache of a resource that may be removed. Dropping this closes the cache and ends its
/// watches.
#[derive(Debug)]
pub(crate) struct RunningCache {
    cacher: Cacher,
    running: JoinSet<()>,
}

impl RunningCache {
    /// Runs a cache, and waits a limited time until it is filled.
    pub(crate) async fn start(cacher: Cacher) -> Self {
        let mut running = JoinSet::new();
        let runs = cacher.clone();
        running.spawn(async move { runs.run().await });
        let started = Self { cacher, running };
        drop(timeout(FILL_TIMEOUT, started.cacher.wait_until_ready()).await);
        started
    }

    pub(crate) fn stats(&self) -> CacherStats {
        self.cacher.stats()
    }
}

impl Drop for RunningCache {
    fn drop(&mut self) {
        self.running.abort_all();
        self.cacher.close();
    }
}
