//! The factory: sharing, start, sync and shutdown.

use crate::cluster::Cluster;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{ApiResource, GroupVersionResource, Unstructured};
use kubist_cache::{ByteBudget, Encoded, Metadata, OverBudget, ResourceEvent, Selection};
use kubist_informers::{
    Budget, FactoryConfig, HandlerConfig, HandlerState, InformerState, KindConfig, Problem,
    QueueKind, Resync, SharedInformerFactory, UNUSED_AFTER,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Contract INF-14.
#[tokio::test(start_paused = true)]
async fn equal_requests_share_one_informer_and_one_watch() {
    let cluster = Cluster::with(&["a", "b"]);
    let factory = SharedInformerFactory::new(cluster.clone());
    let first = factory.informer::<Pod>();
    let second = factory.clone().informer::<Pod>();
    factory.informer::<Encoded<Pod>>();
    let web = Selection::all().in_namespace("shop").with_labels("app=web");
    factory.informer_of::<Pod>(&web);
    factory.start();
    factory.start();
    factory.wait_for_sync().await.expect("it is not stopped");
    assert_eq!(cluster.requests(), ["stream"; 3]);
    assert_eq!((first.stats().objects, second.stats().objects), (2, 2));
    let mut names: Vec<_> = factory.summary().into_iter().map(|it| it.name).collect();
    names.sort();
    assert_eq!(names, ["Pod", "Pod", "Pod shop app=web"]);

    let further = factory.informer_of::<Encoded<Pod>>(&web);
    assert_eq!(further.state(), InformerState::Created);
    factory.start();
    assert_eq!(further.synced().await.expect("it was started").len(), 2);
    factory.shutdown().await;
    assert!(
        factory
            .summary()
            .iter()
            .all(|it| it.state == InformerState::Stopped)
    );
}

#[tokio::test(start_paused = true)]
async fn a_factory_runs_as_one_future_and_says_what_did_not_sync() {
    let factory = SharedInformerFactory::new(Cluster::with(&["a"]));
    let pods = factory.informer::<Pod>();
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::join!(factory.run(token), async {
        pods.synced().await.expect("it runs");
        factory.informer::<Encoded<Pod>>();
        factory.start();
        cancelled.cancel();
    });
    assert_eq!(pods.state(), InformerState::Stopped);
    let error = factory
        .wait_for_sync()
        .await
        .expect_err("everything stopped");
    assert_eq!(error.informers.len(), 2);
}

/// Contract INF-16.
#[tokio::test(start_paused = true)]
async fn informers_stop_with_the_last_handle_of_their_factory() {
    let factory = SharedInformerFactory::new(Cluster::with(&["a"]));
    let pods = factory.informer::<Pod>();
    factory.start();
    let lister = pods.synced().await.expect("it runs");
    drop(factory);
    crate::informer::settle().await;
    assert_eq!(pods.state(), InformerState::Stopped);
    assert_eq!(lister.len(), 1, "a lister keeps what it has");
}

#[cfg(feature = "core-v1")]
#[tokio::test(start_paused = true)]
async fn a_typed_accessor_is_the_shared_informer_of_its_kind() {
    let factory = SharedInformerFactory::new(Cluster::with(&["a"]));
    let pods = factory.core().v1().pods();
    let same = factory.informer::<Pod>();
    factory.start();
    assert_eq!(same.synced().await.expect("it runs").len(), 1);
    assert_eq!(pods.stats().objects, 1);
    factory.shutdown().await;
}

/// Contract INF-14.
#[tokio::test(start_paused = true)]
async fn an_informer_stops_when_its_last_user_is_gone() {
    let cluster = Cluster::with(&["a"]);
    let factory = SharedInformerFactory::new(cluster.clone());
    let pods = factory.informer::<Pod>();
    factory.start();
    let lister = pods.synced().await.expect("it runs");
    let registration = pods.add_handler(|_: ResourceEvent<Pod>| {});
    let subscription = pods.subscribe(HandlerConfig::default());
    // Any one of them counts as a use.
    drop(pods);
    tokio::time::sleep(UNUSED_AFTER * 3).await;
    drop(lister);
    tokio::time::sleep(UNUSED_AFTER * 3).await;
    drop(subscription);
    tokio::time::sleep(UNUSED_AFTER * 3).await;
    assert_eq!(factory.summary().len(), 1);
    assert_eq!(registration.state(), HandlerState::Synced);
    registration.remove();
    tokio::time::sleep(UNUSED_AFTER / 2).await;
    assert_eq!(factory.summary().len(), 1, "it may be requested again");
    tokio::time::sleep(UNUSED_AFTER).await;
    assert_eq!(factory.summary().len(), 0);
    assert_eq!(cluster.watchers(), 0, "no watch is left");

    // The next request creates another.
    let again = factory.informer::<Pod>();
    factory.start();
    assert_eq!(again.synced().await.expect("it runs").len(), 1);
    assert_eq!(cluster.requests(), ["stream", "stream"]);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_is_asked_for_again_in_time_goes_on() {
    let cluster = Cluster::with(&["a"]);
    let factory = SharedInformerFactory::new(cluster.clone());
    factory.informer::<Pod>();
    factory.start();
    for _ in 0..5 {
        tokio::time::sleep(UNUSED_AFTER / 2).await;
        factory.informer::<Pod>().synced().await.expect("it runs");
    }
    assert_eq!(cluster.requests(), ["stream"]);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn informers_may_run_as_long_as_their_factory() {
    let cluster = Cluster::with(&["a"]);
    let config = FactoryConfig {
        unused_after: None,
        ..FactoryConfig::default()
    };
    let factory = SharedInformerFactory::with_config(cluster.clone(), config);
    factory.informer::<Pod>();
    factory.start();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(factory.summary()[0].state, InformerState::Synced);
    factory.shutdown().await;
    assert_eq!(cluster.watchers(), 0);
}

#[tokio::test(start_paused = true)]
async fn informers_of_kinds_known_at_run_time_are_shared_too() {
    let cluster = Cluster::with(&["a", "b"]);
    let resource = ApiResource::of::<Pod>();
    let config = FactoryConfig {
        resources: vec![resource.clone()],
        ..FactoryConfig::default()
    };
    let factory = SharedInformerFactory::with_config(cluster.clone(), config);
    factory.configure_dynamic::<Unstructured>(
        &resource,
        KindConfig {
            name: Some("any pods".into()),
            ..KindConfig::default()
        },
    );
    let dynamic = factory.dynamic::<Unstructured>(&resource, &Selection::all());
    let by_name = factory
        .for_resource::<Unstructured>(&resource.gvr())
        .expect("it is configured");
    let metadata = factory.dynamic::<Metadata<()>>(&resource, &Selection::all());
    let typed_metadata = factory.informer::<Metadata<Pod>>();
    let unknown = GroupVersionResource {
        resource: "gizmos".into(),
        ..resource.gvr()
    };
    let error = factory
        .for_resource::<Unstructured>(&unknown)
        .expect_err("it is unknown");
    assert_eq!(
        error.to_string(),
        "the resource /v1, Resource=gizmos is neither built in nor configured"
    );
    factory.start();
    factory.wait_for_sync().await.expect("it is not stopped");
    assert_eq!(
        cluster.requests(),
        ["stream"; 3],
        "the dynamic ones are one"
    );
    assert_eq!(
        (dynamic.name(), by_name.stats().objects),
        (by_name.name(), 2)
    );
    assert_eq!(dynamic.name(), "any pods");
    let object = dynamic
        .lister_unsynced()
        .find("shop", "a")
        .expect("it is there");
    let node = object.pointer("/spec/nodeName").and_then(|it| it.as_str());
    assert_eq!(node, Some("node-1"));
    assert!(metadata.lister_unsynced().find("shop", "b").is_some());
    assert_eq!(typed_metadata.stats().objects, 2);
    factory.shutdown().await;
}

#[cfg(feature = "core-v1")]
#[tokio::test(start_paused = true)]
async fn built_in_resources_are_known_by_name() {
    let factory = SharedInformerFactory::new(Cluster::with(&["a"]));
    let pods = factory.for_resource::<Unstructured>(&ApiResource::of::<Pod>().gvr());
    let pods = pods.expect("it is built in");
    factory.start();
    assert_eq!(pods.synced().await.expect("it runs").len(), 1);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn options_of_the_factory_and_of_a_kind_reach_the_informer() {
    let config = FactoryConfig {
        name: "test".into(),
        selection: Selection::all().with_labels("app=web"),
        resync: Resync::Checked(Duration::from_secs(30)),
        ..FactoryConfig::default()
    };
    let factory = SharedInformerFactory::with_config(Cluster::with(&["a"]), config);
    factory.configure::<Encoded<Pod>>(KindConfig {
        selection: Some(Selection::all().with_fields("spec.nodeName=node-1")),
        resync: Some(Resync::Exact),
        queue: Some(QueueKind::DeltaFifo),
        ..KindConfig::default()
    });
    let pods = factory.informer::<Pod>();
    let encoded = factory.informer::<Encoded<Pod>>();
    assert_eq!(pods.name(), "test Pod app=web");
    assert_eq!(encoded.name(), "test Pod spec.nodeName=node-1");
    let resync = |asked: Option<u64>| HandlerConfig {
        resync: asked.map(Duration::from_secs),
        ..HandlerConfig::default()
    };
    let own = pods.add_handler_with(|_: ResourceEvent<Pod>| {}, resync(None));
    let never = pods.add_handler_with(|_: ResourceEvent<Pod>| {}, resync(Some(0)));
    let often = pods.add_handler_with(|_: ResourceEvent<Pod>| {}, resync(Some(10)));
    let exact = encoded.add_handler_with(|_: ResourceEvent<Encoded<Pod>>| {}, resync(Some(7)));
    factory.start();
    factory.wait_for_sync().await.expect("it is not stopped");
    let late = pods.add_handler_with(|_: ResourceEvent<Pod>| {}, resync(Some(2)));
    late.synced().await;
    let seconds = |it: Option<Duration>| it.map_or(0, |it| it.as_secs());
    let found = [&own, &never, &often, &late].map(|it| seconds(it.resync()));
    assert_eq!(found, [30, 0, 10, 10]);
    assert_eq!(seconds(exact.resync()), 7);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_keeps_within_its_budget_and_says_so() {
    for over in [OverBudget::DegradeToMetadata, OverBudget::Refuse] {
        let refusals = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&refusals);
        let config = FactoryConfig {
            on_problem: Some(Arc::new(move |problem: &Problem| {
                let refused = matches!(problem, Problem::OverBudget(_));
                counted.fetch_add(usize::from(refused), Ordering::SeqCst);
            })),
            ..FactoryConfig::default()
        };
        let cluster = Cluster::with(&["a", "b", "c", "d"]);
        let factory = SharedInformerFactory::with_config(cluster, config);
        factory.configure::<Encoded<Pod>>(KindConfig {
            budget: Some(Budget::new(ByteBudget {
                max_bytes: 300,
                over,
            })),
            ..KindConfig::default()
        });
        let pods = factory.informer::<Encoded<Pod>>();
        factory.start();
        let lister = pods.synced().await.expect("it runs");
        crate::informer::settle().await;
        let stats = pods.stats();
        assert_eq!(stats.budget.max_bytes, 300);
        let refused = refusals.load(Ordering::SeqCst);
        if over == OverBudget::Refuse {
            assert!(refused > 0 && stats.objects == 4 - refused, "{stats:?}");
            assert!(stats.budget.used_bytes <= 300);
        } else {
            assert!(refused == 0 && stats.budget.degraded > 0, "{stats:?}");
            assert_eq!(lister.len(), 4);
            let cut = lister.list().iter().filter(|it| !it.is_whole()).count();
            assert_eq!(stats.budget.degraded, cut as u64);
        }
        factory.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_that_cannot_be_cut_is_refused_beyond_the_budget_and_comes_back_when_there_is_room()
{
    let cluster = Cluster::with(&["a", "b", "c"]);
    let factory = SharedInformerFactory::new(cluster.clone());
    let weight: fn(&Pod) -> u64 = |_| 100;
    factory.configure::<Pod>(KindConfig {
        budget: Some(Budget::refusing(250, weight)),
        ..KindConfig::default()
    });
    let pods = factory.informer::<Pod>();
    factory.start();
    let lister = pods.synced().await.expect("it runs");
    crate::informer::settle().await;
    let budget = pods.stats().budget;
    assert_eq!((lister.len(), budget.used_bytes), (2, 200));
    assert_eq!((budget.refused_total, budget.degraded), (1, 0));
    let held: Vec<String> = lister
        .list()
        .iter()
        .map(|it| it.metadata.name.to_string())
        .collect();
    let left_out = ["a", "b", "c"]
        .into_iter()
        .find(|it| !held.iter().any(|name| name == it));
    cluster.delete(&held[0]);
    cluster.put(crate::cluster::pod(
        left_out.expect("one of the three was refused"),
    ));
    crate::informer::settle().await;
    let names = lister
        .list()
        .into_iter()
        .map(|it| it.metadata.name.to_string());
    let expected = [Some(held[1].as_str()), left_out];
    assert!(names.clone().count() == 2 && names.clone().all(|it| expected.contains(&Some(&*it))));
    assert_eq!(pods.stats().budget.used_bytes, 200);
    factory.shutdown().await;
}
