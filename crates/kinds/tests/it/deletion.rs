//! Deleting objects.

use crate::fixture::{Fixture, config_map, names, options};
use crate::fixture::{START, typed};
use crate::update::deployment;
use kubist_api::apps::v1::Deployment;
use kubist_api::core::v1::{ConfigMap, Pod};
use kubist_apimachinery::{DeleteOptions, PropagationPolicy, Status, Time};
use kubist_registry::{Created, Deleted};

fn success(deleted: Result<Deleted, Status>) -> Status {
    match deleted.expect("it can be deleted") {
        Deleted {
            answer: Created::Status(status),
            gone: true,
        } => *status,
        other => panic!("it is not gone: {other:?}"),
    }
}

#[tokio::test]
async fn a_delete_answers_with_the_uid_of_what_is_gone() {
    let fixture = Fixture::new().await;
    let created: Deployment = fixture.create(deployment("d")).await;
    let status = success(
        fixture
            .delete::<Deployment>("d", DeleteOptions::default())
            .await,
    );
    let details = status.details.expect("it says what is gone");
    assert_eq!(
        (&*details.name, &*details.group, &*details.kind),
        ("d", "apps", "deployments")
    );
    assert_eq!(details.uid, created.metadata.uid);
    let again = fixture
        .delete::<Deployment>("d", DeleteOptions::default())
        .await;
    assert!(again.is_err_and(|it| it.is_not_found()));
}

#[tokio::test]
async fn preconditions_name_the_object_that_is_meant() {
    let fixture = Fixture::new().await;
    let created: ConfigMap = fixture.create(config_map("a", "")).await;
    let (uid, version) = (created.metadata.uid, created.metadata.resource_version);
    let wrong = DeleteOptions::default().with_uid("other");
    let status = fixture
        .delete::<ConfigMap>("a", wrong)
        .await
        .expect_err("another one");
    assert_eq!(
        status.message,
        format!(
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition \
             (other) does not match the UID in record ({uid}). The object might have been deleted \
             and then recreated"
        )
        .as_str()
    );
    let wrong = DeleteOptions::default().with_resource_version("1");
    let status = fixture
        .delete::<ConfigMap>("a", wrong)
        .await
        .expect_err("another version");
    assert!(status.is_conflict());
    let right = DeleteOptions::default()
        .with_uid(uid)
        .with_resource_version(version);
    success(fixture.delete::<ConfigMap>("a", right).await);
}

#[tokio::test]
async fn a_precondition_on_the_version_survives_the_marking() {
    let fixture = Fixture::new().await;
    let mut object = deployment("d");
    object.metadata.finalizers.push("foregroundDeletion".into());
    let created: Deployment = fixture.create(object).await;
    let options = DeleteOptions::default()
        .with_resource_version(created.metadata.resource_version)
        .with_propagation(PropagationPolicy::Background);
    // Removing the finalizer is a separate write.
    success(fixture.delete::<Deployment>("d", options).await);
}

#[tokio::test]
async fn a_propagation_policy_adds_the_finalizer_of_the_garbage_collector() {
    let fixture = Fixture::new().await;
    for (policy, finalizer) in [
        (PropagationPolicy::Foreground, "foregroundDeletion"),
        (PropagationPolicy::Orphan, "orphan"),
    ] {
        fixture
            .create(deployment(finalizer.to_lowercase().as_str()))
            .await;
        let name = finalizer.to_lowercase();
        let options = DeleteOptions::default().with_propagation(policy);
        let deleted = fixture
            .delete::<Deployment>(&name, options)
            .await
            .expect("it waits");
        assert!(!deleted.gone && matches!(deleted.answer, Created::Object(_)));
        let waiting: Deployment = fixture.get(&name).await.expect("it waits");
        let meta = &waiting.metadata;
        assert_eq!(meta.finalizers, [finalizer]);
        assert_eq!(
            (meta.generation, meta.deletion_grace_period_seconds),
            (2, Some(0))
        );
        assert!(meta.is_terminating());

        let again = fixture
            .delete::<Deployment>(&name, DeleteOptions::default())
            .await;
        assert!(!again.expect("it still waits").gone);
        let unchanged: Deployment = fixture.get(&name).await.expect("it waits");
        assert_eq!(unchanged, waiting);
    }
}

#[tokio::test]
async fn a_dry_run_deletes_nothing() {
    let fixture = Fixture::new().await;
    fixture.create(config_map("a", "")).await;
    let mut finalized = config_map("b", "");
    finalized.metadata.finalizers.push("example.com/f".into());
    fixture.create(finalized).await;
    let before = fixture.kv.stats().revision;
    let dry_run = || DeleteOptions {
        dry_run: vec!["All".into()],
        ..DeleteOptions::default()
    };
    success(fixture.delete::<ConfigMap>("a", dry_run()).await);
    let deleted = fixture
        .delete::<ConfigMap>("b", dry_run())
        .await
        .expect("it would wait");
    assert!(!deleted.gone);
    assert_eq!(fixture.kv.stats().revision, before);
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector() {
    let fixture = Fixture::new().await;
    for (name, label) in [("a", "x"), ("b", "x"), ("c", "y")] {
        fixture.create(config_map(name, label)).await;
    }
    let rest = fixture.of::<ConfigMap>();
    let (cx, list) = (fixture.cx(), options("labelSelector=k=x"));
    let delete = DeleteOptions::default();
    let deleted = rest.delete_collection(&cx, "default", &list, &delete).await;
    assert_eq!(names(&deleted.expect("they can be deleted")), ["a", "b"]);
    assert_eq!(fixture.names::<ConfigMap>("labelSelector=k").await, ["c"]);
}

#[tokio::test]
async fn a_collection_with_a_limit_is_deleted_page_by_page() {
    let fixture = Fixture::new().await;
    for name in ["a", "b", "c"] {
        fixture.create(config_map(name, "x")).await;
    }
    let rest = fixture.of::<ConfigMap>();
    let (cx, list) = (fixture.cx(), options("labelSelector=k=x&limit=2"));
    let delete = DeleteOptions::default();
    let deleted = rest.delete_collection(&cx, "default", &list, &delete).await;
    let deleted = deleted.expect("they can be deleted");
    assert_eq!(names(&deleted), ["a", "b"]);
    assert!(!deleted.metadata.continue_.is_empty());
    assert_eq!(fixture.names::<ConfigMap>("labelSelector=k").await, ["c"]);
}

fn after(seconds: i64) -> DeleteOptions {
    DeleteOptions {
        grace_period_seconds: Some(seconds),
        ..DeleteOptions::default()
    }
}

#[tokio::test]
async fn a_running_pod_gets_time_to_end() {
    let fixture = Fixture::new().await;
    let mut pod = crate::subresources::pod("p");
    pod.spec.node_name = "n".into();
    fixture.create(pod).await;
    let mut seen = Vec::new();
    for (passed, options) in [
        (0, DeleteOptions::default()),
        (3, after(5)),
        (1, after(50)),
        (0, DeleteOptions::default()),
        (0, after(0)),
    ] {
        fixture.clock.advance(passed);
        let deleted = fixture.delete::<Pod>("p", options).await;
        let deleted = deleted.expect("it can be deleted");
        let Created::Object(stored) = &deleted.answer else {
            panic!("pods are shown: {deleted:?}");
        };
        let meta = typed::<Pod>(stored).metadata;
        let end = meta.deletion_timestamp.map_or(0, Time::unix) - START;
        seen.push((
            deleted.gone,
            end,
            meta.deletion_grace_period_seconds,
            meta.generation,
        ));
    }
    let expected = [
        (false, 30, Some(30), 2),
        (false, 5, Some(5), 2),
        (false, 5, Some(5), 2),
        (false, 5, Some(5), 2),
        (true, 0, Some(0), 2),
    ];
    assert_eq!(seen, expected);
    assert!(
        fixture
            .get::<Pod>("p")
            .await
            .is_err_and(|it| it.is_not_found())
    );
}

#[tokio::test]
async fn a_pod_without_a_node_goes_at_once() {
    let fixture = Fixture::new().await;
    let created: Pod = fixture.create(crate::subresources::pod("p")).await;
    let deleted = fixture
        .delete::<Pod>("p", DeleteOptions::default())
        .await
        .expect("fine");
    let Created::Object(stored) = &deleted.answer else {
        panic!("pods are shown: {deleted:?}");
    };
    let meta = typed::<Pod>(stored).metadata;
    assert!(deleted.gone && meta.resource_version != created.metadata.resource_version);
    assert_eq!(
        (meta.generation, meta.deletion_grace_period_seconds),
        (2, Some(0))
    );
}
