//! Names with equal hashes, which are frequent in unit tests (`name_key`).

use super::Indexer;
use crate::{Index, IndexHandle, KeyRange, Replacement, ResourceEvent};
use kubist_apimachinery::{ObjectMeta, ObjectName, Selector};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn made(name: u8, app: u8, tier: u8) -> Arc<ObjectMeta> {
    Arc::new(ObjectMeta {
        name: name.to_string().into(),
        labels: [("app", app), ("tier", tier)]
            .map(|(key, value)| (key.into(), value.to_string().into()))
            .into(),
        ..ObjectMeta::default()
    })
}

proptest! {
    #[test]
    fn objects_of_one_hash_are_distinguished_in_every_index(
        steps in prop::collection::vec((0u8..60, 0u8..3, 0u8..3, 0u8..16), 0..200),
    ) {
        let mut indexer = Indexer::new();
        let by_app = indexer.add_index(Index::label("app"));
        let by_tier = indexer.add_index(Index::label("tier"));
        let mut model = BTreeMap::new();
        for (name, app, tier, action) in steps {
            match action {
                0..10 => {
                    indexer.upsert(made(name, app, tier));
                    model.insert(name, (app, tier));
                }
                10..14 => {
                    let key = ObjectName::cluster(name.to_string());
                    prop_assert_eq!(indexer.remove(&key).is_some(), model.remove(&name).is_some());
                }
                14 => indexer.publish(),
                _ => {
                    model.retain(|it, _| it % 2 == name % 2);
                    let objects = model.iter().map(|(name, it)| made(*name, it.0, it.1));
                    let list = Replacement {
                        resource_version: "1".into(),
                        objects: objects.collect(),
                        unreadable: Vec::new(),
                    };
                    indexer.replace(list, &mut Vec::new());
                }
            }
            let snapshot = indexer.snapshot();
            prop_assert_eq!(snapshot.len(), model.len());
            for value in 0..3u8 {
                let text = value.to_string();
                let with = |is: &dyn Fn(&(u8, u8)) -> bool| {
                    model.values().filter(|it| is(it)).count()
                };
                let found = snapshot.by_index(&by_app, &text).len();
                prop_assert_eq!(found, with(&|it| it.0 == value));
                let both = snapshot.by_indexes(&[(&by_app, &text), (&by_tier, "1")]).len();
                prop_assert_eq!(both, with(&|it| *it == (value, 1)));
                let selector = format!("app in (0,{value}),tier=2");
                let selector: Selector = selector.parse().expect("valid");
                let selected = snapshot.select(None, &selector).len();
                prop_assert_eq!(selected, with(&|it| (it.0 == 0 || it.0 == value) && it.1 == 2));
            }
        }
    }
}

/// An indexer with an order, indexes, a budget and unreadable names.
fn indexer(max: Option<u64>) -> (Indexer<ObjectMeta>, IndexHandle<ObjectMeta>) {
    let mut indexer = Indexer::new();
    indexer.keep_order();
    let by_app = indexer.add_index(Index::label("app"));
    if let Some(max) = max {
        indexer.set_refusing_budget(max, |_| 1);
    }
    (indexer, by_app)
}

fn shown((indexer, by_app): &(Indexer<ObjectMeta>, IndexHandle<ObjectMeta>)) -> String {
    let snapshot = indexer.snapshot();
    let range = KeyRange::default();
    let all = snapshot
        .range(&range)
        .map(|it| (&it.name, &it.labels, &it.resource_version));
    let all: Vec<_> = all.collect();
    let app: Vec<_> = (0..3)
        .map(|app| {
            let found = snapshot.by_index(by_app, &app.to_string());
            let mut names: Vec<_> = found.iter().map(|it| it.name.clone()).collect();
            names.sort();
            names
        })
        .collect();
    format!(
        "{all:?} {app:?} {:?} {}",
        snapshot.unreadable().collect::<Vec<_>>(),
        snapshot.resource_version()
    )
}

proptest! {
    #[test]
    fn a_list_in_pieces_does_what_a_list_does_at_once_and_is_seen_only_when_it_is_whole(
        lists in prop::collection::vec(
            (prop::collection::vec((0u8..40, 0u8..3, 1u8..4), 0..60), prop::collection::vec(0u8..40, 0..4)),
            1..4,
        ),
        pieces in 1usize..50,
        max in prop::option::of(0u64..40),
    ) {
        let (mut whole, mut some) = (indexer(max), indexer(max));
        let lister = some.0.lister();
        for (round, (objects, unreadable)) in lists.into_iter().enumerate() {
            let list = || Replacement {
                resource_version: (round + 1).to_string().into(),
                objects: objects.iter().map(|(name, app, version)| {
                    let mut object = (*made(*name, *app, 0)).clone();
                    object.resource_version = version.to_string().into();
                    Arc::new(object)
                }).collect(),
                unreadable: unreadable.iter().map(|it| ObjectName::cluster(it.to_string())).collect(),
            };
            let (mut observed, mut events_by_step) = (Vec::new(), Vec::new());
            whole.0.replace(list(), &mut observed);
            let mut replacing = some.0.begin_replace(list());
            let before = lister.len();
            while !some.0.replace_step(&mut replacing, pieces, &mut events_by_step) {
                prop_assert_eq!(lister.len(), before);
            }
            some.0.publish_first();
            prop_assert_eq!(lister.len(), some.0.len());
            while !some.0.release(pieces) {}
            prop_assert_eq!(shown(&whole), shown(&some));
            prop_assert_eq!(format!("{observed:?}"), format!("{events_by_step:?}"));
            whole.0.publish();
        }
    }
}

proptest! {
    #[test]
    fn a_list_says_what_differs_from_before_however_often_it_has_a_name(
        first in prop::collection::vec((0u8..12, 1u8..4), 0..12),
        second in prop::collection::vec((0u8..12, 1u8..4), 0..40),
    ) {
        // Some names are too long for a text of their own.
        let object = |(name, version): &(u8, u8)| {
            let mut object = (*made(*name, name % 2 + version % 2, 0)).clone();
            object.name = format!("{name}{}", "x".repeat(usize::from(name % 3) * 30)).into();
            object.resource_version = version.to_string().into();
            Arc::new(object)
        };
        let (mut indexer, by_app) = indexer(None);
        let mut all = [BTreeMap::new(), BTreeMap::new()];
        let mut told = Vec::new();
        for (list, all) in [first, second].iter().zip(&mut all) {
            let objects: Vec<_> = list.iter().map(object).collect();
            all.extend(objects.iter().map(|it| (it.name.clone(), Arc::clone(it))));
            let list = Replacement {
                resource_version: "1".into(),
                objects,
                unreadable: Vec::new(),
            };
            told.clear();
            indexer.replace(list, &mut told);
            indexer.publish();
        }
        let [before, mut after] = all;
        let mut expected = Vec::new();
        for (name, old) in &before {
            match after.get_mut(name) {
                None => expected.push(format!("{name} deleted")),
                Some(new) if new.resource_version == old.resource_version => *new = Arc::clone(old),
                Some(new) => expected.push(format!(
                    "{name} {} {}",
                    old.resource_version, new.resource_version
                )),
            }
        }
        let added = after.iter().filter(|(name, _)| !before.contains_key(*name));
        expected.extend(added.map(|(name, new)| format!("{name} added {}", new.resource_version)));
        let mut observed: Vec<_> = told.iter().map(|event| match event {
            ResourceEvent::Added { object, .. } => {
                format!("{} added {}", object.name, object.resource_version)
            }
            ResourceEvent::Updated { old, new } => {
                format!("{} {} {}", new.name, old.resource_version, new.resource_version)
            }
            other => format!("{} deleted", other.object_name().name),
        }).collect();
        expected.sort();
        observed.sort();
        prop_assert_eq!(observed, expected);
        let snapshot = indexer.lister().snapshot();
        prop_assert_eq!(snapshot.len(), after.len());
        for (name, object) in &after {
            let held = snapshot.find("", name).expect("it is listed");
            prop_assert!(Arc::ptr_eq(&held, object));
            let app = object.labels.get("app").expect("it has one");
            let group = snapshot.by_index(&by_app, app);
            prop_assert!(group.iter().any(|it| Arc::ptr_eq(it, object)));
        }
        let grouped = (0..3).map(|app| snapshot.by_index(&by_app, &app.to_string()).len());
        prop_assert_eq!(grouped.sum::<usize>(), after.len());
    }
}
