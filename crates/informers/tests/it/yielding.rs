//! Other tasks run whatever handlers do, with a real clock and handlers that really block.

use crate::cluster::{Cluster, pod};
use crate::handlers::factory;
use kubist_api::core::v1::Pod;
use kubist_cache::{Index, ResourceEvent, Selection, Source as _};
use kubist_informers::{HandlerConfig, Informer, InformerConfig, QueueKind, SharedInformer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long one call blocks its thread.
const CALL: Duration = Duration::from_micros(100);
/// The maximum number of calls in one turn of our tasks; calls, so that a busy machine does not
/// affect the test.
const TURN_CALLS_MAX: u64 = 100;
const PODS: u64 = 1_500;

/// Counts blocking calls, and how many were made between two turns of another task.
#[derive(Clone, Default)]
struct Calls {
    all: Arc<AtomicU64>,
}

impl Calls {
    fn block(&self) {
        let begin = Instant::now();
        while begin.elapsed() < CALL {
            std::hint::spin_loop();
        }
        self.all.fetch_add(1, Ordering::SeqCst);
    }

    /// Sleeps repeatedly until this many calls were made; returns the maximum during one sleep.
    async fn most_until(&self, calls: u64) -> u64 {
        let (mut most, mut before) = (0, self.all.load(Ordering::SeqCst));
        while before < calls {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let now = self.all.load(Ordering::SeqCst);
            most = most.max(now - before);
            before = now;
        }
        most
    }
}

fn cluster() -> Cluster {
    let cluster = Cluster::default();
    (0..PODS).for_each(|it| cluster.put(pod(&format!("web-{it}"))));
    cluster
}

/// Adds handlers of each kind, the first of which blocks.
fn add_handlers(pods: &SharedInformer<Pod>, calls: &Calls) {
    let config = HandlerConfig {
        resync: Some(Duration::from_secs(1)),
        ..HandlerConfig::default()
    };
    let called = calls.clone();
    let handler = move |_: ResourceEvent<Pod>| called.block();
    pods.add_handler_with(handler.clone(), config.clone());
    pods.add_handler_in_place(handler, config.clone());
    let waits = calls.clone();
    let waiting = move |_: ResourceEvent<Pod>| {
        waits.block();
        std::future::ready(())
    };
    pods.add_waiting_handler(waiting, config);
}

/// Contract INF-20.
#[tokio::test]
async fn handlers_that_block_let_others_have_their_turn_after_ten_milliseconds() {
    let (cluster, calls) = (cluster(), Calls::default());
    let factory = factory(&cluster, QueueKind::RealFifo);
    let pods = factory.informer::<Pod>();
    add_handlers(&pods, &calls);
    factory.start();
    // The first list and one resync.
    let most = calls.most_until(6 * PODS).await;
    assert!(
        most <= TURN_CALLS_MAX,
        "{most} calls of {CALL:?} in one turn"
    );
    factory.shutdown().await;
}

/// Contract INF-20.
#[tokio::test]
async fn a_reader_of_events_is_made_to_yield() {
    let (cluster, calls) = (cluster(), Calls::default());
    let factory = factory(&cluster, QueueKind::RealFifo);
    let pods = factory.informer::<Pod>();
    let mut subscription = pods.subscribe(HandlerConfig::default());
    factory.start();
    pods.synced().await.expect("it runs");
    let config = InformerConfig::default();
    let source = cluster.lister_watcher::<Pod>(&Selection::all());
    let mut informer = Informer::new(source, config);
    let mut tasks = tokio::task::JoinSet::new();
    let (one, two) = (calls.clone(), calls.clone());
    tasks.spawn(async move {
        while subscription.next().await.is_some() {
            one.block();
        }
    });
    tasks.spawn(async move {
        loop {
            informer.next().await;
            two.block();
        }
    });
    let most = calls.most_until(2 * PODS).await;
    assert!(
        most <= TURN_CALLS_MAX,
        "{most} calls of {CALL:?} in one turn"
    );
    factory.shutdown().await;
}

/// Contract INF-20.
#[tokio::test]
async fn a_long_list_and_a_new_index_let_others_have_their_turn() {
    let (cluster, calls) = (cluster(), Calls::default());
    let factory = factory(&cluster, QueueKind::RealFifo);
    let pods = factory.informer::<Pod>();
    let blocking = |name: &'static str| {
        let calls = calls.clone();
        Index::new(name, move |_: &Pod, values| {
            calls.block();
            values.push(name);
        })
    };
    pods.add_index(blocking("first"));
    factory.start();
    let first_list = calls.most_until(PODS).await;
    pods.add_index(blocking("second"));
    let index = calls.most_until(2 * PODS).await;
    for most in [first_list, index] {
        assert!(
            most <= TURN_CALLS_MAX,
            "{most} calls of {CALL:?} in one turn"
        );
    }
    factory.shutdown().await;
}
