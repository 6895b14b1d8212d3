//! `DeltaFifo`: which deltas are grouped, merged, dropped and generated, and when it has synced.

use crate::object;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{
    Deleted, Delta, DeltaFifo, DeltaFifoConfig, Deltas, Indexer, ProcessError, Queue, Replacement,
};

/// `+` added, `~` updated, `=` replaced, `s` sync, `-` deleted, `?` deleted unseen (with the last
/// state known), `^` a bookmark; then the version.
pub(crate) fn sign(delta: &Delta<ObjectMeta>) -> String {
    let kind = match delta {
        Delta::Added(_) => '+',
        Delta::Updated(_) => '~',
        Delta::Replaced(_) => '=',
        Delta::Sync(_) => 's',
        Delta::Deleted(Deleted::Known(_)) => '-',
        Delta::Deleted(Deleted::FinalStateUnknown { .. }) => '?',
        Delta::Unreadable {
            resource_version, ..
        } => return format!("!{resource_version}"),
        Delta::Bookmark(version) => return format!("^{version}"),
        Delta::ReplacedAll(_) | Delta::SyncAll => unreachable!("not by this queue"),
    };
    let version = delta.object().map(|object| &*object.resource_version);
    format!("{kind}{}", version.unwrap_or("none"))
}

/// `name:+1~2`
pub(crate) fn show(deltas: &Deltas<ObjectMeta>) -> String {
    let signs: Vec<_> = deltas.iter().map(sign).collect();
    format!("{}:{}", deltas.object_name(), signs.concat())
}

/// Shows the queue's contents in order.
pub(crate) fn queued(queue: &DeltaFifo<ObjectMeta>) -> String {
    let items = queue.names().map(|name| queue.queued(name).map(show));
    let items: Option<Vec<_>> = items.collect();
    items.expect("each name has deltas").join(" ")
}

pub(crate) fn replacement(version: &str, objects: &[&str]) -> Replacement<ObjectMeta> {
    Replacement {
        resource_version: version.into(),
        objects: objects.iter().map(|text| object(text)).collect(),
        unreadable: Vec::new(),
    }
}

/// The deltas that precede those under test.
type Steps = fn(&mut DeltaFifo<ObjectMeta>);

pub(crate) fn empty() -> DeltaFifo<ObjectMeta> {
    DeltaFifo::default()
}

/// Creates a queue whose consumer holds these objects.
fn knowing(objects: &[&str]) -> DeltaFifo<ObjectMeta> {
    let mut indexer = Indexer::new();
    for text in objects {
        indexer.upsert(object(text));
    }
    indexer.publish();
    DeltaFifo::new(DeltaFifoConfig {
        known: Some(indexer.lister()),
        ..DeltaFifoConfig::default()
    })
}

/// Contract CACHE-10.
#[test]
fn deltas_of_an_object_are_gathered_in_the_place_of_the_first() {
    let mut queue = empty();
    queue.add(object("a@1"));
    queue.add(object("b@2"));
    queue.update(object("a@3"));
    queue.add(object("c@4"));
    queue.delete(object("b@5"));
    assert_eq!(queued(&queue), "a:+1~3 b:+2-5 c:+4");
    assert_eq!(queue.len(), 5);
    let popped = queue.pop_deltas().expect("there are three");
    assert_eq!(show(&popped), "a:+1~3");
    assert_eq!(sign(popped.oldest()), "+1");
    assert_eq!(sign(popped.newest()), "~3");
    queue.update(object("a@6"));
    assert_eq!(
        queued(&queue),
        "b:+2-5 c:+4 a:~6",
        "popped means a new place"
    );
    assert_eq!(queue.len(), 4);
}

#[test]
fn an_object_added_and_deleted_before_a_pop_is_reported_with_both() {
    let mut queue = empty();
    queue.add(object("a@1"));
    queue.delete(object("a@2"));
    queue.add(object("a@3"));
    assert_eq!(queued(&queue), "a:+1-2+3");
}

/// Contract CACHE-10.
#[test]
fn two_deletions_in_a_row_are_one_and_what_was_seen_is_kept() {
    let mut queue = knowing(&["a@1", "b@1"]);
    queue.delete(object("a@2"));
    queue.delete(object("a@3"));
    assert_eq!(queued(&queue), "a:-2", "the earlier of two that were seen");
    queue.replace(replacement("4", &[]));
    assert_eq!(queued(&queue), "a:-2 b:?1", "a tombstone adds nothing");
    queue.delete(object("b@5"));
    assert_eq!(queued(&queue), "a:-2 b:-5", "a deletion seen beats it");
    assert_eq!(queue.len(), 2 + 1, "and the list's version");
}

#[test]
fn a_deletion_of_what_is_neither_queued_nor_known_is_dropped() {
    let mut queue = empty();
    queue.delete(object("a@1"));
    assert!(queue.is_empty());
    queue.add(object("b@2"));
    queue.delete(object("b@3"));
    assert_eq!(queued(&queue), "b:+2-3", "queued is enough");

    let mut queue = knowing(&["a@1"]);
    queue.delete(object("a@2"));
    queue.delete(object("b@2"));
    assert_eq!(queued(&queue), "a:-2", "known is enough");
}

/// Contract CACHE-10.
#[test]
fn a_list_buries_what_is_only_queued() {
    let cases: [(Steps, &str); 5] = [
        (|queue| queue.add(object("a@1")), "a:+1?1 b:=9"),
        (
            |queue| {
                queue.add(object("a@1"));
                queue.delete(object("a@2"));
            },
            "a:+1-2 b:=9",
        ),
        (
            |queue| {
                queue.add(object("a@1"));
                queue.delete(object("a@2"));
                queue.add(object("a@3"));
            },
            "a:+1-2+3?3 b:=9",
        ),
        (
            |queue| {
                queue.replace(replacement("2", &["a@1"]));
                queue.replace(replacement("3", &["b@3"]));
            },
            "a:=1?1 b:=3=9",
        ),
        (
            |queue| {
                queue.add(object("a@1"));
                queue.replace(replacement("3", &[]));
                queue.replace(replacement("4", &[]));
            },
            "a:+1?1 b:=9",
        ),
    ];
    for (before, expected) in cases {
        let mut queue = empty();
        before(&mut queue);
        queue.replace(replacement("9", &["b@9"]));
        assert_eq!(queued(&queue), expected);
    }
    let mut queue = knowing(&["a@1"]);
    queue.resync();
    queue.replace(replacement("9", &["b@9"]));
    assert_eq!(queued(&queue), "a:s1?1 b:=9", "queued by a resync");
}

/// Contract CACHE-10.
#[test]
fn a_list_buries_what_is_only_known_after_what_it_has() {
    let mut queue = knowing(&["a@1", "b@2", "c@3"]);
    queue.delete(object("b@4"));
    queue.replace(replacement("9", &["a@5", "d@6"]));
    assert_eq!(queued(&queue), "b:-4 a:=5 d:=6 c:?3");
}

#[test]
fn what_comes_from_known_objects_comes_in_the_order_of_names() {
    let names: Vec<String> = (10..40).map(|number| format!("n{number}@1")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut queue = knowing(&names);
    queue.replace(replacement("5", &[]));
    assert!(queue.names().is_sorted() && queue.names().len() == 30);
    let mut queue = knowing(&names);
    queue.resync();
    assert!(queue.names().is_sorted() && queue.names().len() == 30);
}

/// Contract CACHE-5.
#[test]
fn a_name_that_a_list_could_not_read_is_not_missing() {
    let mut queue = knowing(&["a@1", "b@1"]);
    queue.add(object("c@2"));
    queue.replace(Replacement {
        unreadable: vec![ObjectName::cluster("b"), ObjectName::cluster("c")],
        ..replacement("9", &["a@5"])
    });
    assert_eq!(queued(&queue), "c:+2!9 a:=5 b:!9");
}

#[test]
fn objects_of_a_list_are_syncs_where_that_is_asked_for() {
    let mut queue = DeltaFifo::new(DeltaFifoConfig {
        list_as_sync: true,
        ..DeltaFifoConfig::default()
    });
    queue.replace(replacement("5", &["a@1"]));
    assert_eq!(queued(&queue), "a:s1");
}

#[test]
fn a_resync_queues_known_objects_without_queued_deltas() {
    let mut queue = knowing(&["a@1", "b@2"]);
    queue.update(object("a@3"));
    queue.resync();
    queue.resync();
    assert_eq!(queued(&queue), "a:~3 b:s2");

    let mut queue = empty();
    queue.add(object("a@1"));
    queue.resync();
    assert_eq!(queued(&queue), "a:+1", "nothing is known");
}

/// Contract CACHE-12.
#[test]
fn synced_once_the_first_list_was_popped_or_at_once_after_other_deltas() {
    let mut queue = empty();
    queue.resync();
    queue.bookmark("1".into());
    assert!(!queue.has_synced());
    queue.replace(replacement("2", &[]));
    assert!(queue.has_synced(), "an empty list has nothing to wait for");

    let first_steps: [Steps; 3] = [
        |queue| queue.add(object("a@1")),
        |queue| queue.update(object("a@1")),
        |queue| queue.delete(object("never-seen@1")),
    ];
    for steps in first_steps {
        let mut queue = empty();
        steps(&mut queue);
        assert!(queue.has_synced());
        queue.replace(replacement("2", &["a@2"]));
        assert!(queue.has_synced(), "it was not the first steps");
    }

    let mut queue = empty();
    queue.replace(replacement("2", &["a@1", "b@1", "a@2"]));
    queue.add(object("c@3"));
    for synced in [false, true, true] {
        assert!(queue.pop_deltas().is_some());
        assert_eq!(queue.has_synced(), synced);
    }
}

/// Contract CACHE-12.
#[test]
fn tombstones_of_the_first_list_count_towards_synced() {
    let mut queue = knowing(&["a@1", "b@2", "c@3"]);
    queue.replace(replacement("9", &["a@1"]));
    for synced in [false, false, true] {
        assert!(queue.pop_deltas().is_some());
        assert_eq!(queue.has_synced(), synced);
    }
    assert!(queue.pop_deltas().is_none());
}

#[test]
fn an_item_whose_processing_asks_for_it_goes_back_to_the_end() {
    let mut queue = empty();
    queue.replace(replacement("1", &["a@1"]));
    queue.add(object("b@2"));
    queue.update(object("a@3"));
    let result = queue.process(|deltas, initial| {
        assert_eq!((show(deltas).as_str(), initial), ("a:=1~3", true));
        Err(ProcessError::Requeue("busy"))
    });
    assert_eq!(result, Some(Err("busy")));
    assert_eq!(queued(&queue), "b:+2 a:=1~3");
    assert!(queue.has_synced(), "it was popped once");
    let result = queue.process(|_, _| Err(ProcessError::Drop("broken")));
    assert_eq!(result, Some(Err("broken")));
    assert_eq!(queued(&queue), "a:=1~3");
    assert_eq!(
        queue.process(|_, _| Ok::<_, ProcessError<()>>(())),
        Some(Ok(()))
    );
    assert_eq!(queue.process(|_, _| Ok::<_, ProcessError<()>>(())), None);
}

#[test]
fn a_requeued_item_gives_way_to_newer_deltas() {
    let mut queue = empty();
    queue.add(object("a@1"));
    queue.add(object("b@2"));
    let old = queue.pop_deltas().expect("there are two");
    queue.update(object("a@3"));
    queue.add_if_not_present(old);
    assert_eq!(queued(&queue), "b:+2 a:~3");
    let old = queue.pop_deltas().expect("there are two");
    queue.add_if_not_present(old);
    assert_eq!(queued(&queue), "a:~3 b:+2");
    assert_eq!(queue.len(), 2);
}

#[test]
fn one_object_has_at_most_a_thousand_deltas_and_the_newest_stays() {
    let mut queue = empty();
    for version in 1..=1003 {
        queue.update(object(&format!("a@{version}")));
    }
    assert_eq!((queue.len(), queue.overflowed_total()), (1000, 3));
    let deltas = queue.pop_deltas().expect("there is one");
    assert_eq!(deltas.len(), 1000);
    assert_eq!(sign(deltas.oldest()), "~4");
    assert_eq!(sign(deltas.newest()), "~1003");
    assert!(queue.is_empty());
    let kept: Vec<_> = deltas.into_iter().map(|delta| sign(&delta)).collect();
    assert_eq!((kept.len(), kept[999].as_str()), (1000, "~1003"));
}

/// The object is unknown, so everything that is applied must take it into account.
#[test]
fn an_event_for_an_unknown_object_comes_first_and_does_not_affect_the_first_list() {
    let mut queue = DeltaFifo::new(DeltaFifoConfig::default());
    queue.replace(replacement("5", &["a@1", "b@2"]));
    queue.unreadable(ObjectName::default(), "6".into());
    assert_eq!(queued(&queue), ":!6 a:=1 b:=2");
    for synced in [false, false, true] {
        queue.pop_deltas().expect("an item");
        assert_eq!(queue.has_synced(), synced);
    }
}
