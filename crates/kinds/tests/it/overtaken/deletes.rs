//! Deletes with concurrent writes.

use super::*;
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{DeleteOptions, KubeObject};

#[tokio::test]
async fn a_finalizer_that_is_added_meanwhile_keeps_the_object() {
    let runs = at_every_call(
        async |pair: &Pair| {
            pair.second.create(config_map("a", "")).await;
        },
        async |pair: &Pair| {
            let options = DeleteOptions::default();
            pair.first.delete::<ConfigMap>("a", options).await
        },
        |pair| {
            Box::pin(async move {
                let (second, rest) = (&pair.second, pair.second.of::<ConfigMap>());
                let finalizer = |object: &mut dyn AnyObject| {
                    object.meta_mut().finalizers.push("x.io/y".into());
                };
                patch(second, &rest, "a", finalizer).await
            })
        },
        async |pair: &Pair, deleted, patched, at| {
            let deleted = deleted.expect("it is not forbidden");
            let left = pair.second.get::<ConfigMap>("a").await;
            match patched {
                Some(Ok(_)) => {
                    let left = left.unwrap_or_else(|_| panic!("it is gone at {at}"));
                    assert!(left.metadata().is_terminating(), "{at}");
                    assert!(!deleted.gone, "{at}");
                }
                Some(Err(status)) => assert!(status.is_not_found(), "{at} {status:?}"),
                None => assert!(left.is_err() && deleted.gone, "{at}"),
            }
        },
    )
    .await;
    assert!(runs > 2, "it reads and writes");
}

/// Deletes the object and creates another with the same name.
async fn replace(fixture: &Fixture) {
    let deleted = fixture.delete::<ConfigMap>("a", DeleteOptions::default());
    drop(deleted.await);
    drop(fixture.try_create(config_map("a", "new")).await);
}

#[tokio::test]
async fn a_delete_of_a_collection_leaves_what_it_has_not_listed_and_what_changed() {
    for (relabels, left) in [(true, "x"), (false, "new")] {
        at_every_call(
            async |pair: &Pair| {
                pair.second.create(config_map("a", "old")).await;
            },
            async |pair: &Pair| {
                let (cx, list) = (
                    pair.first.cx(),
                    crate::fixture::options("labelSelector=k=old"),
                );
                let (rest, options) = (pair.first.of::<ConfigMap>(), DeleteOptions::default());
                rest.delete_collection(&cx, "default", &list, &options)
                    .await
            },
            |pair| {
                Box::pin(async move {
                    if relabels {
                        let rest = pair.second.of::<ConfigMap>();
                        let label = |object: &mut dyn AnyObject| {
                            object.meta_mut().labels.insert("k".into(), "x".into());
                        };
                        patch(&pair.second, &rest, "a", label).await.is_ok()
                    } else {
                        replace(&pair.second).await;
                        true
                    }
                })
            },
            async |pair: &Pair, deleted, passed, at| {
                deleted.expect("what changed is not its concern");
                let found = pair.second.get::<ConfigMap>("a").await;
                if passed == Some(true) {
                    let found = found.unwrap_or_else(|_| panic!("it is gone at {at}"));
                    assert_eq!(found.metadata.labels["k"], left);
                } else {
                    assert!(found.is_err());
                }
            },
        )
        .await;
    }
}

#[tokio::test]
async fn preconditions_hold_of_what_is_deleted() {
    at_every_call(
        async |pair: &Pair| {
            pair.second.create(config_map("a", "")).await;
        },
        async |pair: &Pair| {
            let found = pair.second.get::<ConfigMap>("a").await.expect("it exists");
            let mut options = DeleteOptions::default();
            let preconditions = options.preconditions.get_or_insert_default();
            preconditions.resource_version = Some(found.metadata.resource_version);
            pair.first.delete::<ConfigMap>("a", options).await
        },
        |pair| {
            Box::pin(async move {
                let rest = pair.second.of::<ConfigMap>();
                let label = |object: &mut dyn AnyObject| {
                    object.meta_mut().labels.insert("k".into(), "x".into());
                };
                patch(&pair.second, &rest, "a", label).await.is_ok()
            })
        },
        async |pair: &Pair, deleted, passed, at| {
            let found = pair.second.get::<ConfigMap>("a").await;
            if passed == Some(true) {
                assert!(deleted.expect_err("it has changed").is_conflict(), "{at}");
                found.expect("it stays");
            } else {
                deleted.expect("it is as it was");
                assert!(found.is_err(), "{at}");
            }
        },
    )
    .await;
}

#[tokio::test]
async fn a_pod_deleted_immediately_is_the_one_that_was_checked() {
    use crate::subresources::pod;
    use kubist_api::core::v1::Pod;
    let now = || DeleteOptions {
        grace_period_seconds: Some(0),
        ..DeleteOptions::default()
    };
    let on_a_node = || {
        let mut pod = pod("a");
        pod.spec.node_name = "n".into();
        pod
    };
    let runs = at_every_call(
        async |pair: &Pair| {
            pair.second.create(on_a_node()).await;
        },
        async |pair: &Pair| {
            let old: Pod = pair.second.get("a").await.expect("it exists");
            let deleted = pair.first.delete::<Pod>("a", now()).await;
            (old.metadata.uid, deleted)
        },
        move |pair| {
            Box::pin(async move {
                let second = &pair.second;
                let deleted = second.delete::<Pod>("a", now()).await.is_ok();
                let new: Pod = second.create(on_a_node()).await;
                (deleted, new.metadata.uid)
            })
        },
        async |pair: &Pair, (old, deleted), passed, at| {
            deleted.expect("some pod of the name was there");
            let left = pair.second.get::<Pod>("a").await;
            match passed {
                // Before the old Pod is marked, the delete may remove the new one; afterwards it
                // may not.
                Some((_, new)) => match left {
                    Ok(left) => assert_eq!(left.metadata.uid, new, "{at}"),
                    Err(_) => assert!(at <= 2, "{old} was meant, and {new} is gone at {at}"),
                },
                None => assert!(left.is_err(), "{at}"),
            }
        },
    )
    .await;
    assert!(runs > 3, "it is marked, and removed");
}
