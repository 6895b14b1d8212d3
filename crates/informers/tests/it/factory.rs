//! The factory: who shares what, start, sync, shutdown.

use kubist_api::core::v1::Pod;
use kubist_cache::{Encoded, Selection};
use kubist_informers::{InformerState, SharedInformerFactory};
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;

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
    factory.wait_for_sync().await.expect("nobody stops it");
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
