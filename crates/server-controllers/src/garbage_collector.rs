//! The garbage collector: deletes objects whose owners are gone, and performs foreground and orphan
//! deletions.
//!
//! It watches the metadata of every deletable resource, keeps a graph of owners and dependents, and
//! processes an object when its owners are deleted. Before a deletion it asks the server whether
//! the owner is really absent. It does not delete finished Pods, nor anything by age.

mod absent;
mod collect;
mod graph;
mod node;
mod observed;
mod recent;
mod unserved;
mod watched;

use self::collect::Collector;
use self::watched::{Watched, Watcher};
use kubist_apimachinery::Str;
use kubist_client::{Client, Discovery};
use kubist_workqueue::WorkQueue;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How often to process an object again whose owner exists but is not watched.
const UNWATCHED_OWNER_POLL: Duration = Duration::from_secs(30);
/// The delay between a changed definition and the next discovery, because several changes come
/// together.
const DEFINED_PAUSE: Duration = Duration::from_millis(100);
/// The pause after a failed discovery.
const DISCOVERY_RETRY: Duration = Duration::from_secs(1);

/// The configuration of the garbage collector.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Options {
    /// The number of objects processed concurrently. Default: 20, as upstream.
    pub workers: usize,
    /// How often to run discovery, in addition to each change of a custom resource definition.
    /// Default: 30 s, as upstream.
    pub discovery_period: Duration,
    /// How long to wait for the first lists before starting without some of them. Default: 30 s.
    pub sync_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 20,
            discovery_period: Duration::from_secs(30),
            sync_timeout: Duration::from_secs(30),
        }
    }
}

/// The figures of the garbage collector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Watched resources.
    pub resources: usize,
    /// Known objects.
    pub objects: usize,
    /// Processed objects.
    pub attempts: u64,
    /// Processed objects that failed and were retried.
    pub errors: u64,
    /// Owners requested from the server.
    pub lookups: u64,
    /// Objects deleted.
    pub deleted: u64,
    /// Objects from which some of several owners were removed.
    pub patched: u64,
    /// Objects from which an owner was removed that was deleted without its dependents.
    pub orphaned: u64,
    /// Objects whose finalizer was removed after their dependents were processed.
    pub released: u64,
}

/// Runs until `token` is cancelled. Waits for servers that are unreachable.
///
/// # Cancel safety
/// Dropping the future ends everything; completed writes remain.
pub async fn run(client: Client, options: Options, token: CancellationToken) -> Stats {
    let token = token.child_token();
    let (graph, watched) = (Arc::default(), Arc::<Watched>::default());
    let queue = WorkQueue::<Str>::default();
    let collector = Arc::new(Collector {
        client: client.clone(),
        graph: Arc::clone(&graph),
        watched: Arc::clone(&watched),
        absent: parking_lot::Mutex::default(),
        orphaned: parking_lot::Mutex::default(),
        stats: parking_lot::Mutex::default(),
    });
    let mut watcher = Watcher::new(client.clone(), watched, graph, queue.clone(), token.clone());
    let mut workers = JoinSet::new();
    tokio::select! {
        biased;
        () = token.cancelled() => {}
        () = follow(&client, &options, &mut watcher, || {
            for _ in 0..options.workers.max(1) {
                let (collector, queue) = (Arc::clone(&collector), queue.clone());
                workers.spawn(work(collector, queue, token.clone()));
            }
        }) => {}
    }
    queue.shut_down();
    while workers.join_next().await.is_some() {}
    let mut stats = collector.stats.lock().clone();
    stats.resources = watcher.len();
    stats.objects = collector.graph.lock().len();
    watcher.stopped().await;
    stats
}

/// Watches what the server serves, forever; calls `begin` once the graph is complete.
async fn follow(client: &Client, options: &Options, watcher: &mut Watcher, begin: impl FnOnce()) {
    watcher.follow(&discover(client).await).await;
    if timeout(options.sync_timeout, watcher.synced())
        .await
        .is_err()
    {
        let unsynced = watcher.unsynced().join(", ");
        tracing::warn!(%unsynced, "the garbage collector starts without some resources");
    }
    begin();
    loop {
        let defined = Arc::clone(&watcher.defined);
        tokio::select! {
            biased;
            () = sleep(options.discovery_period) => {}
            // A definition is served a moment after its creation.
            () = defined.notified() => sleep(DEFINED_PAUSE).await,
        }
        watcher.follow(&discover(client).await).await;
    }
}

async fn discover(client: &Client) -> Discovery {
    loop {
        match client.discover().await {
            Ok(discovery) => return discovery,
            Err(error) => {
                tracing::warn!(%error, "discovery failed in the garbage collector");
                sleep(DISCOVERY_RETRY).await;
            }
        }
    }
}

/// Runs one worker, which finishes its current object at the stop.
async fn work(collector: Arc<Collector>, queue: WorkQueue<Str>, token: CancellationToken) {
    loop {
        let work = tokio::select! {
            biased;
            () = token.cancelled() => return,
            work = queue.next() => work,
        };
        let Some(work) = work else { return };
        collector.stats.lock().attempts += 1;
        match collector.collect(work.item()).await {
            Ok(next) => {
                next.look.into_iter().for_each(|uid| queue.add(uid));
                if next.again {
                    work.requeue_after(UNWATCHED_OWNER_POLL);
                } else {
                    work.succeed();
                }
            }
            Err(error) => {
                collector.stats.lock().errors += 1;
                tracing::debug!(uid = %work.item(), %error, "an object could not be collected");
                work.fail();
            }
        }
    }
}
