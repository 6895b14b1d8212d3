//! The indexer against a plain map.

use crate::object;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{Deleted, Delta, Index, Indexer, Replacement};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8),
    Delete(u8),
    Replace(Vec<(u8, u8)>),
}

fn step() -> impl Strategy<Value = Step> {
    let put = (0u8..40, 0u8..6).prop_map(|(name, app)| Step::Put(name, app));
    let list = prop::collection::btree_map(0u8..40, 0u8..6, 0..40);
    prop_oneof![
        6 => put,
        3 => (0u8..40).prop_map(Step::Delete),
        1 => list.prop_map(|list| Step::Replace(list.into_iter().collect())),
    ]
}

fn key(name: u8) -> ObjectName {
    ObjectName::new(format!("ns{}", name % 3), name.to_string())
}

fn made(name: u8, app: u8, version: u64) -> Arc<ObjectMeta> {
    object(&format!("{}@{version} app={app}", key(name)))
}

proptest! {
    #[test]
    fn objects_and_indexes_are_those_of_a_map(steps in prop::collection::vec(step(), 0..120)) {
        let mut indexer = Indexer::new();
        let by_app = indexer.add_index(Index::label("app"));
        let by_namespace = indexer.add_index(Index::namespace());
        let mut model: BTreeMap<ObjectName, Arc<ObjectMeta>> = BTreeMap::new();
        let mut observed: BTreeSet<ObjectName> = BTreeSet::new();
        let mut changes = Vec::new();
        for (version, step) in (1u64..).zip(steps) {
            match step {
                Step::Put(name, app) => {
                    model.insert(key(name), made(name, app, version));
                    indexer.apply(Delta::Updated(made(name, app, version)), &mut changes);
                }
                Step::Delete(name) => {
                    if let Some(object) = model.remove(&key(name)) {
                        indexer.apply(Delta::Deleted(Deleted::Known(object)), &mut changes);
                    }
                }
                Step::Replace(list) => {
                    let objects: Vec<_> =
                        list.iter().map(|&(name, app)| made(name, app, version)).collect();
                    model = objects
                        .iter()
                        .map(|it| (ObjectName::new(&*it.namespace, &*it.name), Arc::clone(it)))
                        .collect();
                    let resource_version = version.into();
                    let unreadable = Vec::new();
                    let all = Replacement { resource_version, objects, unreadable };
                    indexer.apply(Delta::ReplacedAll(all), &mut changes);
                }
            }
            for change in changes.drain(..) {
                match &change {
                    kubist_cache::ResourceEvent::Added { .. } => {
                        prop_assert!(observed.insert(change.object_name()));
                    }
                    kubist_cache::ResourceEvent::Deleted(_) => {
                        prop_assert!(observed.remove(&change.object_name()));
                    }
                    _ => prop_assert!(observed.contains(&change.object_name())),
                }
            }
            indexer.publish();
            let snapshot = indexer.lister().snapshot();
            let found: BTreeMap<_, _> = snapshot
                .iter()
                .map(|it| (ObjectName::new(&*it.namespace, &*it.name), Arc::clone(it)))
                .collect();
            prop_assert_eq!(&found, &model);
            prop_assert!(observed.iter().eq(model.keys()));
            for app in 0..6 {
                let app = app.to_string();
                let expected: Vec<_> = model
                    .iter()
                    .filter(|(_, it)| it.labels["app"] == app)
                    .map(|(key, _)| key.clone())
                    .collect();
                prop_assert_eq!(snapshot.index_keys(&by_app, &app), expected);
            }
            for namespace in ["ns0", "ns1", "ns2"] {
                let expected = model.keys().filter(|key| key.namespace == *namespace).count();
                prop_assert_eq!(snapshot.by_index(&by_namespace, namespace).len(), expected);
            }
        }
    }
}
