//! Every way to write to an indexer and to read from it, against a sorted map.

use crate::object;
use kubist_apimachinery::{ObjectMeta, ObjectName, Selector};
use kubist_cache::{Index, IndexHandle, Indexer, KeyRange, Replacement, Snapshot, StoreWrite};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

type Model = BTreeMap<ObjectName, Arc<ObjectMeta>>;

#[derive(Clone, Debug)]
enum Step {
    Upsert(u8, u8),
    Delete(u8),
    Remove(u8),
    /// `None`: a write without a name.
    Transact(Vec<Option<(u8, u8)>>),
    Replace(Vec<(u8, u8)>),
    Bookmark,
    LateIndex,
    KeepOrder,
    Publish,
    /// A reader takes and holds a snapshot.
    Hold,
    Release,
}

fn step() -> impl Strategy<Value = Step> {
    let one = || (0u8..40, 0u8..16);
    let writes = prop::collection::vec(prop::option::weighted(0.8, one()), 0..6);
    let list = prop::collection::btree_map(0u8..40, 0u8..16, 0..40);
    prop_oneof![
        12 => one().prop_map(|(name, words)| Step::Upsert(name, words)),
        4 => (0u8..40).prop_map(Step::Delete),
        2 => (0u8..40).prop_map(Step::Remove),
        2 => writes.prop_map(Step::Transact),
        1 => list.prop_map(|list| Step::Replace(list.into_iter().collect())),
        1 => Just(Step::Bookmark),
        1 => Just(Step::LateIndex),
        1 => Just(Step::KeepOrder),
        8 => Just(Step::Publish),
        2 => Just(Step::Hold),
        2 => Just(Step::Release),
    ]
}

fn key(name: u8) -> ObjectName {
    ObjectName::new(format!("ns{}", name % 3), format!("{name:02}"))
}

/// `words` is a set of four words, as bits; the object's one label value is their number.
fn made(name: u8, words: u8, version: u64) -> Arc<ObjectMeta> {
    let count = words.count_ones();
    let mut made = (*object(&format!("{}@{version} count={count}", key(name)))).clone();
    made.finalizers = WORDS
        .iter()
        .enumerate()
        .filter(|(bit, _)| words & (1 << bit) != 0)
        .map(|(_, word)| (*word).into())
        .collect();
    Arc::new(made)
}

const WORDS: [&str; 4] = ["p", "q", "r", "s"];

fn words() -> Index<ObjectMeta> {
    Index::new("words", |meta: &ObjectMeta, values| {
        for word in &meta.finalizers {
            values.push(word);
        }
    })
}

struct World {
    indexer: Indexer<ObjectMeta>,
    model: Model,
    version: u64,
    words: IndexHandle<ObjectMeta>,
    count: IndexHandle<ObjectMeta>,
    /// The published state.
    seen: Model,
    held: Vec<(Snapshot<ObjectMeta>, Model)>,
}

impl World {
    fn new() -> Self {
        let mut indexer = Indexer::new();
        let words = indexer.add_index(words());
        indexer.publish();
        Self {
            indexer,
            model: Model::new(),
            version: 0,
            words,
            count: IndexHandle::new(Index::label("count")),
            seen: Model::new(),
            held: Vec::new(),
        }
    }

    fn take(&mut self, step: Step) {
        self.version += 1;
        let version = self.version;
        match step {
            Step::Upsert(name, words) => {
                let old = self.indexer.upsert(made(name, words, version));
                assert_eq!(
                    old,
                    self.model.insert(key(name), made(name, words, version))
                );
            }
            Step::Delete(name) => {
                let old = self.indexer.delete(&made(name, 0, version));
                assert_eq!(old, self.model.remove(&key(name)));
            }
            Step::Remove(name) => {
                let old = self.indexer.remove(&key(name));
                assert_eq!(old, self.model.remove(&key(name)));
            }
            Step::Transact(writes) => self.transact(&writes),
            Step::Replace(list) => {
                let objects: Vec<_> = list
                    .iter()
                    .map(|&(name, words)| made(name, words, version))
                    .collect();
                self.model = list
                    .iter()
                    .map(|it| key(it.0))
                    .zip(objects.clone())
                    .collect();
                let resource_version = version.into();
                let unreadable = Vec::new();
                let all = Replacement {
                    resource_version,
                    objects,
                    unreadable,
                };
                self.indexer.replace(all, &mut Vec::new());
            }
            Step::Bookmark => self.indexer.bookmark(version.into()),
            Step::LateIndex => {
                self.indexer.build_index(&self.count);
                drop(self.indexer.try_add_index(Index::namespace()));
            }
            Step::KeepOrder => self.indexer.keep_order(),
            Step::Publish => {
                self.indexer.publish();
                self.seen.clone_from(&self.model);
            }
            Step::Hold => self
                .held
                .push((self.indexer.lister().snapshot(), self.seen.clone())),
            Step::Release => drop(self.held.pop()),
        }
    }

    fn transact(&mut self, writes: &[Option<(u8, u8)>]) {
        let made_of = |write: &Option<(u8, u8)>| match *write {
            Some((name, words)) => StoreWrite::Upsert(made(name, words, self.version)),
            None => StoreWrite::Remove(ObjectName::default()),
        };
        let result = self.indexer.transact(writes.iter().map(made_of));
        let failed = writes.iter().filter(|it| it.is_none()).count();
        assert_eq!(result.err().map_or(0, |error| error.failed.len()), failed);
        for (name, words) in writes.iter().flatten() {
            self.model
                .insert(key(*name), made(*name, *words, self.version));
        }
    }

    fn check(&self, snapshot: &Snapshot<ObjectMeta>, model: &Model) {
        let found: Model = snapshot
            .iter()
            .map(|it| (ObjectName::new(&*it.namespace, &*it.name), Arc::clone(it)))
            .collect();
        assert_eq!(&found, model);
        assert_eq!(snapshot.len(), model.len());
        let names: BTreeSet<_> = snapshot.names().into_iter().collect();
        assert!(names.iter().eq(model.keys()));
        let filed = |word: &str| {
            let has = |it: &&Arc<ObjectMeta>| it.finalizers.iter().any(|it| *it == *word);
            model.values().filter(has).cloned().collect::<Vec<_>>()
        };
        let sorted = |mut objects: Vec<Arc<ObjectMeta>>| {
            objects.sort_by_key(|it| (it.namespace.clone(), it.name.clone()));
            objects
        };
        for word in WORDS {
            assert_eq!(sorted(snapshot.by_index(&self.words, word)), filed(word));
            let keys: Vec<_> = filed(word)
                .iter()
                .map(|it| ObjectName::new(&*it.namespace, &*it.name))
                .collect();
            assert_eq!(snapshot.index_keys(&self.words, word), keys);
            let mut both = filed(word);
            both.retain(|it| it.labels["count"] == *"2");
            let groups = [(&self.words, word), (&self.count, "2")];
            assert_eq!(sorted(snapshot.by_indexes(&groups)), both);
        }
        let values: BTreeSet<_> = model
            .values()
            .flat_map(|it| it.finalizers.clone())
            .collect();
        assert!(snapshot.index_values(&self.words).iter().eq(&values));
        let like = made(0, 0b11, 0);
        let mut either = filed("p");
        either.extend(filed("q"));
        let mut either = sorted(either);
        either.dedup();
        assert_eq!(
            snapshot
                .index(&self.words, &like)
                .expect("it does not fail"),
            either
        );
        check_selectors(snapshot, model);
        check_ranges(snapshot, model);
    }
}

fn check_selectors(snapshot: &Snapshot<ObjectMeta>, model: &Model) {
    for text in [
        "count=2",
        "count in (1,3,3)",
        "count",
        "!count",
        "count notin (0,1)",
        "",
    ] {
        let selector: Selector = text.parse().expect("valid");
        for namespace in [None, Some("ns1")] {
            let expected = model.values().filter(|it| {
                namespace.is_none_or(|namespace| it.namespace == *namespace)
                    && selector.matches_labels(&it.labels)
            });
            let expected = expected.count();
            assert_eq!(
                snapshot.select(namespace, &selector).len(),
                expected,
                "{text}"
            );
        }
    }
}

fn check_ranges(snapshot: &Snapshot<ObjectMeta>, model: &Model) {
    assert!(snapshot.range(&KeyRange::default()).eq(model.values()));
    let range = KeyRange::in_namespace("ns1").with_prefix("1");
    let expected = model
        .iter()
        .filter(|(name, _)| name.namespace == *"ns1" && name.name.starts_with('1'));
    assert!(snapshot.range(&range).eq(expected.map(|it| it.1)));
    let (mut range, mut paged) = (KeyRange::default(), Vec::new());
    loop {
        let page = snapshot.page(&range, 7);
        paged.extend(page.objects);
        let Some(next) = page.next else { break };
        range = range.after(next);
    }
    assert!(paged.iter().eq(model.values()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Contract CACHE-6.
    #[test]
    fn an_indexer_is_a_map_whatever_is_written_and_read(
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut world = World::new();
        for step in steps {
            world.take(step);
            world.check(&world.indexer.snapshot(), &world.model);
            world.check(&world.indexer.lister().snapshot(), &world.seen);
        }
        for (snapshot, model) in &world.held {
            world.check(snapshot, model);
        }
    }
}
