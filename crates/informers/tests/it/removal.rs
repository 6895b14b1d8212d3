//! Handlers are added and removed at any time; the state of a stopped informer.

use crate::cluster::{Cluster, pod};
use crate::handlers::{Log, factory, started};
use crate::informer::settle;
use kubist_api::core::v1::Pod;
use kubist_cache::ResourceEvent;
use kubist_informers::{HandlerConfig, HandlerState, QueueKind, Registration, SharedInformer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

fn fails() {
    panic!("on the way out")
}

/// A handler whose calls take a minute.
fn slow(pods: &SharedInformer<Pod>, in_call: &Arc<AtomicBool>) -> Registration<Pod> {
    let in_call = Arc::clone(in_call);
    pods.add_waiting_handler(
        move |_: ResourceEvent<Pod>| {
            let in_call = Arc::clone(&in_call);
            async move {
                in_call.store(true, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(60)).await;
                in_call.store(false, Ordering::SeqCst);
            }
        },
        HandlerConfig::default(),
    )
}

/// Contract INF-10.
#[tokio::test(start_paused = true)]
async fn a_removal_that_waits_returns_when_the_call_under_way_is_done() {
    let cluster = Cluster::with(&["a", "b"]);
    let (factory, pods) = started(&cluster, QueueKind::RealFifo);
    let in_call = Arc::new(AtomicBool::new(false));
    let registration = slow(&pods, &in_call);
    settle().await;
    assert!(in_call.load(Ordering::SeqCst));
    registration.remove();
    assert_eq!(registration.ended().await, HandlerState::Removed);
    assert!(
        in_call.load(Ordering::SeqCst),
        "removed, and still in its call"
    );
    registration.remove_and_wait().await;
    assert!(!in_call.load(Ordering::SeqCst));
    tokio::time::sleep(Duration::from_secs(5 * 60)).await;
    assert!(!in_call.load(Ordering::SeqCst), "b is never delivered");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_waits_returns_for_handlers_that_never_ran() {
    let factory = factory(&Cluster::with(&["a"]), QueueKind::RealFifo);
    let pods = factory.informer::<Pod>();
    let log = Log::default();
    let never_started = pods.add_handler(log.handler());
    never_started.remove_and_wait().await;
    factory.start();
    pods.synced().await.expect("it runs");
    let just_added = pods.add_handler(log.handler());
    just_added.remove_and_wait().await;
    settle().await;
    assert_eq!(log.taken(), [""; 0]);
    factory.shutdown().await;
    let after = pods.add_handler(log.handler());
    assert_eq!(after.state(), HandlerState::Stopped);
    after.remove_and_wait().await;
    assert_eq!(
        after.state(),
        HandlerState::Stopped,
        "a removal changes nothing any more"
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_remove_itself_and_panic_while_it_is_removed() {
    let cluster = Cluster::with(&["a", "b"]);
    let (factory, pods) = started(&cluster, QueueKind::RealFifo);
    let own = Arc::new(parking_lot::Mutex::new(None::<Registration<Pod>>));
    let (calls, mine) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&own));
    let counted = Arc::clone(&calls);
    let registration = pods.add_handler(move |_: ResourceEvent<Pod>| {
        counted.fetch_add(1, Ordering::SeqCst);
        if let Some(own) = &*mine.lock() {
            own.remove();
        }
        fails();
    });
    *own.lock() = Some(registration.clone());
    assert_eq!(registration.ended().await, HandlerState::Removed);
    registration.remove_and_wait().await;
    assert_eq!(
        (calls.load(Ordering::SeqCst), registration.panics()),
        (1, 1)
    );
    own.lock().take();
    factory.shutdown().await;
}

/// Many tasks add and remove handlers at random while the server changes; remaining handlers
/// receive every event.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_come_and_go_while_the_server_changes() {
    let cluster = Cluster::with(&["a", "b", "c"]);
    let (factory, pods) = started(&cluster, QueueKind::RealFifo);
    let stays = Log::default();
    let constant = pods.add_handler(stays.handler());
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..8 {
        let (pods, cluster) = (pods.clone(), cluster.clone());
        tasks.spawn(async move {
            for round in 0..50 {
                let log = Log::default();
                let registration = pods.add_handler(log.handler());
                cluster.put(pod(&format!("{task}")));
                assert_eq!(registration.synced().await, HandlerState::Synced);
                if (task + round) % 2 == 0 {
                    registration.remove_and_wait().await;
                    log.taken();
                    cluster.put(pod(&format!("{task}")));
                    tokio::task::yield_now().await;
                    assert_eq!(log.taken(), [""; 0], "removed");
                } else {
                    drop(registration.remove_on_drop());
                }
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.expect("no task panics");
    }
    while pods.lister_unsynced().resource_version().to_u64() != Some(603) {
        tokio::task::yield_now().await;
    }
    let mut added = 0;
    while added < 3 + 8 {
        let received = stays.taken();
        added += received.iter().filter(|it| it.starts_with("Added")).count();
        tokio::task::yield_now().await;
    }
    assert_eq!((added, constant.state()), (3 + 8, HandlerState::Synced));
    factory.shutdown().await;
}
