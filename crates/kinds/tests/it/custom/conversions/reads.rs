//! Reads in every version: get, lists, watches and selectors.

use super::*;

#[tokio::test]
async fn an_object_is_served_in_every_version_and_stored_in_one() {
    let world = World::new().await;
    let created = world
        .create(&world.beta, "a", &json!({"dimension": "3"}))
        .await;
    assert_eq!(created["apiVersion"], BETA);
    assert_eq!(created["spec"], json!({"dimension": "3"}));
    // To the storage version, and back for the response.
    assert_eq!(world.script.take_sizes(), [1, 1]);
    assert_eq!(world.stored("a").await["spec"], json!({"size": 3}));
    assert_eq!(world.stored("a").await["apiVersion"], "example.com/v1");
    let got = world.get(&world.v1, "a").await.expect("it is there");
    assert_eq!(got["spec"], json!({"size": 3}));
    assert_eq!(
        world.script.take_sizes(),
        NONE,
        "it is stored in this version"
    );
    let got = world.get(&world.beta, "a").await.expect("it is there");
    assert_eq!(got["spec"], json!({"dimension": "3"}));
    assert_eq!(got["metadata"], created["metadata"]);
    let reviews = world.script.take_reviews();
    assert_eq!(reviews.len(), 1);
    let sent = &reviews[0];
    assert_eq!(sent["apiVersion"], "apiextensions.k8s.io/v1");
    assert_eq!(sent["request"]["desiredAPIVersion"], BETA);
    assert_eq!(sent["request"]["objects"][0]["spec"], json!({"size": 3}));

    let mut changed = got;
    changed["spec"]["dimension"] = "4".into();
    let updated = put(&world.fixture, &world.beta, &changed)
        .await
        .expect("it is fine");
    assert_eq!(updated["spec"], json!({"dimension": "4"}));
    assert_eq!(updated["metadata"]["generation"], 2);
    assert_eq!(world.stored("a").await["spec"], json!({"size": 4}));
    world.script.take_sizes();
    // A write in the storage version needs a conversion only for the owners of fields in the other.
    let mut changed = world.get(&world.v1, "a").await.expect("it is there");
    changed["spec"]["size"] = 5.into();
    put(&world.fixture, &world.v1, &changed)
        .await
        .expect("it is fine");
    assert_eq!(world.script.take_sizes(), [1, 1]);
}

#[tokio::test]
async fn a_list_is_one_review_of_what_is_stored_in_another_version() {
    for cached in [false, true] {
        let world = World::cached(cached).await;
        assert_eq!(
            world.list(&world.beta, "").await.expect("fine"),
            [] as [Value; 0]
        );
        assert_eq!(world.script.take_sizes(), NONE, "an empty list is not sent");
        for name in ["a", "b", "c"] {
            world.create(&world.v1, name, &json!({"size": 1})).await;
        }
        let store = |version: &'static str| {
            world.change(move |it| {
                for of in &mut it.spec.versions {
                    of.storage = of.name == *version;
                }
            })
        };
        store("v1beta1").await;
        let beta = until(async || {
            let beta = served(&world.fixture, "v1beta1").await;
            let same = json!({"metadata": {"name": "x"}, "spec": {}});
            // Until the change is served, nothing can be written.
            create(&world.fixture, &beta, &same).await.ok()?;
            let stored = world.stored("x").await["apiVersion"] == *BETA;
            let gone = DeleteOptions::default();
            drop(
                beta.delete(&world.fixture.cx(), "default", "x", &gone)
                    .await,
            );
            stored.then_some(beta)
        })
        .await;
        world.create(&beta, "bb", &json!({"dimension": "2"})).await;
        world.script.take_sizes();
        let listed = world.list(&beta, "").await.expect("it is fine");
        let names: Vec<&Value> = listed.iter().map(|it| &it["metadata"]["name"]).collect();
        assert_eq!(names, ["a", "b", "bb", "c"]);
        let dimensions: Vec<&Value> = listed.iter().map(|it| &it["spec"]["dimension"]).collect();
        assert_eq!(dimensions, ["1", "1", "2", "1"]);
        assert!(listed.iter().all(|it| it["apiVersion"] == BETA));
        assert_eq!(world.script.take_sizes(), [3], "cached: {cached}");
        // Known conversions are used again.
        assert_eq!(world.list(&beta, "").await.expect("fine"), listed);
        assert_eq!(world.script.take_sizes(), NONE);
        // A page converts what it needs.
        let v1 = served(&world.fixture, "v1").await;
        let page = world.list(&v1, "limit=3").await.expect("fine");
        assert_eq!(page.len(), 3);
        assert_eq!(world.script.take_sizes(), [1]);

        // An update without a change rewrites the stored bytes.
        let got = world.get(&beta, "a").await.expect("it is there");
        assert_eq!(world.stored("a").await["apiVersion"], "example.com/v1");
        let same = put(&world.fixture, &beta, &got).await.expect("it is fine");
        assert_ne!(
            same["metadata"]["resourceVersion"],
            got["metadata"]["resourceVersion"]
        );
        assert_eq!(world.stored("a").await["apiVersion"], BETA);
        assert_eq!(world.stored("a").await["spec"], json!({"dimension": "1"}));
        let again = put(&world.fixture, &beta, &same).await.expect("it is fine");
        assert_eq!(again, same, "nothing is left to write");
    }
}

#[tokio::test]
async fn a_watch_converts_each_event() {
    for cached in [false, true] {
        let world = World::cached(cached).await;
        world.create(&world.v1, "a", &json!({"size": 1})).await;
        let mut watch = world.watch(&world.beta, "resourceVersion=0").await;
        let events = next(&mut watch).await;
        assert_eq!(
            (events[0].0, &events[0].1["spec"]),
            ("ADDED", &json!({"dimension": "1"}))
        );
        let mut changed = world.get(&world.v1, "a").await.expect("it is there");
        changed["spec"]["size"] = 2.into();
        put(&world.fixture, &world.v1, &changed)
            .await
            .expect("it is fine");
        let events = next(&mut watch).await;
        assert_eq!(
            (events[0].0, &events[0].1["spec"]),
            ("MODIFIED", &json!({"dimension": "2"}))
        );
        assert_eq!(events[0].1["apiVersion"], BETA);
        let gone = DeleteOptions::default();
        let deleted = world
            .v1
            .delete(&world.fixture.cx(), "default", "a", &gone)
            .await;
        assert!(deleted.expect("it is there").gone);
        let events = next(&mut watch).await;
        assert_eq!(
            (events[0].0, &events[0].1["spec"]),
            ("DELETED", &json!({"dimension": "2"}))
        );
    }
}

#[tokio::test]
async fn selectors_see_what_the_client_sees() {
    for cached in [false, true] {
        let world = World::cached(cached).await;
        // In `v1beta1`, large objects have a label.
        world.script.change(|answer| {
            for object in answer["response"]["convertedObjects"]
                .as_array_mut()
                .expect("it is")
            {
                if object["spec"]["dimension"] == "9" {
                    object["metadata"]["labels"] = json!({"size": "large"});
                } else if let Some(meta) = object["metadata"].as_object_mut() {
                    meta.remove("labels");
                }
            }
        });
        let mut watch = world.watch(&world.beta, "labelSelector=size=large").await;
        for (name, size) in [("a", 1), ("b", 9), ("c", 9), ("d", 1)] {
            world.create(&world.v1, name, &json!({"size": size})).await;
        }
        let names = |listed: Vec<Value>| -> Vec<String> {
            let name = |it: &Value| it["metadata"]["name"].as_str().map(str::to_owned);
            listed.iter().filter_map(name).collect()
        };
        let listed = world.list(&world.beta, "labelSelector=size=large").await;
        assert_eq!(names(listed.expect("fine")), ["b", "c"]);
        let listed = world
            .list(&world.beta, "labelSelector=size=large&limit=1")
            .await;
        assert_eq!(names(listed.expect("fine")), ["b"]);
        let listed = world.list(&world.v1, "labelSelector=size=large").await;
        assert_eq!(names(listed.expect("fine")), [] as [&str; 0]);
        let listed = world
            .list(&world.beta, "fieldSelector=spec.dimension=1")
            .await;
        assert_eq!(names(listed.expect("fine")), ["a", "d"]);
        let mut seen = Vec::new();
        while seen.len() < 2 {
            seen.extend(next(&mut watch).await);
        }
        let seen: Vec<_> = seen
            .iter()
            .map(|(of, it)| (*of, &it["metadata"]["name"]))
            .collect();
        assert_eq!(seen, [("ADDED", &json!("b")), ("ADDED", &json!("c"))]);
        // It leaves the selection.
        let mut small = world.get(&world.v1, "b").await.expect("it is there");
        small["spec"]["size"] = 2.into();
        put(&world.fixture, &world.v1, &small)
            .await
            .expect("it is fine");
        let events = next(&mut watch).await;
        assert_eq!(events[0].0, "DELETED");
        assert_eq!(events[0].1["spec"]["dimension"], "9");
    }
}

#[tokio::test]
async fn many_watches_convert_an_event_once() {
    for cached in [false, true] {
        let world = World::cached(cached).await;
        let mut watches = Vec::new();
        for _ in 0..20 {
            watches.push(world.watch(&world.beta, "").await);
        }
        world.create(&world.v1, "a", &json!({"size": 1})).await;
        let all = watches.iter_mut().map(next);
        for events in futures_util::future::join_all(all).await {
            let spec = &events[0].1["spec"];
            assert_eq!((events[0].0, spec), ("ADDED", &json!({"dimension": "1"})));
        }
        assert_eq!(world.script.take_sizes(), [1], "cached: {cached}");
    }
}
