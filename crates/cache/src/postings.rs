//! `Postings`: the contents of an index: for each value, the numbers of the objects that have it.
//!
//! Values without objects are not kept. A clone shares what does not change.

use crate::hash_index::HashIndex;
use crate::name_text::NameHasher;
use crate::number_set::NumberSet;
use crate::paged::{Paged, Pages};
use kubist_apimachinery::Str;

/// The number of postings in a page.
const PAGE: usize = 16;

/// The objects with one index value, by their numbers in the store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Posting {
    pub(crate) value: Str,
    pub(crate) numbers: NumberSet,
}

/// The postings of an index that are still to be freed.
pub(crate) type PostingPages = Pages<Posting, PAGE>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    hasher: NameHasher,
    index: HashIndex,
    /// The first `len` are in use.
    places: Paged<Posting, PAGE>,
    len: u32,
}

impl Postings {
    /// Iterates over the values and their objects.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Posting> {
        self.places.iter().take(self.len as usize)
    }

    pub(crate) fn get(&self, value: &str) -> Option<&Posting> {
        self.at(self.place_of(value)?)
    }

    /// Returns the place of a value that has objects.
    pub(crate) fn place_of(&self, value: &str) -> Option<u32> {
        self.index.find(self.hasher.value(value), |place| {
            self.at(place).is_some_and(|it| it.value == *value)
        })
    }

    fn at(&self, place: u32) -> Option<&Posting> {
        self.places.get(place as usize)
    }

    /// Returns the place that the next new value gets.
    pub(crate) fn next_place(&self) -> u32 {
        self.len
    }

    /// Adds a value, which must have objects before the next step of another value.
    pub(crate) fn open(&mut self, value: Str) {
        self.index.insert(self.hasher.value(&value), self.len);
        self.places.get_mut(self.len as usize).value = value;
        self.len += 1;
    }

    /// Adds an object to the value at a place.
    pub(crate) fn file(&mut self, place: u32, number: u32) {
        self.places.get_mut(place as usize).numbers.insert(number);
    }

    /// Removes an object from the value at a place. If it was the last, the value is removed, and
    /// the last value takes its place.
    pub(crate) fn unfile(&mut self, place: u32, number: u32) {
        let posting = self.places.get_mut(place as usize);
        posting.numbers.remove(number);
        if posting.numbers.len() > 0 {
            return;
        }
        let hash = self.hasher.value(&posting.value);
        self.index.remove(hash, place);
        self.len -= 1;
        let last = std::mem::take(self.places.get_mut(self.len as usize));
        if place != self.len {
            let hash = self.hasher.value(&last.value);
            self.index.remove(hash, self.len);
            self.index.insert(hash, place);
            *self.places.get_mut(place as usize) = last;
        }
    }

    pub(crate) fn into_pages(self) -> PostingPages {
        self.places.into_pages()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn they_are_a_map_of_sets_and_clones_do_not_change(
            steps in prop::collection::vec((0u8..60, 0u32..8, any::<bool>()), 0..400),
        ) {
            let (mut postings, mut model) = (Postings::default(), BTreeMap::new());
            let mut kept = Vec::new();
            for (round, (value, number, add)) in steps.into_iter().enumerate() {
                if round % 100 == 99 {
                    kept.push((postings.clone(), model.clone()));
                }
                let value = Str::from(value.to_string());
                let place = postings.place_of(&value);
                prop_assert_eq!(place.is_some(), model.contains_key(&value));
                if add {
                    let place = place.unwrap_or_else(|| {
                        postings.open(value.clone());
                        postings.next_place() - 1
                    });
                    postings.file(place, number);
                    model.entry(value).or_insert_with(BTreeSet::new).insert(number);
                } else if let Some(place) = place {
                    postings.unfile(place, number);
                    let set = model.entry(value.clone()).or_default();
                    set.remove(&number);
                    if set.is_empty() {
                        model.remove(&value);
                    }
                }
            }
            kept.push((postings, model));
            for (postings, model) in kept {
                let values: BTreeSet<_> = postings.iter().map(|it| it.value.clone()).collect();
                prop_assert!(values.iter().eq(model.keys()));
                for (value, set) in model {
                    let found = postings.get(&value).expect("it has objects");
                    prop_assert!(found.numbers.iter().eq(set));
                }
            }
        }
    }
}
