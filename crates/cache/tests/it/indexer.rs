//! Indexer and lister: what readers see after each kind of delta.

use crate::{apply, list, object};
use kubist_apimachinery::{Object as _, ObjectMeta, ObjectName, Selector};
use kubist_cache::{Deleted, Delta, Index, Indexer, Replacement, ResourceEvent};
use std::sync::Arc;

#[test]
fn a_list_then_events_are_reported_in_order_and_once() {
    let mut indexer = Indexer::new();
    assert!(!indexer.has_synced());
    assert_eq!(
        apply(&mut indexer, list("5", &["a/x@1", "a/y@2"])),
        "[Added(a/x@1, initial), Added(a/y@2, initial)]"
    );
    assert!(indexer.has_synced());
    assert_eq!(indexer.lister().resource_version(), "5");
    assert_eq!(
        apply(&mut indexer, Delta::Added(object("a/z@6"))),
        "[Added(a/z@6)]"
    );
    assert_eq!(
        apply(&mut indexer, Delta::Updated(object("a/z@7"))),
        "[Updated(a/z@6->7)]"
    );
    assert_eq!(apply(&mut indexer, Delta::Updated(object("a/z@7"))), "[]");
    let gone = Delta::Deleted(Deleted::Known(object("a/x@8")));
    assert_eq!(apply(&mut indexer, gone), "[Known(a/x)]");
    assert_eq!(indexer.lister().resource_version(), "8");
    assert_eq!(apply(&mut indexer, Delta::Bookmark("11".into())), "[]");
    assert_eq!(indexer.lister().resource_version(), "11");
    assert_eq!(indexer.lister().len(), 2);
}

/// Contract CACHE-4.
#[test]
fn a_relist_tells_deletions_first_keeps_unchanged_objects_and_sees_a_new_uid() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@1", "a/y@2", "a/z@3"]));
    let lister = indexer.lister();
    let kept = lister
        .get(&ObjectName::new("a", "x"))
        .expect("it was listed");
    assert_eq!(
        apply(&mut indexer, list("9", &["a/n@8", "a/y@7", "a/x@1"])),
        "[FinalStateUnknown(a/z), Added(a/n@8), Updated(a/y@2->7)]"
    );
    let again = lister
        .get(&ObjectName::new("a", "x"))
        .expect("it was listed again");
    assert!(
        Arc::ptr_eq(&kept, &again),
        "the relist keeps what did not change"
    );

    let mut reborn = (*kept).clone();
    reborn.uid = "another".into();
    indexer.apply(
        Delta::ReplacedAll(Replacement {
            resource_version: "9".into(),
            objects: vec![Arc::new(reborn)],
            unreadable: vec![ObjectName::new("a", "y"), ObjectName::new("a", "unknown")],
        }),
        &mut Vec::new(),
    );
    indexer.publish();
    assert_eq!(lister.find("a", "x").expect("listed").uid, "another");
    assert!(
        lister.find("a", "y").is_some(),
        "what could not be read stays as it was"
    );
    assert_eq!(lister.len(), 2);
}

#[test]
fn a_name_twice_in_a_list_counts_where_it_comes_last() {
    let mut indexer = Indexer::new();
    let changes = apply(&mut indexer, list("5", &["x@1", "y@2", "x@3"]));
    assert_eq!(changes, "[Added(y@2, initial), Added(x@3, initial)]");
}

#[test]
fn resync_repeats_stored_objects_and_a_sync_of_an_unknown_one_adds_it() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["x@1"]));
    assert_eq!(apply(&mut indexer, Delta::SyncAll), "[Resynced(x@1)]");
    let sync = |text| Delta::Sync(object(text));
    assert_eq!(apply(&mut indexer, sync("x@1")), "[Resynced(x@1)]");
    assert_eq!(apply(&mut indexer, sync("x@2")), "[Updated(x@1->2)]");
    assert_eq!(apply(&mut indexer, sync("y@1")), "[Added(y@1)]");
}

#[test]
fn a_repeated_deletion_is_reported_once_and_an_unknown_one_not_at_all() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["x@1"]));
    let gone = |text| Delta::Deleted(Deleted::Known(object(text)));
    assert_eq!(apply(&mut indexer, gone("x@6")), "[Known(x)]");
    assert_eq!(apply(&mut indexer, gone("x@6")), "[]");
    assert_eq!(apply(&mut indexer, gone("q@8")), "[]");
    assert_eq!(indexer.snapshot().resource_version(), "8", "it was seen");
}

#[test]
fn a_tombstone_without_an_object_gets_the_one_that_was_held() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["x@1"]));
    let mut changes = Vec::new();
    let tombstone = Deleted::FinalStateUnknown {
        name: object("x@1").object_name(),
        last_known: None,
    };
    indexer.apply(Delta::Deleted(tombstone), &mut changes);
    let [ResourceEvent::Deleted(deleted)] = &changes[..] else {
        panic!("one deletion: {changes:?}");
    };
    let last = deleted.object().expect("it was held");
    assert_eq!(last.resource_version, "1");
}

/// Contract CACHE-6.
#[test]
fn indexes_follow_changes_of_the_values_and_forget_empty_groups() {
    let mut indexer = Indexer::new();
    let app = indexer.add_index(Index::label("app"));
    let words = indexer.add_index(Index::new("words", |meta: &ObjectMeta, values| {
        meta.labels
            .get("words")
            .into_iter()
            .flat_map(|it| it.split('.'))
            .for_each(|word| {
                values.push(word);
            });
    }));
    apply(
        &mut indexer,
        list(
            "5",
            &["a/x@1 app=web words=p.q.p", "a/y@2 app=web", "b/z@3 app=db"],
        ),
    );
    let snapshot = indexer.lister().snapshot();
    assert_eq!(snapshot.by_index(&app, "web").len(), 2);
    assert_eq!(snapshot.index_values(&app), ["db", "web"]);
    assert_eq!(snapshot.index_values(&words), ["p", "q"]);
    assert_eq!(
        snapshot.index_keys(&words, "p"),
        [ObjectName::new("a", "x")]
    );

    apply(
        &mut indexer,
        Delta::Updated(object("a/x@4 app=db words=q.r")),
    );
    apply(
        &mut indexer,
        Delta::Deleted(Deleted::Known(object("a/y@5"))),
    );
    let after = indexer.lister().snapshot();
    assert_eq!(after.index_values(&app), ["db"]);
    assert_eq!(after.index_values(&words), ["q", "r"]);
    assert_eq!(after.by_index(&app, "db").len(), 2);
    assert_eq!(after.by_index(&words, "q")[0].resource_version, "4");
    assert_eq!(
        snapshot.by_index(&app, "web").len(),
        2,
        "an old snapshot does not change"
    );
}

/// Contract CACHE-6.
#[test]
fn an_index_added_late_is_filled_and_can_be_found_by_name() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@1", "b/y@2"]));
    let lister = indexer.lister();
    assert!(lister.by_index_named("namespace", "a").is_err());
    let namespace = indexer.add_index(Index::namespace());
    assert_eq!(
        lister.by_index(&namespace, "a").len(),
        1,
        "not published: it scans"
    );
    assert_eq!(lister.snapshot().index_values(&namespace), ["a", "b"]);
    indexer.publish();
    assert_eq!(
        lister
            .by_index_named("namespace", "b")
            .expect("it is built")
            .len(),
        1
    );
}

/// Contract CACHE-7.
#[test]
fn a_failing_index_function_is_reported_and_leaves_the_object_out_of_it() {
    let mut indexer = Indexer::new();
    let number = indexer.add_index(Index::fallible("number", |meta: &ObjectMeta, values| {
        values.push(&meta.name.parse::<u32>()?.to_string());
        Ok::<(), std::num::ParseIntError>(())
    }));
    apply(&mut indexer, list("5", &["12@1", "x@1"]));
    assert_eq!(indexer.lister().by_index(&number, "12").len(), 1);
    assert_eq!(indexer.lister().len(), 2);
    let errors = indexer.take_index_errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "index \"number\" failed for x");
    assert_eq!(indexer.index_errors_total(), 1);
    assert!(indexer.take_index_errors().is_empty());
}

/// Contract CACHE-8.
#[test]
fn selectors_match_with_and_without_an_index_that_covers_them() {
    let objects = [
        "a/1@1 app=web tier=f",
        "a/2@1 app=web",
        "b/3@1 app=db tier=f",
        "b/4@1",
    ];
    let mut plain = Indexer::new();
    let mut indexed = Indexer::new();
    indexed.add_index(Index::label("app"));
    indexed.add_index(Index::namespace());
    apply(&mut plain, list("5", &objects));
    apply(&mut indexed, list("5", &objects));
    for (text, namespace, expected) in [
        ("", None, vec!["1", "2", "3", "4"]),
        ("app=web", None, vec!["1", "2"]),
        ("app in (web,db),tier=f", None, vec!["1", "3"]),
        ("app in (web,db),tier=f", Some("b"), vec!["3"]),
        ("app!=web", Some("b"), vec!["3", "4"]),
        ("!app", None, vec!["4"]),
        ("app=none", None, vec![]),
        ("", Some("none"), vec![]),
    ] {
        let selector: Selector = text.parse().expect(text);
        for indexer in [&plain, &indexed] {
            let found = indexer.snapshot().select(namespace, &selector);
            let mut names: Vec<_> = found.iter().map(|it| it.name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, expected, "{text} in {namespace:?}");
        }
    }
    assert!(indexed.lister().select(&Selector::nothing()).is_empty());
}

#[test]
fn changes_name_the_newest_object() {
    let mut changes = Vec::new();
    let mut indexer = Indexer::new();
    indexer.apply(list("1", &["x@1"]), &mut changes);
    indexer.apply(list("2", &[]), &mut changes);
    let names: Vec<_> = changes.iter().map(ResourceEvent::object_name).collect();
    assert_eq!(names, [ObjectName::cluster("x"), ObjectName::cluster("x")]);
    assert_eq!(
        changes[1].object().map(|it| it.resource_version.as_str()),
        Some("1")
    );
}

#[test]
fn a_name_that_a_list_has_twice_is_reported_once_whatever_else_cannot_be_read() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, Delta::Added(object("a/kept@1")));
    let list = Replacement {
        resource_version: "9".into(),
        objects: vec![object("a/x@5"), object("a/x@5")],
        unreadable: vec![ObjectName::new("a", "kept")],
    };
    let observed = apply(&mut indexer, Delta::ReplacedAll(list));
    assert_eq!(observed.matches("@5").count(), 1, "{observed}");
}
