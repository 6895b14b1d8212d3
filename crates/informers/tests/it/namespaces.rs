//! One, several and all namespaces.

use crate::cluster::{Cluster, pod, pod_in};
use crate::handlers::Log;
use crate::informer::settle;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Object as _;
use kubist_cache::{FetchError, Selection, WaitError, Written};
use kubist_informers::{
    Config, FactoryConfig, InitialSync, KindConfig, SharedInformer, SharedInformerFactory,
};
use std::sync::Arc;
use std::time::Duration;

fn cluster() -> Cluster {
    let cluster = Cluster::default();
    for (namespace, name) in [("x", "a"), ("y", "b"), ("z", "c")] {
        cluster.put(pod_in(namespace, name));
    }
    cluster
}

fn factory(cluster: &Cluster, initial_sync: InitialSync) -> SharedInformerFactory<Cluster> {
    let config = FactoryConfig {
        namespaces: vec!["z".into(), "x".into(), "x".into()],
        reflector: Config {
            initial_sync,
            ..Config::default()
        },
        ..FactoryConfig::default()
    };
    SharedInformerFactory::with_config(cluster.clone(), config)
}

fn names(informer: &SharedInformer<Pod>) -> Vec<String> {
    let mut names: Vec<_> = informer
        .lister_unsynced()
        .names()
        .iter()
        .map(ToString::to_string)
        .collect();
    names.sort();
    names
}

#[tokio::test(start_paused = true)]
async fn one_several_and_all_namespaces_are_different_informers() {
    let cluster = cluster();
    let factory = SharedInformerFactory::new(cluster.clone());
    let all = factory.informer::<Pod>();
    let one = factory.informer_of::<Pod>(&Selection::all().in_namespace("y"));
    let several = factory.informer_in::<Pod>(["x", "z"]);
    let same = factory.informer_in::<Pod>(["z", "x", "z"]);
    let also_one = factory.informer_in::<Pod>(["y"]);
    factory.start();
    factory.wait_for_sync().await.expect("it is not stopped");
    assert_eq!(names(&all), ["x/a", "y/b", "z/c"]);
    assert_eq!(names(&one), ["y/b"]);
    assert_eq!(names(&several), ["x/a", "z/c"]);
    assert_eq!(factory.summary().len(), 3);
    assert_eq!((same.name(), also_one.name()), (several.name(), one.name()));
    let known: Vec<_> = factory
        .summary()
        .iter()
        .map(|it| it.name.to_string())
        .collect();
    assert_eq!(known, ["Pod", "Pod x,z", "Pod y"]);
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn several_namespaces_are_followed_as_one_through_cuts_and_relists() {
    for initial_sync in [InitialSync::StreamingList, InitialSync::ListThenWatch] {
        let cluster = cluster();
        let factory = factory(&cluster, initial_sync);
        let pods = factory.informer::<Pod>();
        let log = Log::default();
        factory.start();
        pods.add_handler(log.handler()).synced().await;
        let mut first = log.taken();
        first.sort();
        assert_eq!(first, ["Added(x/a@1, initial)", "Added(z/c@3, initial)"]);

        cluster.put(pod_in("x", "d"));
        cluster.put(pod_in("y", "e"));
        cluster.put(pod_in("z", "c"));
        settle().await;
        assert_eq!(log.taken(), ["Added(x/d@4)", "Updated(z/c@3->6)"]);

        // Each resumes from its own version, though the other is further.
        tokio::time::sleep(Duration::from_secs(60)).await;
        cluster.cut(None);
        settle().await;
        let requests = cluster.requests();
        assert_eq!(
            requests[requests.len() - 2..],
            ["watch@4", "watch@6"],
            "{requests:?}"
        );

        tokio::time::sleep(Duration::from_secs(60)).await;
        cluster.disconnect();
        cluster.delete_in("x", "a");
        cluster.put(pod_in("z", "f"));
        cluster.cut(Some(FetchError::Expired {
            message: "old".into(),
        }));
        tokio::time::sleep(Duration::from_secs(12 * 60)).await;
        let mut received = log.taken();
        received.sort();
        assert_eq!(received, ["Added(z/f@8)", "FinalStateUnknown(x/a)"]);
        assert_eq!(names(&pods), ["x/d", "z/c", "z/f"]);
        factory.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_of_one_namespace_does_not_vouch_for_another() {
    let cluster = cluster();
    let factory = factory(&cluster, InitialSync::StreamingList);
    let pods = factory.informer::<Pod>();
    factory.start();
    let lister = pods.synced().await.expect("it runs");
    assert_eq!(lister.resource_version(), "3");
    // Written in x and not delivered yet, while z continues.
    let mut mine = pod_in("x", "a");
    mine.metadata.resource_version = "4".into();
    cluster.put(pod_in("y", "unwatched"));
    cluster.put(pod_in("z", "c"));
    settle().await;
    assert_eq!(
        lister
            .find("z", "c")
            .expect("it is there")
            .resource_version(),
        "5"
    );
    assert_eq!(lister.resource_version(), "3");
    let waited = lister
        .wait_for(&Written::saved(&mine), std::future::ready(()))
        .await;
    assert!(
        matches!(waited, Err(WaitError::Deadline { .. })),
        "{waited:?}"
    );
    // A bookmark for each says how far both are.
    cluster.bookmark();
    settle().await;
    assert_eq!(lister.resource_version(), "5");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_has_its_own_namespaces_name_and_transform() {
    let cluster = cluster();
    let factory = factory(&cluster, InitialSync::StreamingList);
    factory.configure::<Pod>(KindConfig {
        name: Some("the pods".into()),
        namespaces: Some(vec!["y".into()]),
        transform: Some(Arc::new(|pod: &mut Pod| {
            pod.spec.node_name = "hidden".into();
        })),
        ..KindConfig::default()
    });
    let pods = factory.informer::<Pod>();
    factory.start();
    let lister = pods.synced().await.expect("it runs");
    assert_eq!(names(&pods), ["y/b"]);
    assert_eq!(pods.name(), "the pods y");
    assert_eq!(
        lister.find("y", "b").expect("it is there").spec.node_name,
        "hidden"
    );
    assert_eq!(pod("b").spec.node_name, "node-1");
    factory.shutdown().await;
}
