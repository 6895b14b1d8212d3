//! A trie against a map, with clones that must not change.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A hash with many collisions, so that leaves, splits and merges all occur.
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
        kept.push((trie.clone(), model.clone()));
        // The walk dissolves shared nodes.
        let walked: BTreeMap<_, _> = trie.clone().into_walk().collect();
        prop_assert_eq!(&walked, &model);
        let mut rest = trie.into_walk();
        rest.next();
        while !rest.release(20) {}
        prop_assert_eq!(rest.next(), None);
        for (trie, model) in kept {
            prop_assert_eq!(contents(&trie), model);
        }
    }
}

#[test]
fn a_walk_frees_unshared_nodes_in_steps() {
    let all = Arc::new(());
    let mut trie = Trie::default();
    for key in 0..1_000u16 {
        let hash = u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        trie.insert(hash, (key, Arc::clone(&all)), |it| it.0 == key);
    }
    let mut walk = trie.into_walk();
    let (mut left, mut rounds) = (1_000, 0);
    while !walk.release(64) {
        let now = Arc::strong_count(&all) - 1;
        assert!(left - now <= 64 + LEAF_MAX, "{left} to {now}");
        (left, rounds) = (now, rounds + 1);
    }
    assert_eq!(Arc::strong_count(&all), 1);
    assert!((16..200).contains(&rounds), "{rounds}");
}
