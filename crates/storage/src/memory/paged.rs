//! The states that paged reads have begun on, so that their later pages cost no more.
//!
//! A cache only: what is not here is reconstructed from history. Each state kept makes later
//! writes copy the nodes that it shares with them, and keeps old values alive, so they are few.

use super::tree::Tree;
use crate::Revision;
use std::collections::VecDeque;

/// States kept.
const PAGED_MAX: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Paged {
    /// The newest last.
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

    /// Remembers a state. Returns one that has to go, to be dropped without a lock.
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

    /// Takes out the states below `revision`.
    pub(crate) fn drop_before(&mut self, revision: Revision) -> VecDeque<(Revision, Tree)> {
        let (dropped, kept) = self
            .states
            .drain(..)
            .partition(|(at, _): &(Revision, Tree)| *at < revision);
        self.states = kept;
        dropped
    }
}
