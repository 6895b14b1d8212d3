//! Readers that run concurrently with the writer.

use crate::{apply, list, object};
use kubist_cache::{Delta, Index, Indexer};
use std::sync::atomic::{AtomicBool, Ordering};

/// Contract CACHE-1, CACHE-2.
#[test]
fn a_reader_beside_a_writer_always_sees_one_whole_state() {
    let mut indexer = Indexer::new();
    let app = indexer.add_index(Index::label("app"));
    apply(&mut indexer, list("1", &["a@1 app=x", "b@1 app=x"]));
    let lister = indexer.lister();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0u64;
            while !done.load(Ordering::Acquire) {
                let snapshot = lister.snapshot();
                let group = snapshot.by_index(&app, "x");
                assert_eq!(group.len(), 2);
                assert_eq!(group[0].resource_version, group[1].resource_version);
                let version = snapshot.resource_version().to_u64().expect("a number");
                assert!(version >= seen, "a reader never goes back");
                seen = version;
            }
            seen
        });
        for version in 2..2000u64 {
            let mut changes = Vec::new();
            for name in ["a", "b"] {
                let object = object(&format!("{name}@{version} app=x"));
                indexer.apply(Delta::Updated(object), &mut changes);
            }
            indexer.publish();
        }
        done.store(true, Ordering::Release);
        reader.join().expect("the reader found nothing wrong");
    });
    assert_eq!(lister.resource_version(), "1999");
}
