//! `Walk`: through the entries of a trie, with rests of any length in between.
//!
//! It owns what it has not seen yet, and no more: nodes that nobody shares are freed as it passes
//! them, so that walking to the end is also the way to give a large trie back in pieces.

use super::{LEAF_MAX, Link, Slot, Trie};
use std::sync::Arc;

/// What is left of a [`Trie`].
#[derive(Debug)]
pub(crate) struct Walk<E> {
    links: Vec<Link<E>>,
    /// With the position of the next slot.
    leaf: Option<(Arc<[Slot<E>]>, usize)>,
}

impl<E> Trie<E> {
    /// A walk through all entries.
    pub(crate) fn into_walk(self) -> Walk<E> {
        Walk {
            links: vec![self.root],
            leaf: None,
        }
    }
}

impl<E> Walk<E> {
    /// The next leaf; branches on the way to it are taken apart.
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

    /// Frees about so many entries that nobody else has; what others share is left to them. True
    /// once nothing is left.
    pub(crate) fn release(&mut self, entries: usize) -> bool {
        self.leaf = None;
        let mut freed = 0;
        while freed < entries {
            let Some(link) = self.links.pop() else {
                return true;
            };
            // A leaf that is dropped, or a branch that is taken apart, costs about as much.
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
