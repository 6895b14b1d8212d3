//! Slow handlers do not affect others.

use crate::cluster::{Cluster, pod};
use crate::handlers::{Log, started};
use crate::informer::settle;
use futures_core::Stream as _;
use kubist_api::core::v1::Pod;
use kubist_cache::ResourceEvent;
use kubist_informers::{Delivery, HandlerConfig, HandlerState, Overflow, QueueKind, Registration};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

on_both_queues! {
    a_handler_that_blocks_for_a_minute_costs_the_others_nothing
    a_waiting_handler_may_panic_in_any_call
}

/// Contract INF-8.
async fn a_handler_that_blocks_for_a_minute_costs_the_others_nothing(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let (factory, pods) = started(&cluster, queue);
    let slow_received = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&slow_received);
    let slow = pods.add_waiting_handler(
        move |change: ResourceEvent<Pod>| {
            let received = Arc::clone(&received);
            async move {
                received.lock().push(format!("{change:?}"));
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
        },
        HandlerConfig::default(),
    );
    let fast = Log::default();
    let quick = pods.add_handler(fast.handler());
    let started = Instant::now();
    assert_eq!(quick.synced().await, HandlerState::Synced);
    for _ in 0..1000 {
        cluster.put(pod("a"));
        while fast
            .taken()
            .last()
            .is_none_or(|it| !it.starts_with("Updated"))
        {
            tokio::task::yield_now().await;
        }
    }
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(slow.state(), HandlerState::Syncing);
    assert_eq!(slow_received.lock().len(), 1, "it is in its first call");
    assert_eq!(
        slow.waiting(),
        2,
        "b's addition, and one update of a, whatever came"
    );
    tokio::time::sleep(Duration::from_secs(5 * 60)).await;
    assert_eq!(slow.state(), HandlerState::Synced);
    assert_eq!(
        *slow_received.lock(),
        [
            "Added(shop/a@1, initial)",
            "Added(shop/b@2, initial)",
            "Updated(shop/a@1->1002)"
        ]
    );
    factory.shutdown().await;
}

async fn a_waiting_handler_may_panic_in_any_call(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b", "c"]);
    let (factory, pods) = started(&cluster, queue);
    let log = Log::default();
    let received = log.clone();
    let registration = pods.add_waiting_handler(
        move |change: ResourceEvent<Pod>| {
            let mut handler = received.handler();
            let name = change.object_name().name;
            assert!(name != "a", "before it waits");
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                assert!(name != "b", "after it waited");
                kubist_informers::EventHandler::on_event(&mut handler, change);
            }
        },
        HandlerConfig::default(),
    );
    assert_eq!(registration.synced().await, HandlerState::Synced);
    assert_eq!((registration.panics(), log.taken().len()), (2, 1));
    assert_eq!(pods.stats().handler_panics, 2);
    factory.shutdown().await;
}

/// Contract INF-8. On a single-threaded runtime a call that blocks would block everything if it
/// were made there.
#[tokio::test]
async fn a_handler_that_blocks_its_thread_has_one_of_its_own() {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, QueueKind::RealFifo);
    let (free, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let blocking = HandlerConfig {
        blocking: true,
        ..HandlerConfig::default()
    };
    let slow = pods.add_handler_with(
        move |change: ResourceEvent<Pod>| {
            blocked.lock().recv().expect("it is released");
            assert!(
                change.object_name().name != "a",
                "a panic on a thread of its own"
            );
        },
        blocking,
    );
    let log = Log::default();
    let quick = pods.add_handler(log.handler());
    assert_eq!(quick.synced().await, HandlerState::Synced);
    for number in 0..100 {
        cluster.put(pod(&number.to_string()));
    }
    while log.0.lock().len() < 101 {
        tokio::task::yield_now().await;
    }
    assert_eq!((slow.state(), slow.waiting()), (HandlerState::Syncing, 100));
    for _ in 0..101 {
        free.send(()).expect("it waits");
    }
    assert_eq!(slow.synced().await, HandlerState::Synced);
    while slow.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(slow.panics(), 1);
    drop(free);
    factory.shutdown().await;
}

/// Contract INF-6, INF-7.
#[tokio::test(start_paused = true)]
async fn each_delivery_does_with_a_backlog_what_it_says() {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, QueueKind::RealFifo);
    let pending_max = 3;
    let with = |delivery| {
        let config = HandlerConfig {
            delivery,
            ..HandlerConfig::default()
        };
        pods.subscribe(config)
    };
    let mut coalesced = with(Delivery::Coalesced);
    let every = with(Delivery::EveryEvent { pending_max });
    let mut snapshot = with(Delivery::Bounded {
        pending_max,
        on_overflow: Overflow::Snapshot,
    });
    let end = with(Delivery::Bounded {
        pending_max,
        on_overflow: Overflow::End,
    });
    settle().await;
    for _ in 0..2 {
        cluster.put(pod("a"));
        settle().await;
    }
    let waiting = |it: &Registration<Pod>| it.waiting();
    assert_eq!(waiting(&coalesced.registration()), 1);
    assert_eq!(waiting(&every.registration()), 3);
    assert_eq!(waiting(&end.registration()), 3);
    cluster.put(pod("a"));
    settle().await;
    assert_eq!(every.registration().state(), HandlerState::Overflowed);
    assert_eq!(end.registration().state(), HandlerState::Overflowed);
    assert_eq!(pods.stats().handler_overflows, 2);
    for it in [&mut coalesced, &mut snapshot] {
        assert_eq!(
            format!("{:?}", it.next().await),
            "Some(Added(shop/a@4, initial))"
        );
    }
    for version in 5..7 {
        cluster.put(pod("a"));
        settle().await;
        let expected = format!("Some(Updated(shop/a@{}->{version}))", version - 1);
        assert_eq!(
            format!("{:?}", snapshot.next().await),
            expected,
            "in order again"
        );
    }
    let names: Vec<_> = pods.handlers().iter().map(|it| it.waiting).collect();
    assert_eq!(names, [1, 0], "those that ended are left out");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_a_stream() {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, QueueKind::RealFifo);
    let mut changes = pods.subscribe(HandlerConfig::default());
    let mut next = async || std::future::poll_fn(|cx| Pin::new(&mut changes).poll_next(cx)).await;
    assert_eq!(
        format!("{:?}", next().await),
        "Some(Added(shop/a@1, initial))"
    );
    let put = async {
        settle().await;
        cluster.put(pod("a"));
    };
    let (change, ()) = tokio::join!(next(), put);
    assert_eq!(format!("{change:?}"), "Some(Updated(shop/a@1->2))");
    factory.shutdown().await;
    assert!(next().await.is_none());
}
