//! The states that paged reads began on, so that later pages cost no more.
//!
//! This is only a cache: other states are reconstructed from history. Every state kept makes later
//! writes copy shared nodes and keeps old values in memory, so there are few.

use super::tree::Tree;
use crate::Revision;
use std::collections::VecDeque;

/// Maximum number of states.
const PAGED_MAX: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Paged {
    /// Newest last.
    states: VecDeque<(Revision, Tree)>,
}

impl Paged {
    pub(crate) fn get(&self, revision: Revision) -> Option<&Tree> {
        self.states
            .iter()
            .rev()
            .find(|(at, _)| *at == revision)
            .map(|(_, tree)| tree)
    }

    /// Adds a state. Returns the one that it displaces, to be dropped without a lock.
    pub(crate) fn keep(&mut self, revision: Revision, tree: Tree) -> Option<(Revision, Tree)> {
        if self.get(revision).is_some() {
            return None;
        }
        self.states.push_back((revision, tree));
        if self.states.len() > PAGED_MAX {
            self.states.pop_front()
        } else {
            None
        }
    }

    /// Removes and returns the states below `revision`.
    pub(crate) fn drop_before(&mut self, revision: Revision) -> VecDeque<(Revision, Tree)> {
        let (dropped, kept) = self
            .states
            .drain(..)
            .partition(|(at, _): &(Revision, Tree)| *at < revision);
        self.states = kept;
        dropped
    }
}
