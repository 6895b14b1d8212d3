//! Names whose hashes are equal: in unit tests they often are (`name_key`).

use std::collections::BTreeMap;
use std::sync::Arc;

use kubist_apimachinery::{ObjectMeta, ObjectName, Selector};
use proptest::prelude::*;

use super::Indexer;
use crate::{Index, Replacement};

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
    fn objects_of_one_hash_are_told_apart_in_every_index(
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
