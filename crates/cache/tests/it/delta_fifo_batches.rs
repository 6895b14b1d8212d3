//! `DeltaFifo` as a `Queue`: batches, their versions, and the store that consumes them.

use crate::delta_fifo::{empty, replacement, sign};
use crate::object;
use kubist_apimachinery::ObjectMeta;
use kubist_cache::{DeltaFifo, DeltaFifoConfig, Indexer, Queue};

fn batch(queue: &mut DeltaFifo<ObjectMeta>) -> String {
    let Some(batch) = queue.pop_batch() else {
        return "none".to_owned();
    };
    let deltas: Vec<_> = batch.deltas.iter().map(sign).collect();
    let initial = if batch.initial { "initial " } else { "" };
    format!("{initial}{}", deltas.join(" "))
}

#[test]
fn a_batch_ends_with_the_first_list_and_with_a_version_that_holds() {
    let mut queue = empty();
    queue.replace(replacement("7", &["a@5", "b@3"]));
    queue.update(object("c@8"));
    queue.update(object("a@9"));
    assert_eq!(
        batch(&mut queue),
        "initial =5 ~9 =3 ^",
        "@8 is still queued"
    );
    assert_eq!(batch(&mut queue), "~8 ^9");
    assert_eq!(batch(&mut queue), "none");
    queue.bookmark("12".into());
    assert_eq!(queue.len(), 1);
    assert_eq!(batch(&mut queue), "^12");
    queue.update(object("b@13"));
    queue.bookmark("15".into());
    let names: Vec<_> = (0..1000).map(|name| format!("x{name}@20")).collect();
    for text in &names {
        queue.add(object(text));
    }
    assert!(
        batch(&mut queue).ends_with(" ^12"),
        "a thousand, one is left"
    );
    assert_eq!(batch(&mut queue), "+20 ^20");
    assert_eq!(batch(&mut queue), "none");
}

/// Contract CACHE-3.
#[test]
fn a_store_that_is_fed_by_it_syncs_and_never_claims_a_version_too_early() {
    let mut indexer = Indexer::new();
    let lister = indexer.lister();
    let mut queue = DeltaFifo::new(DeltaFifoConfig {
        known: Some(lister.clone()),
        ..DeltaFifoConfig::default()
    });
    let mut observed = Vec::new();
    let mut consume = |queue: &mut DeltaFifo<ObjectMeta>| {
        let mut changes = Vec::new();
        let batch = queue.pop();
        for delta in batch.into_iter().flat_map(|batch| batch.deltas) {
            indexer.apply(delta, &mut changes);
        }
        if queue.has_synced() {
            indexer.finish_first_list();
        }
        indexer.publish();
        observed.push(format!("{changes:?}"));
        indexer.has_synced()
    };
    queue.replace(replacement("7", &["a@5", "b@3"]));
    assert!(!consume(&mut queue));
    assert_eq!(lister.resource_version(), "");
    assert!(consume(&mut queue));
    assert_eq!(lister.resource_version(), "7");
    queue.update(object("a@8"));
    queue.add(object("c@9"));
    queue.update(object("a@10"));
    assert!(consume(&mut queue));
    assert_eq!(lister.resource_version(), "7", "@9 is not in it");
    assert!(consume(&mut queue));
    assert_eq!(lister.resource_version(), "10");
    queue.replace(replacement("12", &["a@10"]));
    for _ in 0..3 {
        consume(&mut queue);
    }
    assert_eq!(lister.resource_version(), "12");
    assert_eq!(lister.len(), 1);
    observed[5..7].sort_unstable(); // missing objects come in no particular order
    assert_eq!(
        observed,
        [
            "[Added(a@5, initial)]",
            "[Added(b@3, initial)]",
            "[Updated(a@5->8), Updated(a@8->10)]",
            "[Added(c@9)]",
            "[]",
            "[FinalStateUnknown(b)]",
            "[FinalStateUnknown(c)]",
        ]
    );
}

/// Contract CACHE-13.
#[test]
fn a_closed_queue_drains() {
    let mut queue = empty();
    queue.add(object("a@1"));
    queue.close();
    assert!(queue.is_closed() && !queue.is_drained());
    queue.delete(object("a@2")); // a closed queue still accepts items
    assert_eq!(batch(&mut queue), "+1 -2 ^2");
    assert!(queue.is_drained() && queue.pop().is_none());

    let mut queue = empty();
    queue.replace(replacement("3", &["a@1"]));
    queue.close();
    assert!(queue.pop_deltas().is_some() && !queue.is_drained());
    assert!(queue.pop_deltas().is_none());
    assert!(queue.is_drained(), "single items come without versions");
}
