//! The table against a map, with clones that must not change.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #[test]
    fn it_is_a_map_and_clones_do_not_change(
        steps in prop::collection::vec((0u32..1500, 0u8..8), 0..3000),
        mask in prop_oneof![Just(u32::MAX), Just(0xf000_0003), Just(0)],
    ) {
        let hash = |number: u32| number.wrapping_mul(0x9e37_79b9) & mask;
        let mut index = HashIndex::default();
        let mut model = BTreeSet::new();
        let mut kept = Vec::new();
        for (round, (number, action)) in steps.into_iter().enumerate() {
            if round % 700 == 699 {
                kept.push((index.clone(), model.clone()));
            }
            let found = index.find(hash(number), |it| it == number);
            prop_assert_eq!(found.is_some(), model.contains(&number));
            if action < 5 && found.is_none() {
                index.insert(hash(number), number);
                model.insert(number);
            } else if action >= 5 {
                index.remove(hash(number), number);
                model.remove(&number);
            }
        }
        kept.push((index, model));
        for (index, model) in kept {
            for number in 0..1500 {
                let found = index.find(hash(number), |it| it == number);
                prop_assert_eq!(found.is_some(), model.contains(&number));
            }
            let lens: usize = index.segments.iter().map(|it| usize::from(it.len)).sum();
            prop_assert_eq!(lens + index.listed.len(), model.len());
        }
    }
}

#[test]
fn segments_are_split_evenly() {
    let mut index = HashIndex::default();
    for number in 0..100_000u32 {
        index.insert(number.wrapping_mul(0x9e37_79b9), number);
    }
    assert!(index.segments.len() < 1000, "{}", index.segments.len());
    assert!(index.listed.is_empty());
}

#[test]
fn equal_hashes_are_found_and_do_not_grow_the_directory() {
    let mut index = HashIndex::default();
    (0..2000).for_each(|number| index.insert(7, number));
    assert!(index.directory.len() <= 2 * SPREAD_MAX * index.segments.len());
    assert!(index.segments.len() <= DEPTH_MAX as usize + 1);
    for number in 0..2000 {
        assert_eq!(index.find(7, |it| it == number), Some(number));
    }
    assert_eq!(index.find(7, |it| it == 2000), None);
}
