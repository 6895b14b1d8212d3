//! The store as it was at one revision.
//!
//! A tree, plus the events to take back to come from the tree's revision to the wanted one. It
//! holds no lock and stays valid whatever is written or compacted meanwhile.

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
    /// Events above the wanted revision that the tree has seen, oldest first. All lie in the
    /// range that the view was made for.
    undone: Vec<Arc<Event>>,
}

/// Some versions of a range, with the number of all.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) kvs: Vec<Arc<KeyValue>>,
    pub(crate) count: usize,
}

impl View {
    pub(crate) fn new(tree: Tree, undone: Vec<Arc<Event>>) -> Self {
        Self { tree, undone }
    }

    /// The tree that the view starts from. It is the state itself in a view of the head.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Arc<KeyValue>> {
        match self.undone.iter().find(|event| event.key == key) {
            Some(event) => event.previous.as_ref(),
            None => self.tree.get(key),
        }
    }

    /// The first `limit` versions of `range`, and how many there are.
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

    /// What the keys of the undone events were before the first of them.
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
