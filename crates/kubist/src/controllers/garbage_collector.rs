//! The garbage collector: deletes what has lost its owners, and carries out foreground and orphan
//! deletions.
//!
//! It watches the metadata of every resource that can be deleted, keeps a graph of owners and
//! dependents, and looks at an object when its owners go. It deletes nothing without having asked
//! the server whether the owner is really absent. It does not remove Pods that have ended, nor
//! anything by age.

mod absent;
mod collect;
mod graph;
mod node;
mod unserved;
mod watched;

use std::sync::Arc;
use std::time::Duration;

use kubist_apimachinery::Str;
use kubist_client::{Client, Discovery};
use kubist_workqueue::WorkQueue;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::collect::Collector;
use self::watched::{Watched, Watcher};

/// How often an object is looked at again whose owner exists but is not watched.
const UNWATCHED_OWNER_POLL: Duration = Duration::from_secs(30);
/// From a change of a definition to the next discovery: several changes come together.
const DEFINED_PAUSE: Duration = Duration::from_millis(100);
/// The pause after a discovery that failed.
const DISCOVERY_RETRY: Duration = Duration::from_secs(1);

/// How the garbage collector works.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Options {
    /// Objects that are dealt with at the same time. Default: 20, as upstream.
    pub workers: usize,
    /// How often to ask which resources there are, beside each time that a definition of custom
    /// resources changes. Default: 30 s, as upstream.
    pub discovery_period: Duration,
    /// How long to wait for the first lists before work begins without some. Default: 30 s.
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

/// What the garbage collector has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Resources that it watches.
    pub resources: usize,
    /// Objects that it knows.
    pub objects: usize,
    /// Objects that were looked at.
    pub attempts: u64,
    /// Of these, those that failed and were tried again.
    pub errors: u64,
    /// Owners asked for at the server.
    pub lookups: u64,
    /// Objects deleted.
    pub deleted: u64,
    /// Objects that lost some of several owners.
    pub patched: u64,
    /// Objects that lost an owner which was deleted without its dependents.
    pub orphaned: u64,
    /// Objects let go after their dependents were dealt with.
    pub released: u64,
}

/// Collects until `token` is cancelled. Servers that cannot be reached are waited for.
///
/// # Cancel safety
/// Dropping the future ends everything; what was written stays.
pub async fn run(client: Client, options: Options, token: CancellationToken) -> Stats {
    let token = token.child_token();
    let (graph, watched) = (Arc::default(), Arc::<Watched>::default());
    let queue = WorkQueue::<Str>::default();
    let collector = Arc::new(Collector {
        client: client.clone(),
        graph: Arc::clone(&graph),
        watched: Arc::clone(&watched),
        absent: parking_lot::Mutex::default(),
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

/// Follows what the server serves, for ever; `begin` is called once the graph is complete.
async fn follow(client: &Client, options: &Options, watcher: &mut Watcher, begin: impl FnOnce()) {
    watcher.follow(&discover(client).await);
    if timeout(options.sync_timeout, watcher.synced())
        .await
        .is_err()
    {
        let behind = watcher.behind().join(", ");
        tracing::warn!(%behind, "the garbage collector begins without some resources");
    }
    begin();
    loop {
        let defined = Arc::clone(&watcher.defined);
        tokio::select! {
            () = sleep(options.discovery_period) => {}
            // A definition is served a moment after it has come.
            () = defined.notified() => sleep(DEFINED_PAUSE).await,
        }
        watcher.follow(&discover(client).await);
    }
}

async fn discover(client: &Client) -> Discovery {
    loop {
        match client.discover().await {
            Ok(discovery) => return discovery,
            Err(error) => {
                tracing::warn!(%error, "the garbage collector cannot find out what is served");
                sleep(DISCOVERY_RETRY).await;
            }
        }
    }
}

/// One worker. What it has begun when the stop comes, it finishes.
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
