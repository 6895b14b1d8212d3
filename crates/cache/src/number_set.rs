//! `NumberSet`: a persistent set of numbers, in ascending order.
//!
//! The objects with one index value. There may be one for each object, or one with all of them, so
//! a few numbers are stored in place, more in an array, and many in arrays of limited length. A
//! clone shares the arrays.

use std::sync::Arc;

/// How many numbers are stored in place.
const FEW: usize = 5;
/// The maximum length of an array.
const CHUNK_MAX: usize = 1024;

#[derive(Clone, Debug)]
pub(crate) enum NumberSet {
    Few { len: u8, numbers: [u32; FEW] },
    One(Arc<Vec<u32>>),
    Many(Arc<Chunks>),
}

/// Sorted arrays, none of them empty, in order.
#[derive(Clone, Debug)]
pub(crate) struct Chunks {
    len: usize,
    chunks: Vec<Arc<Vec<u32>>>,
}

impl Default for NumberSet {
    fn default() -> Self {
        Self::Few {
            len: 0,
            numbers: [0; FEW],
        }
    }
}

impl NumberSet {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Few { len, .. } => usize::from(*len),
            Self::One(numbers) => numbers.len(),
            Self::Many(many) => many.len,
        }
    }

    /// Iterates over the arrays, of which the first may be empty.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &[u32]> {
        let (first, rest): (&[u32], &[Arc<Vec<u32>>]) = match self {
            Self::Few { len, numbers } => (&numbers[..usize::from(*len)], &[]),
            Self::One(numbers) => (numbers, &[]),
            Self::Many(many) => (&[], &many.chunks),
        };
        let rest = rest.iter().map(|chunk| chunk.as_slice());
        std::iter::once(first).chain(rest)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.chunks().flat_map(|chunk| chunk.iter().copied())
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        match self {
            Self::Few { len, numbers } => numbers[..usize::from(*len)].contains(&number),
            Self::One(numbers) => numbers.binary_search(&number).is_ok(),
            Self::Many(many) => {
                let chunk = &many.chunks[many.chunk_of(number)];
                chunk.binary_search(&number).is_ok()
            }
        }
    }

    pub(crate) fn insert(&mut self, number: u32) {
        match self {
            Self::Few { len, numbers } => {
                let end = usize::from(*len);
                let Err(place) = place_in(&numbers[..end], number) else {
                    return;
                };
                if end < FEW {
                    numbers.copy_within(place..end, place + 1);
                    numbers[place] = number;
                    *len += 1;
                } else {
                    let mut all = numbers.to_vec();
                    all.insert(place, number);
                    *self = Self::One(Arc::new(all));
                }
            }
            Self::One(numbers) => {
                let Err(place) = place_in(numbers, number) else {
                    return;
                };
                let numbers = Arc::make_mut(numbers);
                numbers.insert(place, number);
                if numbers.len() > CHUNK_MAX {
                    let (len, lower) = (numbers.len(), std::mem::take(numbers));
                    let chunks = vec![Arc::new(lower)];
                    let mut many = Chunks { len, chunks };
                    many.split(0);
                    *self = Self::Many(Arc::new(many));
                }
            }
            Self::Many(many) => {
                let at = many.chunk_of(number);
                if let Err(place) = place_in(&many.chunks[at], number) {
                    Arc::make_mut(many).insert(at, place, number);
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, number: u32) {
        if !self.contains(number) {
            return;
        }
        match self {
            Self::Few { len, numbers } => {
                let end = usize::from(*len);
                let place = numbers[..end].partition_point(|it| *it < number);
                numbers.copy_within(place + 1..end, place);
                *len -= 1;
            }
            Self::One(numbers) => {
                let numbers = Arc::make_mut(numbers);
                numbers.remove(numbers.partition_point(|it| *it < number));
                // Not yet at `FEW`: a set that shrinks and grows by one would be copied each time.
                if numbers.len() < FEW {
                    let mut few = Self::default();
                    for number in numbers.iter() {
                        few.insert(*number);
                    }
                    *self = few;
                }
            }
            Self::Many(many) => {
                let many = Arc::make_mut(many);
                many.remove(number);
                if let [last] = &mut *many.chunks {
                    *self = Self::One(std::mem::take(last));
                }
            }
        }
    }
}

/// Returns the position of a number, or as an error the one at which it belongs. In a store that
/// grows, new objects have the highest numbers, so the end is tried first.
fn place_in(numbers: &[u32], number: u32) -> Result<usize, usize> {
    match numbers.last() {
        Some(last) if *last < number => Err(numbers.len()),
        _ => numbers.binary_search(&number),
    }
}

impl Chunks {
    /// Returns the index of the chunk to which a number belongs.
    fn chunk_of(&self, number: u32) -> usize {
        let after = self.chunks.partition_point(|chunk| chunk[0] <= number);
        after.saturating_sub(1)
    }

    fn insert(&mut self, at: usize, place: usize, number: u32) {
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        chunk.insert(place, number);
        self.len += 1;
        if chunk.len() > CHUNK_MAX {
            self.split(at);
        }
    }

    /// Moves the upper numbers of a chunk to a new one: half of them, or only the last if the chunk
    /// is the last, because most sets grow at their ends.
    fn split(&mut self, at: usize) {
        let is_last = at + 1 == self.chunks.len();
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        let from = if is_last { CHUNK_MAX } else { CHUNK_MAX / 2 };
        let upper = chunk.split_off(from);
        self.chunks.insert(at + 1, Arc::new(upper));
    }

    fn remove(&mut self, number: u32) {
        let at = self.chunk_of(number);
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        chunk.remove(chunk.partition_point(|it| *it < number));
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_sorted_set_and_clones_do_not_change(
            first in 0u32..5000,
            steps in prop::collection::vec((0u32..5000, 1u32..600, any::<bool>()), 0..60),
        ) {
            let (mut set, mut model) = (NumberSet::default(), BTreeSet::new());
            for number in 0..first {
                set.insert(number);
                model.insert(number);
            }
            let mut kept = Vec::new();
            for (number, count, add) in steps {
                kept.push((set.clone(), model.clone()));
                for number in number..number + count {
                    if add {
                        set.insert(number);
                        model.insert(number);
                    } else {
                        set.remove(number);
                        model.remove(&number);
                    }
                    prop_assert_eq!(set.contains(number), add);
                }
            }
            kept.push((set, model));
            for (set, model) in kept {
                prop_assert_eq!(set.len(), model.len());
                prop_assert!(set.iter().eq(model.iter().copied()));
                prop_assert_eq!(set.contains(first), model.contains(&first));
            }
        }
    }

    #[test]
    fn it_shrinks_to_nothing() {
        let mut set = NumberSet::default();
        (0..5000).for_each(|number| set.insert(number));
        assert!(matches!(set, NumberSet::Many(_)));
        (0..5000).rev().for_each(|number| set.remove(number));
        assert!(matches!(set, NumberSet::Few { len: 0, .. }));
        assert_eq!(size_of::<NumberSet>(), 24);
    }
}
