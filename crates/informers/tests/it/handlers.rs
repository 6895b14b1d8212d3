//! Handlers: which events they receive, when, and how they affect each other.

use crate::cluster::{Cluster, pod};
use crate::informer::settle;
use kubist_api::core::v1::Pod;
use kubist_cache::ResourceEvent;
use kubist_informers::{
    Delivery, EventHandler, FactoryConfig, HandlerConfig, HandlerState, QueueKind, SharedInformer,
    SharedInformerFactory,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

on_both_queues! {
    handlers_before_and_after_the_start_receive_the_same
    the_store_shows_a_change_before_a_handler_receives_it
    a_panicking_handler_is_counted_and_goes_on_and_others_do_not_notice
    a_removed_handler_receives_nothing_more
    a_slow_reader_gets_what_is_merged_and_one_of_every_event_overflows
    resyncs_come_to_those_who_asked_at_their_own_pace
    a_period_of_resyncs_changes_while_the_informer_runs
}

#[derive(Clone, Default)]
pub(crate) struct Log(pub(crate) Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn handler(&self) -> impl EventHandler<Pod> + use<> {
        let log = Arc::clone(&self.0);
        move |change: ResourceEvent<Pod>| log.lock().push(format!("{change:?}"))
    }

    pub(crate) fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

pub(crate) fn factory(cluster: &Cluster, queue: QueueKind) -> SharedInformerFactory<Cluster> {
    let config = FactoryConfig {
        queue,
        ..FactoryConfig::default()
    };
    SharedInformerFactory::with_config(cluster.clone(), config)
}

pub(crate) fn started(
    cluster: &Cluster,
    queue: QueueKind,
) -> (SharedInformerFactory<Cluster>, SharedInformer<Pod>) {
    let factory = factory(cluster, queue);
    let pods = factory.informer();
    factory.start();
    (factory, pods)
}

/// Contract INF-3.
async fn handlers_before_and_after_the_start_receive_the_same(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let factory = factory(&cluster, queue);
    let pods = factory.informer::<Pod>();
    let (early, late) = (Log::default(), Log::default());
    let registration = pods.add_handler(early.handler());
    assert_eq!(registration.state(), HandlerState::Syncing);
    factory.start();
    assert_eq!(registration.synced().await, HandlerState::Synced);
    assert_eq!(
        early.taken(),
        ["Added(shop/a@1, initial)", "Added(shop/b@2, initial)"]
    );
    cluster.put(pod("b"));
    settle().await;
    assert_eq!(early.taken(), ["Updated(shop/b@2->3)"]);

    let registration = pods.add_handler(late.handler());
    assert_eq!(registration.synced().await, HandlerState::Synced);
    let mut received = late.taken();
    received.sort();
    assert_eq!(
        received,
        ["Added(shop/a@1, initial)", "Added(shop/b@3, initial)"]
    );
    cluster.delete("a");
    cluster.put(pod("c"));
    settle().await;
    assert_eq!(early.taken(), ["Known(shop/a)", "Added(shop/c@5)"]);
    assert_eq!(late.taken(), ["Known(shop/a)", "Added(shop/c@5)"]);
    factory.shutdown().await;
    assert_eq!(registration.ended().await, HandlerState::Stopped);
    let after = pods.add_handler(late.handler());
    assert_eq!(after.synced().await, HandlerState::Stopped);
}

/// Contract INF-1.
async fn the_store_shows_a_change_before_a_handler_receives_it(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let lister = pods.lister_unsynced();
    let wrong = Arc::new(Mutex::new(0));
    let count = Arc::clone(&wrong);
    pods.add_handler(move |change: ResourceEvent<Pod>| {
        let name = change.object_name();
        let held = lister
            .get(&name)
            .map(|it| it.metadata.resource_version.clone());
        let is_deletion = matches!(change, ResourceEvent::Deleted(_));
        let observed = change
            .object()
            .map(|it| it.metadata.resource_version.clone());
        if held.is_some() == is_deletion || (held.is_some() && held < observed) {
            *count.lock() += 1;
        }
    });
    for _ in 0..10 {
        cluster.put(pod("a"));
        settle().await;
    }
    cluster.delete("a");
    settle().await;
    assert_eq!(*wrong.lock(), 0);
    factory.shutdown().await;
}

/// Contract INF-9.
async fn a_panicking_handler_is_counted_and_goes_on_and_others_do_not_notice(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b", "c"]);
    let (factory, pods) = started(&cluster, queue);
    let (good, bad) = (Log::default(), Log::default());
    let mut inner = bad.handler();
    let registration = pods.add_handler(move |change: ResourceEvent<Pod>| {
        assert!(
            change.object_name().name != "b",
            "a handler that cannot bear b"
        );
        inner.on_event(change);
    });
    pods.add_handler(good.handler());
    assert_eq!(registration.synced().await, HandlerState::Synced);
    settle().await;
    assert_eq!((good.taken().len(), bad.taken().len()), (3, 2));
    assert_eq!((registration.panics(), pods.stats().handler_panics), (1, 1));
    factory.shutdown().await;
}

/// Contract INF-10.
async fn a_removed_handler_receives_nothing_more(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let (by_hand, by_drop) = (Log::default(), Log::default());
    let registration = pods.add_handler(by_hand.handler());
    let guard = pods.add_handler(by_drop.handler()).remove_on_drop();
    assert_eq!(guard.registration().synced().await, HandlerState::Synced);
    registration.remove();
    registration.remove();
    assert_eq!(registration.ended().await, HandlerState::Removed);
    cluster.put(pod("b"));
    settle().await;
    drop(guard);
    cluster.put(pod("c"));
    settle().await;
    assert_eq!(by_hand.taken(), ["Added(shop/a@1, initial)"]);
    assert_eq!(
        by_drop.taken(),
        ["Added(shop/a@1, initial)", "Added(shop/b@2)"]
    );
    assert_eq!(pods.stats().handlers, 0);
    factory.shutdown().await;
}

async fn a_slow_reader_gets_what_is_merged_and_one_of_every_event_overflows(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let (factory, pods) = started(&cluster, queue);
    let mut slow = pods.subscribe(HandlerConfig::default());
    let every = Delivery::EveryEvent { pending_max: 5 };
    let strict = pods.subscribe(HandlerConfig {
        delivery: every,
        ..HandlerConfig::default()
    });
    pods.synced().await.expect("it runs");
    for _ in 0..1000 {
        cluster.put(pod("a"));
        cluster.put(pod("x"));
        cluster.delete("x");
    }
    cluster.delete("b");
    settle().await;
    assert_eq!(slow.registration().waiting(), 1, "b came and went, x too");
    let change = slow.next().await.expect("it runs");
    let version = change
        .object()
        .expect("it exists")
        .metadata
        .resource_version
        .clone();
    assert_eq!(
        format!("{change:?}"),
        format!("Added(shop/a@{version}, initial)")
    );
    assert_eq!(slow.registration().state(), HandlerState::Syncing);
    cluster.put(pod("z"));
    assert_eq!(
        format!("{:?}", slow.next().await),
        "Some(Added(shop/z@3004))"
    );
    assert_eq!(slow.registration().state(), HandlerState::Synced);
    assert_eq!(
        strict.registration().ended().await,
        HandlerState::Overflowed
    );
    assert_eq!(pods.stats().handler_overflows, 1);
    factory.shutdown().await;
    assert!(slow.next().await.is_none());
}

/// Contract INF-11.
async fn resyncs_come_to_those_who_asked_at_their_own_pace(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let (often, seldom, never) = (Log::default(), Log::default(), Log::default());
    let every = |seconds| HandlerConfig {
        resync: Some(Duration::from_secs(seconds)),
        ..HandlerConfig::default()
    };
    pods.add_handler_with(often.handler(), every(10));
    pods.add_handler_with(seldom.handler(), every(25));
    pods.add_handler(never.handler());
    pods.synced().await.expect("it runs");
    tokio::time::sleep(Duration::from_secs(55)).await;
    assert_eq!(often.taken()[1..], vec!["Resynced(shop/a@1)"; 5]);
    assert_eq!(seldom.taken()[1..], vec!["Resynced(shop/a@1)"; 2]);
    assert_eq!(never.taken().len(), 1);
    factory.shutdown().await;
}

/// Contract INF-11.
async fn a_period_of_resyncs_changes_while_the_informer_runs(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let log = Log::default();
    let registration = pods.add_handler(log.handler());
    registration.synced().await;
    let seconds = Duration::from_secs;
    let observed_within = async |time| {
        log.taken();
        tokio::time::sleep(seconds(time)).await;
        log.taken().len()
    };
    assert_eq!(observed_within(100).await, 0, "it did not ask");
    registration.set_resync(Some(seconds(10)));
    assert_eq!(
        observed_within(9).await,
        0,
        "the period counts from the change"
    );
    assert_eq!(registration.resync(), Some(seconds(10)));
    assert_eq!(observed_within(22).await, 3);
    registration.set_resync(Some(Duration::from_millis(1)));
    settle().await;
    assert_eq!(
        registration.resync(),
        Some(seconds(1)),
        "a second is the least"
    );
    assert_eq!(observed_within(5).await, 5);
    registration.set_resync(None);
    settle().await;
    assert_eq!(registration.resync(), None);
    assert_eq!(observed_within(100).await, 0);
    registration.remove();
    registration.set_resync(Some(seconds(1)));
    assert_eq!(
        observed_within(5).await,
        0,
        "a removed handler receives nothing"
    );
    factory.shutdown().await;
}
