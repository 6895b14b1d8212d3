//! Creates, gets, statistics and keys.

use super::matrix;
use super::stack::{Stack, pod, take, typed};
use kubist_registry::StorageError;
use kubist_registry::storage::{DeleteRequest, PutOptions, UpdateRequest};
use std::time::Duration;

matrix![
    a_created_object_has_a_version_and_is_stored_without,
    an_object_with_a_time_to_live_ends,
    a_key_is_created_once,
    a_get_is_of_its_version_or_a_later_one,
    count_and_size_follow_the_writes,
    no_method_leaves_the_prefix_of_its_resource,
];

async fn a_created_object_has_a_version_and_is_stored_without(s: &Stack) {
    let created = s.create("ns", "a").await;
    assert_eq!(created.revision(), s.head().await);
    let object = typed(&created);
    assert_eq!(object.metadata.name, "a");
    assert_eq!(
        object.metadata.resource_version,
        created.revision().to_string()
    );
    let value = s.raw_value("a").await;
    let text = String::from_utf8_lossy(&value).into_owned();
    assert!(!text.contains(&format!("\u{2}{}", created.revision())));
    assert!(value.windows(4).any(|it| it == b"k8s\0"), "an envelope");

    let mut versioned = pod("ns", "b");
    versioned.metadata.resource_version = "7".into();
    let refused = s
        .storage
        .create(s.key("ns", "b"), Box::new(versioned), PutOptions::default());
    assert!(matches!(refused.await, Err(StorageError::VersionOnCreate)));
}

async fn an_object_with_a_time_to_live_ends(s: &Stack) {
    let ttl = Some(Duration::from_secs(1));
    let created = s.storage.create(
        s.key("ns", "a"),
        Box::new(pod("ns", "a")),
        PutOptions {
            ttl,
            ..PutOptions::default()
        },
    );
    let created = created.await.expect("nothing is there").revision();
    let mut watch = s.watch("ns", &format!("resourceVersion={created}")).await;
    s.comes_to(created + 1).await;
    assert_eq!(
        take(&mut watch, 1).await,
        [format!("DELETED ns/a@{}", created + 1)]
    );
    assert!(s.get("ns", "a").await.is_none());
}

async fn a_key_is_created_once(s: &Stack) {
    s.create("ns", "a").await;
    let again = s.storage.create(
        s.key("ns", "a"),
        Box::new(pod("ns", "a")),
        PutOptions::default(),
    );
    assert!(matches!(
        again.await,
        Err(StorageError::Exists {
            terminating: false,
            ..
        })
    ));
}

async fn a_get_is_of_its_version_or_a_later_one(s: &Stack) {
    let first = s.create("ns", "a").await.revision();
    let second = s.label("ns", "a", "x").await.revision();
    let later = s.bump().await;
    for (version, exact) in [
        (None, true),
        (Some(0), false),
        (Some(first), false),
        (Some(second), true),
        (Some(later), true),
    ] {
        let got = s
            .storage
            .get(&s.key("ns", "a"), version)
            .await
            .expect("it is reached");
        let revision = got.map(|it| it.revision());
        // With a cache, a read of any version may be slightly stale.
        if exact || s.cacher.is_none() {
            assert_eq!(revision, Some(second), "{version:?}");
        } else {
            assert!(
                [None, Some(first), Some(second)].contains(&revision),
                "{version:?}"
            );
        }
    }
    let ahead = s
        .storage
        .get(&s.key("ns", "a"), Some(i64::MAX as u64))
        .await;
    assert!(matches!(ahead, Err(StorageError::TooLarge { .. })));
    for version in [None, Some(0), Some(later)] {
        let missing = s.storage.get(&s.key("ns", "none"), version).await;
        assert!(missing.expect("it is reached").is_none());
    }
}

async fn count_and_size_follow_the_writes(s: &Stack) {
    let settled = async || {
        let head = s.bump().await;
        s.storage
            .get(&s.key("ns", "a"), Some(head))
            .await
            .expect("it is reached");
        let stats = s.storage.stats().await.expect("it is open");
        assert_eq!(
            s.storage.count().await.expect("it is open"),
            stats.object_count
        );
        (stats.object_count, stats.average_size())
    };
    assert_eq!(settled().await, (0, 0));
    s.create("ns", "a").await;
    let one = s.raw_value("a").await.len();
    assert_eq!(settled().await, (1, one));
    s.create("other", "much-longer").await;
    let (count, average) = settled().await;
    assert!(count == 2 && average > one);
    s.label("ns", "a", "x").await;
    let grown = s.raw_value("a").await.len();
    s.delete("other", "much-longer").await;
    assert_eq!(settled().await, (1, grown));
    let refused = s
        .storage
        .delete(s.key("ns", "a"), DeleteRequest::default(), &|_| {
            Err(kubist_apimachinery::Status::bad_request("no"))
        });
    refused.await.expect_err("it was not allowed");
    assert_eq!(settled().await, (1, grown));
}

async fn no_method_leaves_the_prefix_of_its_resource(s: &Stack) {
    let below_root = ["/pods/", "/pods/ns/..", "/pods/./a", "/secrets/ns/a"];
    let below_root = below_root.map(|it| format!("{}{it}", s.root));
    let keys = below_root.iter().map(String::as_str);
    for key in ["", "/"].into_iter().chain(keys) {
        let invalid = |error: StorageError| matches!(error, StorageError::InvalidKey { .. });
        let created = s
            .storage
            .create(key.into(), Box::new(pod("ns", "a")), PutOptions::default())
            .await;
        assert!(created.is_err_and(invalid), "{key}");
        for version in [None, Some(0)] {
            assert!(
                s.storage.get(key, version).await.is_err_and(invalid),
                "{key}"
            );
        }
        let mut change = super::stack::edits(|_| ());
        let request = UpdateRequest::default();
        let updated = s.storage.update(key.into(), request, &mut change).await;
        assert!(updated.is_err_and(invalid), "{key}");
        let deleted = s
            .storage
            .delete(key.into(), DeleteRequest::default(), &|_| Ok(()));
        assert!(deleted.await.is_err_and(invalid), "{key}");
    }
    s.create("ns", "a").await;
    assert_eq!(s.names("..", "").await, [""; 0]);
    let head = s.head().await - 1;
    let mut watch = s.watch("..", &format!("resourceVersion={head}")).await;
    assert_eq!(super::stack::drain(&mut watch).await, [""; 0]);
}
