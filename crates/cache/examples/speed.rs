//! The speed and memory of a store of a million objects: `cargo run --release --config
//! profile.release.opt-level=3 -p kubist-cache --example speed -- 1000000`.
//!
//! It prints nanoseconds of an operation, best of several rounds, and bytes of an object beside the
//! object itself. The objects are small, so that the store's own work is seen; `cargo xtask bench
//! cache` has Pods and peers.

use allocation_counter::measure;
use kubist_apimachinery::{ObjectMeta, ObjectName, Selector};
use kubist_cache::{Index, IndexHandle, Indexer, Lister, Replacement};
use std::hint::black_box;
use std::sync::Arc;

const ROUNDS: usize = 7;
const OBJECTS_OF_A_NODE: usize = 40;

fn objects(count: usize, version: &str) -> Vec<Arc<ObjectMeta>> {
    let object = |number: usize| {
        let hash = number.wrapping_mul(0x9e37_79b9) & 0xffff_ffff;
        let node = number * 7919 % (count / OBJECTS_OF_A_NODE + 1);
        let label = |key: &str, value: String| (key.into(), value.into());
        Arc::new(ObjectMeta {
            name: format!("backend-{}-{hash:08x}-{number:05x}", hash % 400).into(),
            namespace: format!("group-{:02}", number % 50).into(),
            uid: format!("0b0e6a34-6c1c-4b8e-9b7e-{number:012x}").into(),
            resource_version: format!("{version}{number}").into(),
            labels: [
                label("app", format!("backend-{}", number % 400)),
                label("node", format!("node-{node}")),
            ]
            .into(),
            ..ObjectMeta::default()
        })
    };
    (0..count).map(object).collect()
}

/// Returns nanoseconds of one of `count` operations.
#[expect(clippy::disallowed_methods, reason = "it measures real time")]
#[expect(clippy::cast_precision_loss, reason = "a figure to be read by people")]
fn timed(count: usize, run: impl FnOnce()) -> f64 {
    let begin = std::time::Instant::now();
    run();
    begin.elapsed().as_secs_f64() * 1e9 / count as f64
}

fn best(count: usize, mut run: impl FnMut()) -> f64 {
    let rounds = (0..ROUNDS).map(|_| timed(count, &mut run));
    rounds.fold(f64::MAX, f64::min)
}

type Store = (Indexer<ObjectMeta>, IndexHandle<ObjectMeta>);

fn empty() -> Store {
    let mut indexer = Indexer::new();
    indexer.add_index(Index::namespace());
    let by_node = indexer.add_index(Index::label("node"));
    (indexer, by_node)
}

fn replace(indexer: &mut Indexer<ObjectMeta>, objects: &[Arc<ObjectMeta>]) {
    let list = Replacement {
        resource_version: "1".into(),
        objects: objects.to_vec(),
        unreadable: Vec::new(),
    };
    indexer.replace(list, &mut Vec::new());
    indexer.publish();
}

/// One after another, each visible before the next.
fn put(indexer: &mut Indexer<ObjectMeta>, objects: &[Arc<ObjectMeta>]) {
    for object in objects {
        indexer.upsert(Arc::clone(object));
        indexer.publish();
    }
}

fn get(lister: &Lister<ObjectMeta>, names: &[ObjectName]) {
    for name in names {
        assert!(black_box(lister.get(name)).is_some());
    }
}

fn view(lister: &Lister<ObjectMeta>, names: &[ObjectName]) {
    for name in names {
        let found = lister.view(name, |object| std::ptr::from_ref(object).addr());
        assert!(black_box(found).is_some());
    }
}

#[expect(clippy::print_stdout, reason = "its purpose")]
fn main() {
    let count = std::env::args().nth(1).and_then(|it| it.parse().ok());
    let count: usize = count.unwrap_or(20_000);
    let show = |case: &str, figure: f64| println!("{case:32} {figure:12.1}");
    let (first, second) = (objects(count, "1"), objects(count, "2"));
    let names: Vec<_> = first
        .iter()
        .map(|it| ObjectName::new(&*it.namespace, &*it.name))
        .collect();
    let mut shuffled = names.clone();
    shuffled
        .sort_by_cached_key(|it| it.name.len() ^ it.name.as_ptr().addr().wrapping_mul(0x9e37_79b9));
    writes(count, &first, &second, &show);
    let (mut indexer, by_node) = empty();
    replace(&mut indexer, &first);
    let lister = indexer.lister();
    show("get", best(count, || get(&lister, &names)));
    show("get, shuffled", best(count, || get(&lister, &shuffled)));
    show("view", best(count, || view(&lister, &names)));
    show("view, shuffled", best(count, || view(&lister, &shuffled)));
    let nodes = count / OBJECTS_OF_A_NODE + 1;
    let nodes: Vec<_> = (0..nodes).map(|node| format!("node-{node}")).collect();
    let look_up = || {
        let found = nodes.iter().map(|it| lister.by_index(&by_node, it).len());
        assert_eq!(found.sum::<usize>(), count);
    };
    show("by index, one object", best(count, look_up));
    let snapshot = lister.snapshot();
    let walk = || {
        let unnamed = snapshot.iter().filter(|it| it.name.is_empty());
        assert_eq!(unnamed.count(), 0);
    };
    show("iterate, one object", best(count, walk));
    show(
        "list, one object",
        best(count, || drop(black_box(snapshot.list()))),
    );
    let selector: Selector = "app=backend-0".parse().expect("valid");
    let select = || assert!(!lister.select(&selector).is_empty());
    show("select, one object", best(count, select));
}

fn writes(
    count: usize,
    first: &[Arc<ObjectMeta>],
    second: &[Arc<ObjectMeta>],
    show: &dyn Fn(&str, f64),
) {
    let replaced = best(count, || replace(&mut empty().0, first));
    show("replace all, one object", replaced);
    show("add", best(count, || put(&mut empty().0, first)));
    let (mut indexer, _) = empty();
    replace(&mut indexer, first);
    let unchanged = best(count, || replace(&mut indexer, first));
    show("replace, unchanged", unchanged);
    put(&mut indexer, first);
    let both = best(2 * count, || {
        put(&mut indexer, second);
        put(&mut indexer, first);
    });
    show("update", both);
    let kept = timed(1, || {
        let snapshot = indexer.lister().snapshot();
        put(&mut indexer, &second[..1]);
        drop(snapshot);
        put(&mut indexer, &first[..1]);
    });
    show("two updates beside a snapshot", kept);
    let bytes = |fill: fn(&mut Indexer<ObjectMeta>, &[Arc<ObjectMeta>])| {
        let mut kept = None;
        let info = measure(|| {
            let (mut indexer, _) = empty();
            fill(&mut indexer, first);
            kept = Some(indexer);
        });
        drop(kept);
        #[expect(clippy::cast_precision_loss, reason = "a figure to be read by people")]
        let bytes = info.bytes_current as f64 / count as f64;
        bytes
    };
    show("bytes, replaced", bytes(replace));
    show("bytes, added one by one", bytes(put));
    show(
        "bytes, replaced and updated",
        bytes(|indexer, objects| {
            replace(indexer, objects);
            put(indexer, objects);
        }),
    );
}
