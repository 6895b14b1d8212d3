//! A trie against a map, with clones that must not change.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A hash with many equals, so that leaves, splits and merges all happen.
fn hash(key: u16) -> u64 {
    u64::from(key % 61) | u64::from(key % 7) << 60
}

fn contents(trie: &Trie<(u16, u32)>) -> BTreeMap<u16, u32> {
    assert_eq!(trie.iter().len(), trie.len());
    trie.iter().copied().collect()
}

proptest! {
    #[test]
    fn it_is_a_map_and_clones_do_not_change(
        steps in prop::collection::vec((0u16..400, any::<u32>(), 0u8..8), 0..600),
    ) {
        let mut trie = Trie::default();
        let mut model = BTreeMap::new();
        let mut kept = Vec::new();
        for (key, value, action) in steps {
            let same = |it: &(u16, u32)| it.0 == key;
            match action {
                0..4 => {
                    let old = trie.insert(hash(key), (key, value), same);
                    prop_assert_eq!(old.map(|it| it.1), model.insert(key, value));
                }
                4..6 => {
                    let old = trie.remove(hash(key), same);
                    prop_assert_eq!(old.map(|it| it.1), model.remove(&key));
                }
                6 => {
                    let found = trie.get_mut(hash(key), same);
                    prop_assert_eq!(found.is_some(), model.contains_key(&key));
                    if let Some(found) = found {
                        found.1 = value;
                        model.insert(key, value);
                    }
                }
                _ => kept.push((trie.clone(), model.clone())),
            }
            let all = trie.with_hash(hash(key)).filter(|it| same(it));
            prop_assert!(all.eq(trie.get(hash(key), same)));
            prop_assert_eq!(trie.get(hash(key), same).map(|it| it.1), model.get(&key).copied());
        }
        kept.push((trie, model));
        for (trie, model) in kept {
            prop_assert_eq!(contents(&trie), model);
        }
    }
}
