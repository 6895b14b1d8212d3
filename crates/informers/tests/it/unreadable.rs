//! Objects that cannot be decoded, and what is known of them nevertheless.

use crate::cluster::{Cluster, pod};
use crate::handlers::{Log, factory, started};
use crate::informer::settle;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ObjectName;
use kubist_cache::{Encoded, Metadata, WaitError, Written};
use kubist_informers::{HandlerConfig, QueueKind};
use std::time::Duration;

on_both_queues! {
    what_is_deleted_unreadably_is_gone
    an_unreadable_deletion_of_an_unknown_object_is_not_reported
    a_deletion_that_follows_unread_states_is_reported_with_the_last_state_that_was_shown
    an_unreadable_write_is_never_reported_as_shown
    an_unreadable_name_does_not_delay_others
    a_list_tells_of_unreadable_names_too
}

fn written(name: &str, version: u64) -> Written {
    let mut pod = pod(name);
    pod.metadata.resource_version = version.to_string().into();
    Written::saved(&pod)
}

/// Contract REFL-10.
async fn what_is_deleted_unreadably_is_gone(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let (factory, pods) = started(&cluster, queue);
    let (encoded, metadata) = (
        factory.informer::<Encoded<Pod>>(),
        factory.informer::<Metadata<Pod>>(),
    );
    factory.start();
    let log = Log::default();
    let lister = pods.synced().await.expect("it runs");
    let encoded = encoded.synced().await.expect("it runs");
    let metadata = metadata.synced().await.expect("it runs");
    pods.add_handler(log.handler()).synced().await;
    log.taken();
    cluster.corrupt("a");
    settle().await;
    assert_eq!(lister.len(), 2, "what was known stays");
    cluster.delete_unreadably("a");
    settle().await;
    assert_eq!(log.taken(), ["FinalStateUnknown(shop/a)"]);
    assert_eq!((lister.len(), encoded.len(), metadata.len()), (1, 1, 1));
    let gone = Written::deleted(ObjectName::new("shop", "a"), "").after("1".into());
    let wait = lister.wait_for(&gone, tokio::time::sleep(Duration::from_secs(1)));
    assert_eq!(wait.await, Ok(()));
    factory.shutdown().await;
}

async fn an_unreadable_deletion_of_an_unknown_object_is_not_reported(queue: QueueKind) {
    let cluster = Cluster::with(&["b"]);
    let (factory, pods) = started(&cluster, queue);
    let log = Log::default();
    pods.add_handler(log.handler()).synced().await;
    log.taken();
    cluster.corrupt("a");
    settle().await;
    cluster.delete_unreadably("a");
    cluster.put(pod("c"));
    settle().await;
    assert_eq!(log.taken(), ["Added(shop/c@4)"]);
    let lister = pods.synced().await.expect("it runs");
    assert_eq!(lister.snapshot().unreadable().count(), 0);
    factory.shutdown().await;
}

/// Contract CTRL-7.
async fn a_deletion_that_follows_unread_states_is_reported_with_the_last_state_that_was_shown(
    queue: QueueKind,
) {
    let cluster = Cluster::with(&["a"]);
    let (factory, pods) = started(&cluster, queue);
    let log = Log::default();
    pods.add_handler_in_place(log.handler(), HandlerConfig::default())
        .synced()
        .await;
    cluster.corrupt("a");
    cluster.delete("a");
    settle().await;
    assert_eq!(
        log.taken(),
        ["Added(shop/a@1, initial)", "FinalStateUnknown(shop/a)"]
    );
    factory.shutdown().await;
}

/// Contracts CACHE-3 and CACHE-15.
async fn an_unreadable_write_is_never_reported_as_shown(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let (factory, pods) = started(&cluster, queue);
    let lister = pods.synced().await.expect("it runs");
    cluster.corrupt("a"); // 3
    cluster.put(pod("b")); // 4
    settle().await;
    let limit = || tokio::time::sleep(Duration::from_secs(1));
    let early = lister.wait_for(&written("a", 3), limit()).await;
    assert!(
        matches!(early, Err(WaitError::Deadline { .. })),
        "{early:?}: the store shows {:?}",
        lister
            .find("shop", "a")
            .map(|it| it.metadata.resource_version.clone())
    );
    cluster.put(pod("a")); // 5
    settle().await;
    assert_eq!(lister.wait_for(&written("a", 3), limit()).await, Ok(()));
    assert_eq!(lister.snapshot().unreadable().count(), 0);
    factory.shutdown().await;
}

/// Contract CACHE-15.
async fn an_unreadable_name_does_not_delay_others(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let (factory, pods) = started(&cluster, queue);
    let lister = pods.synced().await.expect("it runs");
    cluster.corrupt("a");
    cluster.delete("b"); // 4
    settle().await;
    let limit = tokio::time::sleep(Duration::from_secs(1));
    assert_eq!(lister.wait_for(&written("b", 4), limit).await, Ok(()));
    let unreadable: Vec<_> = lister.snapshot().unreadable().cloned().collect();
    assert_eq!(unreadable, [ObjectName::new("shop", "a")]);
    factory.shutdown().await;
}

/// Contract CACHE-3.
async fn a_list_tells_of_unreadable_names_too(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    cluster.corrupt("x"); // 2
    let factory = factory(&cluster, queue);
    let pods = factory.informer::<Pod>();
    factory.start();
    let lister = pods.synced().await.expect("it runs");
    let limit = || tokio::time::sleep(Duration::from_secs(1));
    let early = lister.wait_for(&written("x", 2), limit()).await;
    assert!(
        matches!(early, Err(WaitError::Deadline { .. })),
        "{early:?}"
    );
    let expired = kubist_cache::FetchError::Expired {
        message: "compacted".into(),
    };
    cluster.delete_quietly("x"); // 3
    cluster.cut(Some(expired));
    tokio::time::sleep(Duration::from_secs(2 * 60)).await;
    assert_eq!(lister.snapshot().unreadable().count(), 0);
    assert_eq!(lister.wait_for(&written("x", 2), limit()).await, Ok(()));
    factory.shutdown().await;
}
