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
        let place = self.place_of(self.hasher.value(value), value)?;
        self.places.get(place as usize)
    }

    fn place_of(&self, hash: u32, value: &str) -> Option<u32> {
        self.index.find(hash, |place| {
            let posting = self.places.get(place as usize);
            posting.is_some_and(|it| it.value == *value)
        })
    }

    pub(crate) fn file(&mut self, value: &Str, number: u32) {
        let hash = self.hasher.value(value);
        let place = self.place_of(hash, value).unwrap_or_else(|| {
            let place = self.len;
            self.index.insert(hash, place);
            self.places.get_mut(place as usize).value = value.clone();
            self.len += 1;
            place
        });
        let posting = self.places.get_mut(place as usize);
        posting.numbers.insert(number);
    }

    pub(crate) fn unfile(&mut self, value: &Str, number: u32) {
        let hash = self.hasher.value(value);
        let Some(place) = self.place_of(hash, value) else {
            return;
        };
        let posting = self.places.get_mut(place as usize);
        posting.numbers.remove(number);
        if posting.numbers.len() > 0 {
            return;
        }
        // The last one takes its place.
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
                if add {
                    postings.file(&value, number);
                    model.entry(value).or_insert_with(BTreeSet::new).insert(number);
                } else {
                    postings.unfile(&value, number);
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
