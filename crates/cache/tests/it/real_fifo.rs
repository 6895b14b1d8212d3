//! `RealFifo`: nothing is merged, dropped or reordered; what may share a batch.

use crate::delta_fifo::replacement;
use crate::object;
use crate::queue_steps::{Step, made, replacement as listing, step};
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{BATCH_MAX, Deleted, Delta, Queue, RealFifo};
use proptest::prelude::*;

/// `name+1`; `+` added, `~` updated, `-` deleted; `=9` a list, `s` a resync, `^9` a bookmark.
fn sign(delta: &Delta<ObjectMeta>) -> String {
    let of =
        |kind, object: &ObjectMeta| format!("{}{kind}{}", object.name, object.resource_version);
    match delta {
        Delta::Added(object) => of('+', object),
        Delta::Updated(object) => of('~', object),
        Delta::Deleted(Deleted::Known(object)) => of('-', object),
        Delta::ReplacedAll(replacement) => format!("={}", replacement.resource_version),
        Delta::SyncAll => "s".to_owned(),
        Delta::Bookmark(version) => format!("^{version}"),
        Delta::Unreadable { name, .. } => format!("{}!", name.name),
        Delta::Replaced(_) | Delta::Sync(_) | Delta::Deleted(_) => {
            unreachable!("not by this queue")
        }
    }
}

fn batches(queue: &mut RealFifo<ObjectMeta>) -> Vec<String> {
    let batches = std::iter::from_fn(|| queue.pop_batch());
    let signs = batches.map(|batch| batch.deltas.iter().map(sign).collect::<Vec<_>>().join(" "));
    signs.collect()
}

/// Contract CACHE-11.
#[test]
fn every_event_is_kept_in_its_place_a_deletion_of_the_unknown_too() {
    let mut queue = RealFifo::new();
    queue.add(object("a@1"));
    queue.add(object("b@2"));
    queue.update(object("a@3"));
    queue.delete(object("a@4"));
    queue.delete(object("a@5"));
    queue.delete(object("never-seen@6"));
    let popped = std::iter::from_fn(|| queue.pop());
    let popped: Vec<_> = popped.map(|batch| sign(&batch.deltas[0])).collect();
    assert_eq!(popped, ["a+1", "b+2", "a~3", "a-4", "a-5", "never-seen-6"]);
}

/// Contract CACHE-11.
#[test]
fn several_lists_stay_apart_and_in_order_with_what_came_between() {
    let mut queue = RealFifo::new();
    queue.replace(replacement("1", &["a@1"]));
    queue.bookmark("2".into());
    queue.add(object("b@3"));
    queue.replace(replacement("4", &["c@4"]));
    queue.replace(replacement("5", &[]));
    assert_eq!(queue.len(), 5);
    assert_eq!(batches(&mut queue), ["=1", "^2", "b+3", "=4", "=5"]);
}

/// Contract CACHE-11.
#[test]
fn a_name_that_comes_again_begins_a_new_batch_wherever_it_stands() {
    let cases: [(&str, &[&str]); 4] = [
        ("a b c", &["a b c"]),
        ("a a b", &["a", "a b"]),
        ("a b c b d", &["a b c", "b d"]),
        ("a b a b a", &["a b", "a b", "a"]),
    ];
    for (names, expected) in cases {
        let mut queue = RealFifo::new();
        for name in names.split(' ') {
            queue.add(object(&format!("{name}@1")));
        }
        let batches: Vec<_> = batches(&mut queue)
            .iter()
            .map(|batch| batch.replace("+1", ""))
            .collect();
        assert_eq!(batches, expected, "{names}");
    }
}

/// Returns how many items of the model form one batch; an item has a name if its delta is of one
/// object.
fn batch_len(items: &[(Option<u8>, String)], initial: usize) -> usize {
    if items.first().is_none_or(|(name, _)| name.is_none()) {
        return items.len().min(1);
    }
    let end = if initial == 0 { items.len() } else { initial };
    let fits = |&at: &usize| {
        let name = items[at].0;
        name.is_some() && items[..at].iter().all(|item| item.0 != name)
    };
    (0..end.min(BATCH_MAX)).take_while(fits).count()
}

proptest! {
    /// Contract CACHE-11.
    #[test]
    fn a_real_fifo_is_a_list_of_events(steps in prop::collection::vec(step(), 0..80)) {
        let mut queue = RealFifo::new();
        let (mut items, mut populated, mut initial) = (Vec::new(), false, 0_usize);
        for (version, step) in (1u64..).zip(steps) {
            let mut take = 0;
            match step {
                Step::Add(name) => {
                    queue.add(made(name, version));
                    items.push((Some(name), format!("{name}+{version}")));
                    populated = true;
                }
                Step::Update(name) => {
                    queue.update(made(name, version));
                    items.push((Some(name), format!("{name}~{version}")));
                    populated = true;
                }
                Step::Delete(name) => {
                    queue.delete(made(name, version));
                    items.push((Some(name), format!("{name}-{version}")));
                    populated = true;
                }
                Step::Replace(ref listed, ref unreadable) => {
                    queue.replace(listing(listed, unreadable, version));
                    items.push((None, format!("={version}")));
                    if !populated {
                        initial = items.len();
                    }
                    populated = true;
                }
                Step::Resync => {
                    queue.resync();
                    items.push((None, "s".to_owned()));
                }
                Step::Requeue => {
                    queue.bookmark(version.into());
                    items.push((None, format!("^{version}")));
                }
                Step::Pop => take = items.len().min(1),
                Step::PopBatch | Step::PutBack => take = batch_len(&items, initial),
            }
            let batch = match step {
                Step::Pop => queue.pop(),
                Step::PopBatch | Step::PutBack => queue.pop_batch(),
                _ => None,
            };
            let expected: Vec<_> = items.drain(..take).map(|(_, sign)| sign).collect();
            let of_first = !populated || initial > 0;
            prop_assert!(batch.as_ref().is_none_or(|batch| batch.initial == of_first));
            let popped = batch.into_iter().flat_map(|batch| batch.deltas);
            prop_assert_eq!(popped.map(|delta| sign(&delta)).collect::<Vec<_>>(), expected);
            initial = initial.saturating_sub(take);
            prop_assert_eq!(queue.len(), items.len());
            prop_assert_eq!(queue.has_synced(), populated && initial == 0);
        }
    }
}
