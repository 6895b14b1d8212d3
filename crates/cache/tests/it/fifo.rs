//! `Fifo`: the latest value of each object, in the order of arrival.

use crate::object;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{BATCH_MAX, Fifo, ProcessError, Queue, Replacement};
use std::sync::Arc;

fn replacement(objects: &[&str], unreadable: &[&str]) -> Replacement<ObjectMeta> {
    Replacement {
        resource_version: "9".into(),
        objects: objects.iter().map(|text| object(text)).collect(),
        unreadable: unreadable
            .iter()
            .map(|name| ObjectName::cluster(*name))
            .collect(),
    }
}

fn shown(queue: &Fifo<ObjectMeta>) -> String {
    format!("{queue:?}").replace('"', "")
}

fn popped(queue: &mut Fifo<ObjectMeta>) -> String {
    format!("{:?}", queue.pop())
}

/// Contract CACHE-9.
#[test]
fn an_object_is_popped_once_with_its_latest_value_and_keeps_its_place() {
    let mut queue = Fifo::new();
    queue.add(object("a@1"));
    queue.add(object("b@2"));
    queue.update(object("a@3"));
    queue.add(object("c@4"));
    queue.add(object("b@5"));
    assert_eq!(shown(&queue), "[a@3, b@5, c@4]");
    assert_eq!(queue.len(), 3);
    assert_eq!(popped(&mut queue), "Some([Updated(a@3)])");
    queue.add(object("a@6"));
    assert_eq!(shown(&queue), "[b@5, c@4, a@6]", "popped means a new place");
    assert_eq!(
        queue.queued(&ObjectName::cluster("b")),
        Some(&object("b@5"))
    );
}

#[test]
fn a_deleted_object_leaves_the_queue() {
    let mut queue = Fifo::new();
    queue.add(object("a@1"));
    queue.add(object("b@2"));
    queue.delete(object("a@3"));
    queue.delete(object("unknown@3"));
    assert_eq!(shown(&queue), "[b@2]");
    queue.add(object("a@4"));
    assert_eq!(shown(&queue), "[b@2, a@4]");
}

#[test]
fn adding_and_deleting_without_a_pop_keeps_the_queue_empty() {
    let mut queue = Fifo::new();
    for version in 0..10_000 {
        queue.add(object(&format!("a@{version}")));
        queue.delete(object(&format!("a@{version}")));
    }
    assert!(queue.is_empty());
    assert_eq!(queue.names().count(), 0);
}

#[test]
fn a_list_takes_the_place_of_what_was_queued_except_what_it_could_not_read() {
    let mut queue = Fifo::new();
    for text in ["x@1", "b@2", "a@3", "y@4"] {
        queue.add(object(text));
    }
    queue.replace(replacement(
        &["a@5", "c@6", "a@7"],
        &["y", "b", "never-seen"],
    ));
    assert_eq!(shown(&queue), "[b@2, y@4, a@7, c@6]");
}

/// Contract CACHE-12.
#[test]
fn synced_once_the_first_list_was_popped_or_at_once_after_other_deltas() {
    let mut queue = Fifo::<ObjectMeta>::new();
    assert!(!queue.has_synced());
    queue.resync();
    queue.bookmark("1".into());
    assert!(!queue.has_synced() && queue.is_empty());
    queue.replace(replacement(&[], &[]));
    assert!(queue.has_synced(), "an empty list has nothing to wait for");

    let first_steps: [fn(&mut Fifo<ObjectMeta>); 4] = [
        |queue| queue.add(object("a@1")),
        |queue| queue.update(object("a@1")),
        |queue| queue.delete(object("a@1")),
        |queue| queue.add_if_not_present(object("a@1")),
    ];
    for steps in first_steps {
        let mut queue = Fifo::new();
        steps(&mut queue);
        assert!(queue.has_synced());
        queue.replace(replacement(&["a@2", "b@2"], &[]));
        assert!(queue.has_synced(), "it was not the first steps");
    }
}

/// Contract CACHE-12.
#[test]
fn a_first_list_counts_as_handled_when_each_object_was_popped_or_deleted() {
    let mut queue = Fifo::new();
    queue.replace(replacement(&["a@1", "b@2", "c@3", "a@4"], &[]));
    queue.add(object("later@5"));
    assert_eq!(popped(&mut queue), "Some(initial [Updated(a@4)])");
    queue.update(object("b@6"));
    queue.delete(object("c@7"));
    queue.add(object("c@8"));
    assert!(!queue.has_synced());
    assert_eq!(popped(&mut queue), "Some(initial [Updated(b@6)])");
    assert!(queue.has_synced());
    assert_eq!(popped(&mut queue), "Some([Updated(later@5)])");
    assert_eq!(popped(&mut queue), "Some([Updated(c@8)])");
    assert_eq!(popped(&mut queue), "None");
}

#[test]
fn a_second_list_before_the_first_was_popped_takes_over_as_the_first() {
    let mut queue = Fifo::new();
    queue.replace(replacement(&["a@1", "b@1", "c@1"], &[]));
    queue.replace(replacement(&["d@2"], &[]));
    assert!(!queue.has_synced());
    assert_eq!(popped(&mut queue), "Some(initial [Updated(d@2)])");
    assert!(queue.has_synced());
}

#[test]
fn an_object_whose_processing_asks_for_it_goes_back_to_the_end() {
    let mut queue = Fifo::new();
    queue.replace(replacement(&["a@1"], &[]));
    queue.add(object("b@2"));
    let result = queue.process(|object, initial| {
        assert_eq!((&*object.name, initial), ("a", true));
        Err(ProcessError::Requeue("busy"))
    });
    assert_eq!(result, Some(Err("busy")));
    assert_eq!(shown(&queue), "[b@2, a@1]");
    assert!(queue.has_synced(), "it was popped once");
    let result = queue.process(|_, _| Err(ProcessError::Drop("broken")));
    assert_eq!(result, Some(Err("broken")));
    assert_eq!(shown(&queue), "[a@1]");
    assert_eq!(
        queue.process(|_, _| Ok::<_, ProcessError<()>>(())),
        Some(Ok(()))
    );
    assert_eq!(queue.process(|_, _| Ok::<_, ProcessError<()>>(())), None);
}

#[test]
fn what_is_put_back_does_not_displace_a_later_value() {
    let mut queue = Fifo::new();
    queue.add(object("a@1"));
    let old = queue.pop_object().expect("it was added");
    queue.add(object("a@2"));
    queue.add_if_not_present(Arc::clone(&old));
    assert_eq!(shown(&queue), "[a@2]");
    queue.delete(object("a@3"));
    queue.add_if_not_present(old);
    assert_eq!(shown(&queue), "[a@1]");
}

#[test]
fn a_batch_has_at_most_a_thousand_objects_and_ends_with_the_first_list() {
    let mut queue = Fifo::new();
    let names: Vec<_> = (0..1500).map(|name| format!("{name}@1")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    queue.replace(replacement(&names, &[]));
    queue.add(object("later@2"));
    let mut batches = Vec::new();
    while let Some(batch) = queue.pop_batch() {
        batches.push((batch.deltas.len(), batch.initial));
    }
    assert_eq!(batches, [(BATCH_MAX, true), (500, true), (1, false)]);
}

/// Contract CACHE-13.
#[test]
fn a_closed_queue_drains() {
    let mut queue = Fifo::new();
    queue.add(object("a@1"));
    queue.close();
    assert!(queue.is_closed() && !queue.is_drained());
    queue.add(object("b@2")); // a closed queue still accepts items
    assert!(
        queue
            .pop_batch()
            .is_some_and(|batch| batch.deltas.len() == 2)
    );
    assert!(queue.is_drained() && queue.pop_batch().is_none());
}
