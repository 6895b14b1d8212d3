//! The watch caches of a registry, and what keeps them up to date.

use crate::cacher::Cacher;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long the first reading of all watch caches may take, as upstream.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// The watch caches. They stand still once this is dropped.
#[derive(Debug)]
pub(super) struct Caches {
    cachers: Vec<Cacher>,
    running: Mutex<JoinSet<()>>,
}

impl Caches {
    pub(super) fn new(cachers: Vec<Cacher>) -> Self {
        Self {
            cachers,
            running: Mutex::default(),
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Cacher] {
        &self.cachers
    }

    /// Runs them, and waits for each, but not forever: a request tells its client if its resource
    /// is not ready.
    pub(super) async fn start(&self) {
        self.run();
        let all = async {
            for cacher in &self.cachers {
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
        for cacher in &self.cachers {
            let cacher = cacher.clone();
            running.spawn(async move { cacher.run().await });
        }
    }
}
