//! `View`: the store at one revision.
//!
//! It is a tree and the events to undo to get from the tree's revision to the requested one. It
//! holds no lock and is not affected by later writes and compactions.

use super::tree::Tree;
use crate::{Event, KeyRange, KeyValue};
use bytes::Bytes;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct View {
    tree: Tree,
    /// The tree's events above the requested revision, oldest first. All are in the range of the
    /// view.
    undone: Vec<Arc<Event>>,
}

/// Some versions of a range, and the number of all.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) kvs: Vec<Arc<KeyValue>>,
    pub(crate) count: usize,
}

impl View {
    pub(crate) fn new(tree: Tree, undone: Vec<Arc<Event>>) -> Self {
        Self { tree, undone }
    }

    /// Returns the underlying tree; for a view of the present, it is the state itself.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Arc<KeyValue>> {
        match self.undone.iter().find(|event| event.key == key) {
            Some(event) => event.previous.as_ref(),
            None => self.tree.get(key),
        }
    }

    /// Returns the first `limit` versions of `range`, and their total number.
    pub(crate) fn page(&self, range: &KeyRange, limit: Option<usize>) -> Page {
        let limit = limit.unwrap_or(usize::MAX);
        let count = self.tree.count(range);
        if self.undone.is_empty() {
            let mut kvs = Vec::with_capacity(count.min(limit));
            kvs.extend(self.tree.range(range).take(limit).cloned());
            return Page { kvs, count };
        }
        self.page_with_undone(range, limit, count)
    }

    fn page_with_undone(&self, range: &KeyRange, limit: usize, count_after: usize) -> Page {
        let before = self.before();
        let mut count = count_after;
        for (key, version) in &before {
            count += usize::from(version.is_some());
            count -= usize::from(self.tree.get(key).is_some());
        }
        let mut kvs = Vec::with_capacity(count.min(limit));
        let mut after = self.tree.range(range).peekable();
        let mut before = before.into_iter().peekable();
        while kvs.len() < limit {
            let order = match (after.peek(), before.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(kv), Some((key, _))) => kv.key.cmp(key),
            };
            match order {
                Ordering::Less => kvs.extend(after.next().cloned()),
                Ordering::Equal => drop(after.next()),
                Ordering::Greater => kvs.extend(before.next().and_then(|(_, kv)| kv.cloned())),
            }
        }
        Page { kvs, count }
    }

    /// Returns the versions of the undone keys before the first event.
    fn before(&self) -> BTreeMap<&Bytes, Option<&Arc<KeyValue>>> {
        let mut before = BTreeMap::new();
        for event in &self.undone {
            if let Entry::Vacant(entry) = before.entry(&event.key) {
                entry.insert(event.previous.as_ref());
            }
        }
        before
    }
}
