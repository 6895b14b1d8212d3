//! Look-ups by key, by one or several indexes, in order, and by query.

use crate::{apply, list, object};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest as _, Wire as _};
use kubist_apimachinery::{Object as _, ObjectMeta, ObjectName};
use kubist_cache::{Encoded, Index, Indexer, KeyRange, Panicked, Query, StoreWrite};
use std::sync::Arc;

fn names<K: kubist_apimachinery::Object>(objects: &[Arc<K>]) -> Vec<String> {
    let mut names: Vec<_> = objects.iter().map(|it| it.name().to_owned()).collect();
    names.sort_unstable();
    names
}

#[test]
fn keys_find_objects_and_what_is_no_key_is_an_error() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@1", "node@2"]));
    let lister = indexer.lister();
    assert!(lister.by_key("a/x").expect("a key").is_some());
    assert!(lister.by_key("node").expect("a key").is_some());
    assert!(lister.by_key("a/y").expect("a key").is_none());
    assert!(lister.by_key("a/b/c").is_err());
    let mut keys: Vec<_> = lister.names().iter().map(ToString::to_string).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["a/x", "node"]);
}

#[test]
fn an_object_can_be_looked_at_in_place() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@1"]));
    let (lister, snapshot) = (indexer.lister(), indexer.snapshot());
    let version = |name| {
        let name = ObjectName::new("a", name);
        lister.view(&name, |object| object.resource_version.clone())
    };
    assert_eq!(version("x"), Some("1".into()));
    assert_eq!(version("y"), None);
    let (peeked, got) = (
        snapshot.peek("a", "x"),
        lister.get(&ObjectName::new("a", "x")),
    );
    assert!(Arc::ptr_eq(
        peeked.expect("in the snapshot"),
        &got.expect("published")
    ));
}

#[test]
fn names_of_any_length_are_distinguished() {
    let mut indexer = Indexer::new();
    let by_namespace = indexer.add_index(Index::namespace());
    let lengths = [1, 20, 40, 44, 45, 46, 47, 60, 253];
    let made = |length: usize, end: char, version: &str| {
        let name = "n".repeat(length - 1) + &end.to_string();
        object(&format!("a/{name}@{version}"))
    };
    for version in ["1", "2"] {
        for length in lengths {
            for end in ['x', 'y'] {
                let old = indexer.upsert(made(length, end, version));
                assert_eq!(old.is_some(), version == "2", "{length}");
            }
        }
    }
    indexer.publish();
    let lister = indexer.lister();
    assert_eq!(lister.len(), 2 * lengths.len());
    assert_eq!(lister.by_index(&by_namespace, "a").len(), lister.len());
    for length in lengths {
        let name = made(length, 'y', "2").object_name();
        assert_eq!(lister.get(&name).expect("held").object_name(), name);
        // The same characters, split elsewhere.
        assert!(lister.find("an", &name.name[1..]).is_none());
        assert!(indexer.remove(&name).is_some(), "{name}");
        assert!(indexer.remove(&name).is_none(), "{name}");
    }
    indexer.publish();
    assert_eq!(lister.len(), lengths.len());
}

#[test]
fn a_deletion_of_an_object_moves_the_version_and_that_of_a_name_does_not() {
    let mut indexer = Indexer::new();
    indexer.upsert(object("a/x@1"));
    indexer.upsert(object("a/y@2"));
    assert!(indexer.delete(&object("a/x@5")).is_some());
    assert_eq!(indexer.snapshot().resource_version(), &"5");
    assert!(indexer.remove(&ObjectName::new("a", "y")).is_some());
    assert_eq!(indexer.snapshot().resource_version(), &"5");
    assert!(indexer.delete(&object("a/gone@6")).is_none());
    assert!(indexer.is_empty());
}

#[test]
fn a_transaction_does_what_it_can_and_reports_the_rest_by_position() {
    let mut indexer = Indexer::new();
    let lister = indexer.lister();
    let all_good = [
        StoreWrite::Upsert(object("a/x@1")),
        StoreWrite::Upsert(object("a/y@2")),
    ];
    assert_eq!(indexer.transact(all_good), Ok(()));
    assert!(
        lister.is_empty(),
        "readers see all of it at once, when it is published"
    );
    indexer.publish();
    let mixed = [
        StoreWrite::Upsert(object("a/@3")),
        StoreWrite::Upsert(object("a/z@4")),
        StoreWrite::Delete(object("a/@5")),
        StoreWrite::Delete(object("a/x@6")),
        StoreWrite::Remove(ObjectName::default()),
        StoreWrite::Remove(ObjectName::new("a", "y")),
    ];
    let error = indexer.transact(mixed).expect_err("three have no name");
    assert_eq!(error.to_string(), "3 of 6 writes failed");
    assert_eq!((error.done, error.total), (vec![1, 3, 5], 6));
    let failed: Vec<_> = error.failed.iter().map(|it| it.0).collect();
    assert_eq!(failed, [0, 2, 4]);
    indexer.publish();
    assert_eq!(lister.names(), [ObjectName::new("a", "z")]);
    assert_eq!(lister.resource_version(), "6");
}

#[test]
fn an_index_finds_what_shares_a_value_with_an_object() {
    let mut indexer = Indexer::new();
    let words = indexer.add_index(Index::new("words", |meta: &ObjectMeta, values| {
        for word in meta.labels["words"].split('.') {
            values.push(word);
        }
    }));
    apply(
        &mut indexer,
        list(
            "5",
            &[
                "a@1 words=p.q",
                "b@1 words=q.r",
                "c@1 words=r",
                "d@1 words=s",
            ],
        ),
    );
    let snapshot = indexer.snapshot();
    let like = object("new@1 words=p.q.x");
    let found = snapshot
        .index(&words, &like)
        .expect("the function does not fail");
    assert_eq!(names(&found), ["a", "b"]);
    let mut nameless = (*like).clone();
    nameless.labels.clear();
    let error = snapshot
        .index(&words, &nameless)
        .expect_err("it has no such label");
    assert_eq!(error.to_string(), "index \"words\" failed for new");
}

/// Contract CACHE-7.
#[test]
fn a_panic_of_an_index_function_is_that_objects_error() {
    let mut indexer = Indexer::new();
    let picky = indexer.add_index(Index::new("picky", |meta: &ObjectMeta, values| {
        values.push("before");
        assert!(meta.name != "bad", "it is bad");
        values.push(&meta.name);
    }));
    apply(&mut indexer, list("5", &["a/good@1", "a/bad@1"]));
    let lister = indexer.lister();
    assert_eq!(lister.len(), 2);
    assert_eq!(names(&lister.by_index(&picky, "before")), ["good"]);
    let errors = indexer.take_index_errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].object, ObjectName::new("a", "bad"));
    let panicked = errors[0]
        .source
        .downcast_ref::<Panicked>()
        .expect("a panic");
    assert_eq!(panicked.to_string(), "it panicked: it is bad");
}

#[test]
fn a_name_from_outside_cannot_take_the_place_of_an_index() {
    let mut indexer = Indexer::<ObjectMeta>::new();
    indexer
        .try_add_index(Index::namespace())
        .expect("the first");
    let taken = indexer
        .try_add_index(Index::namespace())
        .expect_err("the second");
    assert_eq!(
        taken.to_string(),
        "there is an index named \"namespace\" already"
    );
    indexer.try_add_index(Index::label("app")).expect("another");
    assert_eq!(indexer.snapshot().index_names(), ["namespace", "label:app"]);
}

/// Contract CACHE-8.
#[test]
fn several_indexes_are_intersected_built_or_not() {
    let objects = [
        "a/1@1 app=web tier=f",
        "a/2@1 app=web tier=b",
        "b/3@1 app=web tier=f",
        "b/4@1 app=db tier=f",
    ];
    let mut indexer = Indexer::new();
    let app = indexer.add_index(Index::label("app"));
    let tier = indexer.add_index(Index::label("tier"));
    apply(&mut indexer, list("5", &objects));
    let lister = indexer.lister();
    let namespace = indexer.add_index(Index::namespace());
    let late =
        |value| names(&lister.by_indexes(&[(&app, "web"), (&tier, value), (&namespace, "a")]));
    for _ in 0..2 {
        assert_eq!(late("f"), ["1"]);
        assert_eq!(late("none"), Vec::<String>::new());
        assert_eq!(
            names(&lister.by_indexes(&[(&app, "web"), (&tier, "f")])),
            ["1", "3"]
        );
        assert_eq!(lister.by_indexes(&[]).len(), 4);
        indexer.publish();
    }
}

#[test]
fn ranges_are_in_order_by_namespace_and_prefix_page_by_page() {
    let objects = [
        "b/x2@1", "a/x1@1", "a/y@1", "b/x10@1", "b/x1@1", "c/x@1", "root@1",
    ];
    let mut kept = Indexer::new();
    kept.keep_order();
    let mut sorted = Indexer::new();
    let mut late = Indexer::new();
    for indexer in [&mut kept, &mut sorted, &mut late] {
        apply(indexer, list("5", &objects));
        indexer.upsert(object("b/x11@6"));
        indexer.upsert(object("b/x3@7"));
        indexer.remove(&ObjectName::new("b", "x3"));
    }
    late.keep_order();
    for indexer in [kept, sorted, late] {
        let snapshot = indexer.snapshot();
        let keys = |range: &KeyRange| {
            let found = snapshot
                .range(range)
                .map(|it| format!("{}/{}", it.namespace, it.name));
            found.collect::<Vec<_>>().join(" ")
        };
        let all = KeyRange::default();
        assert_eq!(keys(&all), "/root a/x1 a/y b/x1 b/x10 b/x11 b/x2 c/x");
        assert_eq!(
            keys(&all.clone().with_prefix("x1")),
            "a/x1 b/x1 b/x10 b/x11"
        );
        let of_b = KeyRange::in_namespace("b").with_prefix("x1");
        assert_eq!(keys(&of_b), "b/x1 b/x10 b/x11");
        let after = ObjectName::new("b", "x1");
        assert_eq!(keys(&of_b.clone().after(after)), "b/x10 b/x11");
        let before = ObjectName::new("a", "z");
        assert_eq!(keys(&of_b.clone().after(before)), "b/x1 b/x10 b/x11");

        let mut range = all;
        let mut pages = Vec::new();
        loop {
            let page = snapshot.page(&range, 3);
            pages.push(page.objects.len());
            let Some(next) = page.next else { break };
            range = range.after(next);
        }
        assert_eq!(pages, [3, 3, 2]);
    }
}

/// Contract CACHE-8.
#[test]
fn queries_answer_labels_fields_and_namespace_together() {
    let pod = |number: usize| {
        let mut pod = Pod::default();
        pod.metadata.name = format!("{number:02}").into();
        pod.metadata.namespace = ["a", "b"][number % 2].into();
        pod.metadata.labels = [("app".into(), ["x", "y", "z"][number % 3].into())].into();
        pod.spec.node_name = format!("n{}", number % 5).into();
        let bytes = pod.to_protobuf().into();
        Arc::new(
            Encoded::<Pod>::ingest(bytes, Encoding::Protobuf, &mut DecodeContext::new())
                .expect("a Pod"),
        )
    };
    let mut plain = Indexer::new();
    let mut indexed = Indexer::new();
    indexed.add_index(Index::namespace());
    indexed.add_index(Index::label("app"));
    indexed.add_index(Index::field("spec.nodeName"));
    for number in 0..60 {
        plain.upsert(pod(number));
        indexed.upsert(pod(number));
    }
    for (namespace, labels, fields, expected) in [
        (Some("a"), "app=x", "spec.nodeName=n0", vec!["00", "30"]),
        (
            None,
            "app in (x,y)",
            "spec.nodeName=n0,metadata.name!=00",
            vec!["10", "15", "25", "30", "40", "45", "55"],
        ),
        (
            Some("b"),
            "app",
            "spec.nodeName=n1,metadata.name=01",
            vec!["01"],
        ),
        (None, "!app", "", vec![]),
        (None, "app notin (x,y,z)", "spec.nodeName=n1", vec![]),
    ] {
        let query = Query {
            namespace: namespace.map(Into::into),
            labels: labels.parse().expect("a selector"),
            fields: fields.parse().expect("a selector"),
        };
        for indexer in [&plain, &indexed] {
            let found = indexer.snapshot().query(&query).expect("fields of a Pod");
            assert_eq!(names(&found), expected, "{labels} {fields}");
        }
    }
    let fields = "spec.nothing=1".parse().expect("a selector");
    assert!(
        plain
            .snapshot()
            .query(&Query {
                fields,
                ..Query::default()
            })
            .is_err()
    );
}
