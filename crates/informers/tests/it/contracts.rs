//! The guarantees of client-go's shared informer, on either queue.

use crate::cluster::{Cluster, pod};
use crate::handlers::{Log, factory, started};
use crate::informer::settle;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{Object as _, ObjectName};
use kubist_cache::{FetchError, Index, Lister, ResourceEvent, Selection, Source as _};
use kubist_informers::{
    Delivery, HandlerConfig, HandlerState, InformerConfig, KindConfig, Problem, QueueKind, Report,
    SharedInformer,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

on_both_queues! {
    each_handler_follows_the_server_through_churn_and_disruption
    a_relist_tells_what_came_changed_and_went
    an_object_is_transformed_once_before_anybody_sees_it
    the_same_handler_twice_is_two_handlers
    an_index_added_late_is_built_over_what_is_there
    a_stopped_informer_ends_waits_for_its_store
    every_error_is_seen
    a_filtered_handler_sees_objects_enter_and_leave
}

/// A small random number generator, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// The state that a handler derives from its events; panics on impossible events.
#[derive(Default)]
struct Observed {
    objects: BTreeMap<ObjectName, Arc<Pod>>,
}

impl Observed {
    fn record(&mut self, change: ResourceEvent<Pod>, lister: &Lister<Pod>) {
        let name = change.object_name();
        let version = |it: &Arc<Pod>| it.resource_version().parse::<u64>().expect("a number");
        if let (Some(object), Some(held)) = (change.object(), lister.get(&name)) {
            let deleted = matches!(change, ResourceEvent::Deleted(_));
            assert!(
                deleted || version(&held) >= version(object),
                "the store is behind {change:?}"
            );
        }
        match change {
            ResourceEvent::Added { object, .. } => {
                assert!(self.objects.insert(name, object).is_none(), "added twice");
            }
            ResourceEvent::Updated { old, new } => {
                assert!(version(&old) < version(&new) || old.uid() != new.uid());
                let before = self
                    .objects
                    .insert(name, new)
                    .expect("updated before it was added");
                assert!(Arc::ptr_eq(&before, &old), "not the state delivered last");
            }
            ResourceEvent::Deleted(_) => {
                assert!(
                    self.objects.remove(&name).is_some(),
                    "deleted, and was not there"
                );
            }
            ResourceEvent::Resynced(object) => {
                assert_eq!(version(&self.objects[&name]), version(&object));
            }
        }
    }
}

/// Contract INF-2, INF-4, INF-17.
async fn each_handler_follows_the_server_through_churn_and_disruption(queue: QueueKind) {
    for seed in 0..20 {
        let cluster = Cluster::with(&["a", "b", "c"]);
        let (factory, pods) = started(&cluster, queue);
        let mut dice = Dice(seed);
        let every = Delivery::EveryEvent {
            pending_max: 100_000,
        };
        let (mut all, mut registrations) = (Vec::new(), Vec::new());
        for step in 0..300 {
            if step % 40 == 0 {
                // Handlers with different deliveries are added at any time.
                let observed = Arc::new(Mutex::new(Observed::default()));
                let (recorder, lister) = (Arc::clone(&observed), pods.lister_unsynced());
                let config = HandlerConfig {
                    delivery: if step % 80 == 0 {
                        every
                    } else {
                        Delivery::Coalesced
                    },
                    resync: Some(Duration::from_secs(7)),
                    ..HandlerConfig::default()
                };
                registrations.push(pods.add_handler_with(
                    move |change: ResourceEvent<Pod>| recorder.lock().record(change, &lister),
                    config,
                ));
                all.push(observed);
            }
            let name = ["a", "b", "c", "d", "e"][usize::try_from(dice.below(5)).expect("small")];
            match dice.below(12) {
                0..6 => cluster.put(pod(name)),
                6..8 => cluster.delete(name),
                8 => cluster.cut(None),
                9 => cluster.cut(Some(FetchError::Expired {
                    message: "old".into(),
                })),
                10 => tokio::time::sleep(Duration::from_millis(dice.below(3_000))).await,
                _ => settle().await,
            }
            if dice.below(3) == 0 {
                settle().await;
            }
        }
        tokio::time::sleep(Duration::from_secs(3 * 60)).await;
        let lister = pods.synced().await.expect("it runs");
        let mut store: Vec<_> = lister.list();
        store.sort_by(|a, b| a.name().cmp(b.name()));
        for (observed, registration) in all.iter().zip(&registrations) {
            assert_eq!(registration.state(), HandlerState::Synced);
            assert_eq!(registration.panics(), 0, "seed {seed}");
            let observed: Vec<_> = observed.lock().objects.values().cloned().collect();
            assert_eq!(observed, store, "seed {seed}");
            assert_eq!(observed, cluster.pods(), "seed {seed}");
        }
        factory.shutdown().await;
    }
}

/// Contract INF-2.
async fn a_relist_tells_what_came_changed_and_went(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b", "c"]);
    let (factory, pods) = started(&cluster, queue);
    let log = Log::default();
    pods.add_handler(log.handler()).synced().await;
    log.taken();
    // The watch misses these changes.
    cluster.disconnect();
    cluster.put(pod("b"));
    cluster.delete("c");
    cluster.put(pod("d"));
    cluster.cut(Some(FetchError::Expired {
        message: "old".into(),
    }));
    tokio::time::sleep(Duration::from_secs(12 * 60)).await;
    let mut received = log.taken();
    received.sort();
    assert_eq!(
        received,
        [
            "Added(shop/d@6)",
            "FinalStateUnknown(shop/c)",
            "Updated(shop/b@2->4)"
        ]
    );
    factory.shutdown().await;
}

async fn an_object_is_transformed_once_before_anybody_sees_it(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let factory = factory(&cluster, queue);
    factory.configure::<Pod>(KindConfig {
        transform: Some(Arc::new(|pod: &mut Pod| {
            let seen = pod.metadata.labels.get("seen").map_or(0, |it| it.len());
            pod.metadata
                .labels
                .insert("seen".into(), "x".repeat(seen + 1).into());
        })),
        ..KindConfig::default()
    });
    let pods = factory.informer::<Pod>();
    let labels = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&labels);
    let registration = pods.add_handler(move |change: ResourceEvent<Pod>| {
        let object = change.object().expect("known");
        received
            .lock()
            .push(object.metadata.labels["seen"].to_string());
    });
    factory.start();
    registration.synced().await;
    cluster.put(pod("a"));
    settle().await;
    cluster.cut(Some(FetchError::Expired {
        message: "old".into(),
    }));
    cluster.delete("a");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(*labels.lock(), ["x", "x", "x"], "added, updated, deleted");
    factory.shutdown().await;
}

/// Contract INF-10.
async fn the_same_handler_twice_is_two_handlers(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let log = Log::default();
    let (first, second) = (
        pods.add_handler(log.handler()),
        pods.add_handler(log.handler()),
    );
    first.synced().await;
    second.synced().await;
    assert_eq!(log.taken(), ["Added(shop/a@1, initial)"; 2]);
    assert_eq!(pods.stats().handlers, 2);
    first.remove();
    cluster.put(pod("b"));
    settle().await;
    assert_eq!(log.taken(), ["Added(shop/b@2)"]);
    assert_eq!(
        (first.state(), second.state()),
        (HandlerState::Removed, HandlerState::Synced)
    );
    factory.shutdown().await;
}

async fn an_index_added_late_is_built_over_what_is_there(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "bb", "ccc", "dddd"]);
    let (factory, pods) = started(&cluster, queue);
    let lister = pods.synced().await.expect("it runs");
    let by_node = pods.add_index(Index::field("spec.nodeName"));
    assert_eq!(
        lister.by_index(&by_node, "node-1").len(),
        2,
        "at once, by looking at all"
    );
    settle().await;
    cluster.put(pod("eeee"));
    settle().await;
    let found = lister
        .by_index_named("spec.nodeName", "node-1")
        .expect("it is built");
    assert_eq!(found.len(), 3);
    factory.shutdown().await;
    let after = pods.add_index(Index::namespace());
    assert_eq!(
        lister.by_index(&after, "shop").len(),
        5,
        "a stopped informer does not build it"
    );
}

/// Contract INF-13.
async fn a_stopped_informer_ends_waits_for_its_store(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let lister = pods.synced().await.expect("it runs");
    let mut later = pod("a");
    later.metadata.resource_version = "1000".into();
    let written = kubist_cache::Written::saved(&later);
    // A handler that waits for the store must not keep the informer from stopping.
    let (waits, wish) = (lister.clone(), written.clone());
    let handler = pods.add_waiting_handler(
        move |_: ResourceEvent<Pod>| {
            let (waits, wish) = (waits.clone(), wish.clone());
            async move {
                waits
                    .wait_for(&wish, std::future::pending::<()>())
                    .await
                    .expect_err("it stops");
            }
        },
        HandlerConfig::default(),
    );
    settle().await;
    let wait = lister.wait_for(&written, std::future::pending::<()>());
    let (waited, ()) = tokio::join!(wait, factory.shutdown());
    assert!(
        matches!(waited, Err(kubist_cache::WaitError::Closed { .. })),
        "{waited:?}"
    );
    assert_eq!(handler.ended().await, HandlerState::Stopped);
}

fn fails(_: ResourceEvent<Pod>) {
    panic!("of mine")
}

async fn every_error_is_seen(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let problems = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&problems);
    let config = InformerConfig {
        queue,
        on_problem: Some(Arc::new(move |problem: &Problem| {
            let text = match problem {
                Problem::Fetch(Report::WatchFailed(error, then)) => format!("{error}: {then:?}"),
                Problem::Fetch(Report::Invalid(item)) => format!("{:?}", item.name),
                Problem::HandlerPanicked { handler, message } => format!("{handler}: {message}"),
                Problem::Index(error) => error.index.to_string(),
                other => format!("{other:?}"),
            };
            seen.lock().push(text);
        })),
        ..InformerConfig::default()
    };
    let pods = SharedInformer::<Pod>::new(cluster.lister_watcher(&Selection::all()), config);
    let named = HandlerConfig {
        name: "mine".into(),
        ..HandlerConfig::default()
    };
    pods.add_handler_with(fails, named);
    let token = CancellationToken::new();
    let (informer, child) = (pods.clone(), token.clone());
    tokio::join!(async { informer.run(child).await.expect("once") }, async {
        pods.synced().await.expect("it runs");
        settle().await;
        cluster.corrupt("a");
        tokio::time::sleep(Duration::from_secs(60)).await;
        // In mid-stream, where upstream only logs.
        cluster.cut(Some(FetchError::Expired {
            message: "compacted".into(),
        }));
        tokio::time::sleep(Duration::from_secs(60)).await;
        cluster.cut(Some(FetchError::Forbidden {
            message: "not you".into(),
        }));
        tokio::time::sleep(Duration::from_secs(60)).await;
        token.cancel();
    });
    let problems = problems.lock();
    let expected = [
        "mine: of mine",
        "Some(shop/a)",
        "the requested version is too old: compacted: Relist",
        "Some(shop/a)",
        "forbidden: not you: Resume",
    ];
    let problems: Vec<_> = problems
        .iter()
        .map(|it| it.replace("ObjectName", ""))
        .collect();
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, expected) in problems.iter().zip(expected) {
        let is_name = expected.starts_with("Some");
        assert!(
            is_name && problem.contains("shop") || problem == expected,
            "{problem}"
        );
    }
}

/// Contract INF-12.
async fn a_filtered_handler_sees_objects_enter_and_leave(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let on_node = |pod: &Pod| pod.spec.node_name == "here";
    let log = Log::default();
    pods.add_handler(kubist_informers::Filtered::new(on_node, log.handler()));
    let mut stream = pods.subscribe(HandlerConfig::default()).filtered(on_node);
    let moved = |name: &str, node: &str| {
        let mut pod = pod(name);
        pod.spec.node_name = node.into();
        pod
    };
    settle().await;
    for node in ["here", "here", "there"] {
        cluster.put(moved("a", node));
        settle().await;
    }
    cluster.put(moved("b", "here"));
    settle().await;
    cluster.delete("b");
    cluster.delete("a");
    settle().await;
    assert_eq!(
        log.taken(),
        [
            "Added(shop/a@2)",
            "Updated(shop/a@2->3)",
            "Known(shop/a)",
            "Added(shop/b@5)",
            "Known(shop/b)"
        ]
    );
    // The stream is polled only now: its earlier events were merged to nothing.
    let asked = tokio::time::timeout(Duration::from_secs(1), stream.next()).await;
    assert!(asked.is_err(), "{asked:?}");
    cluster.put(moved("c", "here"));
    assert_eq!(
        format!("{:?}", stream.next().await),
        "Some(Added(shop/c@8))"
    );
    factory.shutdown().await;
}
