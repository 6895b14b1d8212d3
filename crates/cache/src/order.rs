//! `Order`: the sorted names of a store, in a persistent structure.
//!
//! The names are in a sorted list of sorted chunks. Adding or removing a name rewrites one chunk;
//! an update of an object rewrites nothing. It holds names, not objects.

use kubist_apimachinery::ObjectName;
use std::ops::Bound;
use std::sync::Arc;

/// The number of names at which a chunk is split.
const CHUNK_MAX: usize = 128;

#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// No chunk is empty.
    chunks: Arc<Vec<Arc<Vec<ObjectName>>>>,
}

impl Order {
    pub(crate) fn of(mut names: Vec<ObjectName>) -> Self {
        names.sort_unstable();
        let chunks = names.chunks(CHUNK_MAX / 2 + CHUNK_MAX / 4);
        Self {
            chunks: Arc::new(chunks.map(|chunk| Arc::new(chunk.to_vec())).collect()),
        }
    }

    /// Returns the index of the chunk to which a name belongs.
    fn chunk_of(&self, name: &ObjectName) -> usize {
        let after = self.chunks.partition_point(|chunk| chunk[0] <= *name);
        after.saturating_sub(1)
    }

    pub(crate) fn insert(&mut self, name: ObjectName) {
        let at = self.chunk_of(&name);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(at) else {
            chunks.push(Arc::new(vec![name]));
            return;
        };
        let Err(place) = chunk.binary_search(&name) else {
            return;
        };
        let names = Arc::make_mut(chunk);
        names.insert(place, name);
        if names.len() > CHUNK_MAX {
            let upper = names.split_off(CHUNK_MAX / 2);
            chunks.insert(at + 1, Arc::new(upper));
        }
    }

    pub(crate) fn remove(&mut self, name: &ObjectName) {
        let at = self.chunk_of(name);
        let found = self.chunks.get(at).map(|chunk| chunk.binary_search(name));
        let Some(Ok(place)) = found else {
            return;
        };
        let chunks = Arc::make_mut(&mut self.chunks);
        if chunks[at].len() == 1 {
            chunks.remove(at);
        } else {
            Arc::make_mut(&mut chunks[at]).remove(place);
        }
    }

    /// Iterates over the names from a given one on.
    pub(crate) fn from<'a>(
        &'a self,
        start: Bound<&ObjectName>,
    ) -> impl Iterator<Item = &'a ObjectName> + use<'a> {
        let at = match start {
            Bound::Included(name) | Bound::Excluded(name) => self.chunk_of(name),
            Bound::Unbounded => 0,
        };
        let is_before = move |name: &ObjectName| match start {
            Bound::Included(start) => name < start,
            Bound::Excluded(start) => name <= start,
            Bound::Unbounded => false,
        };
        let skipped = self
            .chunks
            .get(at)
            .map_or(0, |chunk| chunk.partition_point(is_before));
        self.chunks[at.min(self.chunks.len())..]
            .iter()
            .flat_map(|chunk| chunk.iter())
            .skip(skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn name(number: u16) -> ObjectName {
        ObjectName::new(format!("ns{}", number % 7), format!("{number:04}"))
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_set_and_clones_do_not_change(
            first in prop::collection::btree_set(0u16..700, 0..500),
            steps in prop::collection::vec((0u16..700, any::<bool>()), 0..800),
            from in 0u16..700,
        ) {
            let mut model: BTreeSet<_> = first.into_iter().map(name).collect();
            let mut order = Order::of(model.iter().rev().cloned().collect());
            let (kept, kept_model) = (order.clone(), model.clone());
            for (number, add) in steps {
                if add {
                    order.insert(name(number));
                    model.insert(name(number));
                } else {
                    order.remove(&name(number));
                    model.remove(&name(number));
                }
            }
            let from = name(from);
            for start in [Bound::Unbounded, Bound::Included(&from), Bound::Excluded(&from)] {
                let expected = model.range((start, Bound::Unbounded));
                prop_assert!(order.from(start).eq(expected));
            }
            prop_assert!(kept.from(Bound::Unbounded).eq(&kept_model));
        }
    }
}
