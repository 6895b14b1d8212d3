//! Changes of definitions, and watch caches of custom resources.

use super::*;
use kubist_registry::WatchEvent;
use kubist_registry::storage::WatchCacheConfig;

/// Changes a definition, with retries after conflicting writes.
async fn change(
    fixture: &Fixture,
    edit: impl Fn(&mut CustomResourceDefinition),
) -> Result<CustomResourceDefinition, Status> {
    change_part(fixture, "", edit).await
}

async fn change_part(
    fixture: &Fixture,
    subresource: &str,
    edit: impl Fn(&mut CustomResourceDefinition),
) -> Result<CustomResourceDefinition, Status> {
    loop {
        let mut definition = cluster_get(fixture, "widgets.example.com").await?;
        edit(&mut definition);
        match fixture.put_subresource(subresource, definition).await {
            Err(status) if status.is_conflict() => {}
            other => return Ok(typed(&other?.object)),
        }
    }
}

fn store_as(definition: &mut CustomResourceDefinition, version: &str) {
    for it in &mut definition.spec.versions {
        it.storage = it.name == *version;
        it.served |= it.storage;
    }
}

async fn value_at(fixture: &Fixture, name: &str) -> Value {
    let key = format!("/registry/example.com/widgets/default/{name}");
    let stored = kubist_storage::KvRead::get(&fixture.kv, key.as_bytes(), None).await;
    let stored = stored.expect("it answers").kv.expect("it is there");
    serde_json::from_slice(&stored.value).expect("it is JSON")
}

/// Waits until the definition is observed and new objects are stored in a version.
async fn stored_as(fixture: &Fixture, version: &str) {
    let (new, delete) = (json!({"metadata": {"name": "n"}}), DeleteOptions::default());
    let expected = format!("example.com/{version}");
    until(async || {
        let rest = served(fixture, "v1").await;
        // Until the change is served, nothing can be written.
        create(fixture, &rest, &new).await.ok()?;
        if value_at(fixture, "n").await["apiVersion"] == *expected {
            return Some(());
        }
        drop(rest.delete(&fixture.cx(), "default", "n", &delete).await);
        None
    })
    .await;
}

#[tokio::test]
async fn a_version_that_is_no_longer_served_is_gone_and_its_objects_stay() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let beta = served(&fixture, "v1beta1").await;
    let tree = json!({"metadata": {"name": "w"}, "spec": {"size": 1}});
    create(&fixture, &beta, &tree).await.expect("it is fine");
    let of_beta = |it: &mut CustomResourceDefinition, served| {
        it.spec.versions[1].served = served;
    };
    change(&fixture, |it| of_beta(it, false))
        .await
        .expect("it is fine");
    until(async || {
        let found = fixture.registry.resource(GROUP, "v1beta1", "widgets");
        found.is_none().then_some(())
    })
    .await;
    let groups = fixture.registry.groups();
    let group = groups
        .iter()
        .find(|it| it.name == *GROUP)
        .expect("v1 is served");
    assert_eq!(group.versions.len(), 1);
    let rest = served(&fixture, "v1").await;
    let (cx, any) = (fixture.cx(), ResourceVersion::default());
    rest.get(&cx, "default", "w", &any)
        .await
        .expect("it is still there");
    change(&fixture, |it| of_beta(it, true))
        .await
        .expect("it is fine");
    let beta = served(&fixture, "v1beta1").await;
    let got = beta
        .get(&cx, "default", "w", &any)
        .await
        .expect("it is there");
    assert_eq!(shown(&got)["apiVersion"], "example.com/v1beta1");
    drop(task);
}

#[tokio::test]
async fn a_definition_that_serves_no_version_takes_its_objects_along() {
    let (fixture, task) = following().await;
    fixture
        .create(definition("widgets", "Widget", &versions()))
        .await;
    let rest = served(&fixture, "v1").await;
    let kept = json!({"metadata": {"name": "kept", "finalizers": ["x.io/y"]}});
    create(&fixture, &rest, &kept).await.expect("it is fine");
    create(&fixture, &rest, &json!({"metadata": {"name": "w"}}))
        .await
        .expect("it is fine");
    let serve = |it: &mut CustomResourceDefinition, served| {
        for version in &mut it.spec.versions {
            version.served = served;
        }
    };
    change(&fixture, |it| serve(it, false)).await.expect("fine");
    until(async || {
        let found = fixture.registry.resource(GROUP, "v1", "widgets");
        found.is_none().then_some(())
    })
    .await;
    let deleted = fixture
        .delete::<CustomResourceDefinition>("widgets.example.com", DeleteOptions::default())
        .await
        .expect("it begins");
    assert!(!deleted.gone, "its objects go first");
    let (cx, all) = (fixture.cx(), ListOptions::default());
    until(async || {
        let page = rest.list(&cx, "default", &all).await.ok()?;
        (names(&page) == ["kept"]).then_some(())
    })
    .await;
    // The definition waits for objects with finalizers.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    cluster_get(&fixture, "widgets.example.com")
        .await
        .expect("it is there");
    let any = ResourceVersion::default();
    let freed = rest.get(&cx, "default", "kept", &any).await.expect("fine");
    let mut freed = shown(&freed);
    freed["metadata"]["finalizers"] = Value::Null;
    put(&fixture, &rest, &freed).await.expect("it is free");
    until(async || cluster_get(&fixture, "widgets.example.com").await.err()).await;
    let prefix = kubist_storage::KeyRange::prefix("/registry/example.com/");
    let request = kubist_storage::RangeRequest::new(prefix);
    let left = kubist_storage::KvRead::range(&fixture.kv, request).await;
    assert_eq!(
        left.expect("it answers").kvs.len(),
        0,
        "nothing stays behind"
    );
    drop(task);
}

#[tokio::test]
async fn objects_are_rewritten_in_the_version_that_storage_has_from_now_on() {
    for cached in [false, true] {
        let (fixture, task) = following_with(|config| {
            config.watch_cache.enabled = cached;
        })
        .await;
        fixture
            .create(definition("widgets", "Widget", &versions()))
            .await;
        let rest = served(&fixture, "v1").await;
        let tree = json!({"metadata": {"name": "w"}, "spec": {"size": 1}});
        let created = create(&fixture, &rest, &tree).await.expect("it is fine");
        assert_eq!(
            value_at(&fixture, "w").await["apiVersion"],
            "example.com/v1"
        );
        let changed = change(&fixture, |it| store_as(it, "v1beta1")).await;
        let stored = changed.expect("it is fine").status.stored_versions;
        assert_eq!(stored, ["v1", "v1beta1"]);
        stored_as(&fixture, "v1beta1").await;
        // Older objects are read, listed and rewritten.
        let (cx, rest) = (fixture.cx(), served(&fixture, "v1").await);
        let beta = served(&fixture, "v1beta1").await;
        for (rest, version) in [(&rest, "v1"), (&beta, "v1beta1")] {
            let expected = format!("example.com/{version}");
            let page = rest.list(&cx, "default", &ListOptions::default()).await;
            let page = page.expect("it can be read");
            assert_eq!(names(&page), ["n", "w"]);
            for item in &page.items {
                assert_eq!(shown(item)["apiVersion"], *expected, "cached: {cached}");
            }
        }
        assert_eq!(
            value_at(&fixture, "w").await["apiVersion"],
            "example.com/v1"
        );
        let same = put(&fixture, &rest, &created).await.expect("it is fine");
        assert_ne!(
            same["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"],
            "it is written in another version"
        );
        assert_eq!(
            value_at(&fixture, "w").await["apiVersion"],
            "example.com/v1beta1"
        );

        // A stored version must stay defined until it is removed from `storedVersions`.
        let without = |it: &mut CustomResourceDefinition| {
            it.spec.versions.retain(|it| it.name != "v1");
        };
        let refused = change(&fixture, without)
            .await
            .expect_err("v1 may be stored");
        let missing = "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions";
        assert!(refused.message.contains(missing), "{refused}");
        let migrated = change_part(&fixture, "status", |it| {
            it.status.stored_versions.retain(|it| it != "v1");
        });
        migrated.await.expect("nothing is stored as v1");
        change(&fixture, without).await.expect("v1 is not needed");
        let any = ResourceVersion::default();
        let got = beta.get(&cx, "default", "w", &any).await;
        assert_eq!(
            shown(&got.expect("it is there"))["spec"],
            json!({"size": 1})
        );
        drop(task);
    }
}

#[tokio::test]
async fn custom_resources_have_watch_caches_where_these_are_on() {
    for (sizes, cached) in [("", true), ("widgets.example.com#0", false)] {
        let (fixture, task) = following_with(|config| {
            config.watch_cache = WatchCacheConfig::everywhere();
            config.watch_cache.sizes = sizes.parse().expect("it is valid");
        })
        .await;
        let of_widgets = || {
            let all = fixture.registry.watch_caches();
            let found = all.into_iter().find(|it| *it.resource == *"widgets");
            found.map(|it| it.stats)
        };
        let pods = fixture.registry.watch_caches();
        assert!(pods.iter().any(|it| *it.resource == *"pods"));
        fixture
            .create(definition("widgets", "Widget", &versions()))
            .await;
        let rest = served(&fixture, "v1").await;
        assert_eq!(of_widgets().is_some(), cached, "{sizes}");
        create(&fixture, &rest, &json!({"metadata": {"name": "w"}}))
            .await
            .expect("it is fine");
        let (cx, all) = (fixture.cx(), ListOptions::default());
        let page = rest.list(&cx, "default", &all).await.expect("it is ready");
        assert_eq!(names(&page), ["w"]);
        if !cached {
            continue;
        }
        assert_eq!(of_widgets().expect("it has one").objects, 1);
        let counted = || {
            let all = fixture.registry.metrics();
            let found = all.into_iter().find(|it| *it.resource == *"widgets");
            found.expect("it is counted")
        };
        assert_eq!(counted().cache.consistent_reads(true, false).value(), 1);

        // The cache survives a change of columns, and ends with its definition.
        change(&fixture, |it| {
            it.spec.versions[0].additional_printer_columns.clear();
        })
        .await
        .expect("it is fine");
        until(async || {
            let rest = served(&fixture, "v1").await;
            let columns = kubist_kinds::table_columns(rest.facts());
            (columns.len() == 2).then_some(())
        })
        .await;
        let stats = of_widgets().expect("it has one");
        let initializations = counted().cache.initializations.value();
        assert_eq!((initializations, stats.objects), (1, 1));
        let watch = rest.watch(&cx, "default", None, &all, None).await;
        let mut watch = watch.expect("it is ready");
        fixture
            .delete::<CustomResourceDefinition>("widgets.example.com", DeleteOptions::default())
            .await
            .expect("it begins");
        let mut deleted = 0;
        while let Some(events) = watch.next().await {
            let gone = events
                .iter()
                .filter(|it| matches!(it, WatchEvent::Deleted(_)));
            deleted += gone.count();
        }
        assert_eq!(deleted, 1, "it has seen the end of what it watched");
        until(async || of_widgets().is_none().then_some(())).await;
        drop(task);
    }
}
