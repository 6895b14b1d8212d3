//! The watch caches of a registry, and what keeps them up to date.

use crate::storage::cacher::{Cacher, CacherStats};
use kubist_apimachinery::GroupResource;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long the first reading of all watch caches may take, as upstream.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// How long a custom resource that is about to be served waits for its watch cache: as long as a
/// request would. Later requests are told to come again.
const SERVED_WITHIN: Duration = Duration::from_secs(3);

/// The watch caches of built-in resources. They stand still once this is dropped.
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

    /// Runs them, and waits for each, but not forever: a request tells its client if its resource
    /// is not ready.
    pub(super) async fn start(&self) {
        self.run();
        let all = async {
            for (_, cacher) in &self.cachers {
                cacher.wait_until_ready().await;
            }
        };
        drop(timeout(READY_WITHIN, all).await);
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

    /// How each is.
    pub(super) fn stats(&self) -> impl Iterator<Item = (GroupResource, CacherStats)> {
        let cachers = self.cachers.iter();
        cachers.map(|(resource, cacher)| (resource.clone(), cacher.stats()))
    }
}

/// The watch cache of a resource that may go again. Once this is dropped it answers nothing, and
/// its watches end.
#[derive(Debug)]
pub(crate) struct RunningCache {
    cacher: Cacher,
    running: JoinSet<()>,
}

impl RunningCache {
    /// Runs a cache, and waits until it has read everything, but not for long.
    pub(crate) async fn start(cacher: Cacher) -> Self {
        let mut running = JoinSet::new();
        let runs = cacher.clone();
        running.spawn(async move { runs.run().await });
        let started = Self { cacher, running };
        drop(timeout(SERVED_WITHIN, started.cacher.wait_until_ready()).await);
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
