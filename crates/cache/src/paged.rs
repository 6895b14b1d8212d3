//! `Paged`: a persistent vector, which makes snapshots cheap.
//!
//! Its elements are in pages, and the pages in groups. A clone counts a reference for each group;
//! a change copies the page and the group that a clone still shares, and modifies others in place.
//! Places that were never written have the default value.

use std::sync::Arc;

/// The number of pages in a group.
const GROUP: usize = 64;

type Page<T, const N: usize> = Option<Arc<[T; N]>>;

/// Elements in pages of `N`, a power of two.
#[derive(Debug)]
pub(crate) struct Paged<T, const N: usize> {
    groups: Vec<Arc<[Page<T, N>; GROUP]>>,
}

/// The pages of a [`Paged`] that are still to be freed.
#[derive(Debug)]
pub(crate) struct Pages<T, const N: usize> {
    rest: Paged<T, N>,
    open: Vec<Page<T, N>>,
}

impl<T, const N: usize> Clone for Paged<T, N> {
    fn clone(&self) -> Self {
        Self {
            groups: self.groups.clone(),
        }
    }
}

impl<T, const N: usize> Default for Paged<T, N> {
    fn default() -> Self {
        Self { groups: Vec::new() }
    }
}

impl<T, const N: usize> Paged<T, N> {
    #[inline]
    pub(crate) fn page(&self, page: usize) -> Option<&[T; N]> {
        self.groups.get(page / GROUP)?[page % GROUP].as_deref()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        Some(&self.page(at / N)?[at % N])
    }

    /// Returns the number of pages, of which some may not exist.
    pub(crate) fn pages(&self) -> usize {
        self.groups.len() * GROUP
    }

    /// Iterates over the elements of all pages.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let pages = self.groups.iter().flat_map(|group| group.iter());
        pages.flatten().flat_map(|page| page.iter())
    }

    pub(crate) fn into_pages(self) -> Pages<T, N> {
        Pages {
            rest: self,
            open: Vec::new(),
        }
    }
}

impl<T: Clone + Default, const N: usize> Paged<T, N> {
    pub(crate) fn page_mut(&mut self, page: usize) -> &mut [T; N] {
        while self.groups.len() <= page / GROUP {
            self.groups.push(Arc::new([const { None }; GROUP]));
        }
        let group = Arc::make_mut(&mut self.groups[page / GROUP]);
        let page = group[page % GROUP]
            .get_or_insert_with(|| Arc::new(std::array::from_fn(|_| T::default())));
        Arc::make_mut(page)
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> &mut T {
        &mut self.page_mut(at / N)[at % N]
    }
}

impl<T, const N: usize> Pages<T, N> {
    /// Frees about this many elements that are not shared; returns true once nothing is left.
    pub(crate) fn release(&mut self, elements: usize) -> bool {
        let mut freed = 0;
        while freed < elements {
            if let Some(page) = self.open.pop() {
                freed += N * usize::from(page.is_some());
            } else if let Some(group) = self.rest.groups.pop() {
                freed += 1;
                self.open
                    .extend(Arc::into_inner(group).into_iter().flatten());
            } else {
                return true;
            }
        }
        self.open.is_empty() && self.rest.groups.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_vector_and_clones_do_not_change(
            steps in prop::collection::vec((0usize..2000, any::<u32>(), 0u8..8), 0..200),
        ) {
            let mut paged = Paged::<u32, 8>::default();
            let mut model = vec![0; 2000];
            let mut kept = Vec::new();
            for (at, value, action) in steps {
                if action == 0 {
                    kept.push((paged.clone(), model.clone()));
                }
                *paged.get_mut(at) = value;
                model[at] = value;
            }
            kept.push((paged, model));
            for (paged, model) in kept {
                for (at, value) in model.iter().enumerate() {
                    prop_assert_eq!(paged.get(at).copied().unwrap_or_default(), *value);
                }
                let sum = |all: &mut dyn Iterator<Item = &u32>| all.map(|it| u64::from(*it)).sum::<u64>();
                prop_assert_eq!(sum(&mut paged.iter()), sum(&mut model.iter()));
            }
        }
    }

    #[test]
    fn pages_are_freed_in_steps() {
        let all = Arc::new(());
        let mut paged = Paged::<Option<Arc<()>>, 16>::default();
        for at in 0..5_000 {
            *paged.get_mut(at) = Some(Arc::clone(&all));
        }
        let mut pages = paged.into_pages();
        let (mut left, mut rounds) = (5_000, 0);
        while !pages.release(64) {
            let now = Arc::strong_count(&all) - 1;
            assert!(left - now <= 64 + 16, "{left} to {now}");
            (left, rounds) = (now, rounds + 1);
        }
        assert_eq!(Arc::strong_count(&all), 1);
        assert!((70..100).contains(&rounds), "{rounds}");
    }
}
