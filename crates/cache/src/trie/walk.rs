//! `Walk`: an iteration over the entries of a trie that can be interrupted for any time.
//!
//! It owns only the entries that are still ahead: unshared nodes are freed as it passes them, so
//! that walking to the end also frees a large trie in steps.

use super::{LEAF_MAX, Link, Slot, Trie};
use std::sync::Arc;

/// The rest of a [`Trie`].
#[derive(Debug)]
pub(crate) struct Walk<E> {
    links: Vec<Link<E>>,
    /// The current leaf and the position of the next slot.
    leaf: Option<(Arc<[Slot<E>]>, usize)>,
}

impl<E> Trie<E> {
    /// Starts a walk over all entries.
    pub(crate) fn into_walk(self) -> Walk<E> {
        Walk {
            links: vec![self.root],
            leaf: None,
        }
    }
}

impl<E> Walk<E> {
    /// Returns the next leaf, dissolving the branches above it.
    fn next_leaf(&mut self) -> Option<Arc<[Slot<E>]>> {
        loop {
            match self.links.pop()? {
                Link::Empty => {}
                Link::Leaf(leaf) => return Some(leaf),
                Link::Branch(branch) => match Arc::try_unwrap(branch) {
                    Ok(branch) => self.links.extend(branch.links),
                    Err(shared) => self.links.extend(shared.links.iter().cloned()),
                },
            }
        }
    }

    /// Frees about this many entries that are not shared; returns true once nothing is left.
    pub(crate) fn release(&mut self, entries: usize) -> bool {
        self.leaf = None;
        let mut freed = 0;
        while freed < entries {
            let Some(link) = self.links.pop() else {
                return true;
            };
            // Dropping a leaf and dissolving a branch cost about as much as a leaf's entries.
            freed += LEAF_MAX;
            if let Link::Branch(branch) = link
                && let Some(branch) = Arc::into_inner(branch)
            {
                self.links.extend(branch.links);
            }
        }
        self.links.is_empty()
    }
}

impl<E: Clone> Iterator for Walk<E> {
    type Item = E;

    fn next(&mut self) -> Option<E> {
        loop {
            if let Some((leaf, position)) = &mut self.leaf
                && let Some(slot) = leaf.get(*position)
            {
                *position += 1;
                return Some(slot.entry.clone());
            }
            self.leaf = Some((self.next_leaf()?, 0));
        }
    }
}
