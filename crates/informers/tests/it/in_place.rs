//! Handlers that the informer's own task calls.

use crate::cluster::{Cluster, pod};
use crate::handlers::{Log, factory, started};
use crate::informer::settle;
use kubist_api::core::v1::Pod;
use kubist_cache::ResourceEvent;
use kubist_informers::{HandlerConfig, HandlerState, QueueKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

on_both_queues! {
    a_handler_in_place_receives_short_lived_objects
    a_handler_in_place_that_panics_goes_on
    a_removed_handler_in_place_is_dropped_and_receives_nothing_more
}

/// Contract INF-19.
async fn a_handler_in_place_receives_short_lived_objects(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let factory = factory(&cluster, queue);
    let pods = factory.informer::<Pod>();
    let (early, late) = (Log::default(), Log::default());
    let registration = pods.add_handler_in_place(early.handler(), HandlerConfig::default());
    assert_eq!(registration.state(), HandlerState::Syncing);
    factory.start();
    assert_eq!(registration.synced().await, HandlerState::Synced);
    assert_eq!(early.taken(), ["Added(shop/a@1, initial)"]);
    cluster.put(pod("b"));
    cluster.put(pod("b"));
    cluster.delete("b");
    settle().await;
    assert_eq!(
        early.taken(),
        ["Added(shop/b@2)", "Updated(shop/b@2->3)", "Known(shop/b)"]
    );
    let registration = pods.add_handler_in_place(late.handler(), HandlerConfig::default());
    assert_eq!(registration.synced().await, HandlerState::Synced);
    assert_eq!(late.taken(), ["Added(shop/a@1, initial)"]);
    assert_eq!(registration.waiting(), 0);
    factory.shutdown().await;
    assert_eq!(registration.state(), HandlerState::Stopped);
}

/// Contract INF-9.
async fn a_handler_in_place_that_panics_goes_on(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let factory = factory(&cluster, queue);
    let pods = factory.informer::<Pod>();
    let (calls, other) = (Arc::new(AtomicUsize::new(0)), Log::default());
    let counted = Arc::clone(&calls);
    let registration = pods.add_handler_in_place(
        move |_: ResourceEvent<Pod>| {
            assert!(counted.fetch_add(1, Ordering::SeqCst) > 0, "on purpose");
        },
        HandlerConfig::default(),
    );
    pods.add_handler(other.handler());
    factory.start();
    assert_eq!(registration.synced().await, HandlerState::Synced);
    settle().await;
    assert_eq!(
        (calls.load(Ordering::SeqCst), registration.panics()),
        (2, 1)
    );
    assert_eq!(pods.stats().handler_panics, 1);
    assert_eq!(other.taken().len(), 2);
    factory.shutdown().await;
}

/// Contract INF-10.
async fn a_removed_handler_in_place_is_dropped_and_receives_nothing_more(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let held = Arc::new(());
    let (kept, log) = (Arc::clone(&held), Log::default());
    let mut received = log.handler();
    let handler = move |change: ResourceEvent<Pod>| {
        let _ = &kept;
        kubist_informers::EventHandler::on_event(&mut received, change);
    };
    let registration = pods.add_handler_in_place(handler, HandlerConfig::default());
    registration.synced().await;
    assert_eq!(log.taken().len(), 1);
    registration.remove_and_wait().await;
    assert_eq!(Arc::strong_count(&held), 1);
    cluster.put(pod("b"));
    settle().await;
    assert_eq!(log.taken(), [""; 0]);
    factory.shutdown().await;
}
