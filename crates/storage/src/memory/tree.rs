//! `Tree`: a persistent ordered map of versions, a B+ tree with shared nodes.
//!
//! A clone is one pointer and never changes, so readers clone the tree and hold no lock; a write
//! copies only the nodes on its path. Each branch knows its number of keys, so ranges are counted
//! without being read. History is kept in `log`, which can reconstruct earlier trees.

mod retired;

pub(crate) use self::retired::Retired;
use crate::{KeyRange, KeyValue};
use bytes::Bytes;
use std::mem;
use std::slice;
use std::sync::Arc;

/// Entries per node. Small in tests, so that few keys make a deep tree.
const NODE_MAX: usize = if cfg!(test) { 4 } else { 32 };
/// A node with fewer entries is merged with a neighbour if both fit into one node.
const NODE_MIN: usize = NODE_MAX / 2;

/// A persistent ordered map of versions by key. A clone costs one pointer and never changes; watch
/// caches use clones as snapshots.
#[derive(Clone, Debug)]
pub struct Tree {
    root: Arc<Node>,
}

/// All leaves have the same depth.
#[derive(Debug)]
enum Node {
    Leaf(Vec<Arc<KeyValue>>),
    Branch(Vec<Child>),
}

#[derive(Clone, Debug)]
struct Child {
    /// No key in the child is lower. Irrelevant for the first child of a branch, which also has all
    /// keys below it.
    first: Bytes,
    /// Number of keys below.
    len: usize,
    node: Arc<Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            root: Arc::new(Node::Leaf(Vec::new())),
        }
    }
}

impl Tree {
    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.root.len()
    }

    /// Reports whether the tree is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the version of a key.
    pub fn get(&self, key: &[u8]) -> Option<&Arc<KeyValue>> {
        let mut node = &*self.root;
        loop {
            match node {
                Node::Leaf(kvs) => return kvs.get(position(kvs, key).ok()?),
                Node::Branch(children) => node = &children[child_of(children, key)].node,
            }
        }
    }

    /// Inserts a version and returns the previous one.
    pub fn insert(&mut self, kv: Arc<KeyValue>) -> Option<Arc<KeyValue>> {
        let (previous, split) = insert(&mut self.root, kv);
        if let Some(right) = split {
            let left = mem::replace(&mut self.root, Arc::new(Node::Branch(Vec::new())));
            let left = Child {
                first: Bytes::new(),
                len: left.len(),
                node: left,
            };
            self.root = Arc::new(Node::Branch(vec![left, right]));
        }
        previous
    }

    /// Removes a key. Copies nothing if it does not exist.
    pub fn remove(&mut self, key: &[u8]) -> Option<Arc<KeyValue>> {
        self.get(key)?;
        let removed = remove(&mut self.root, key);
        while let Node::Branch(children) = &*self.root {
            match &children[..] {
                [] => *self = Self::default(),
                [only] => self.root = Arc::clone(&only.node),
                _ => break,
            }
        }
        removed
    }

    /// Returns the number of keys in the range, at the cost of two look-ups.
    pub fn count(&self, range: &KeyRange) -> usize {
        let end = range.end().map_or_else(|| self.len(), |end| self.rank(end));
        end.saturating_sub(self.rank(range.start()))
    }

    /// Returns the versions in the range, in byte order of their keys.
    pub fn range<'a>(&'a self, range: &'a KeyRange) -> Iter<'a> {
        let mut branches = Vec::new();
        let mut node = &*self.root;
        loop {
            match node {
                Node::Branch(children) => {
                    let child = child_of(children, range.start());
                    branches.push(children[child + 1..].iter());
                    node = &children[child].node;
                }
                Node::Leaf(kvs) => {
                    let skipped = kvs.partition_point(|kv| kv.key < range.start());
                    return Iter {
                        branches,
                        leaf: kvs[skipped..].iter(),
                        end: range.end(),
                    };
                }
            }
        }
    }

    /// Returns the number of keys below `key`.
    fn rank(&self, key: &[u8]) -> usize {
        let mut below = 0;
        let mut node = &*self.root;
        loop {
            match node {
                Node::Leaf(kvs) => return below + kvs.partition_point(|kv| &kv.key[..] < key),
                Node::Branch(children) => {
                    let child = child_of(children, key);
                    below += children[..child].iter().map(|it| it.len).sum::<usize>();
                    node = &children[child].node;
                }
            }
        }
    }
}

/// Iterates over versions in byte order of their keys.
#[derive(Debug)]
pub struct Iter<'a> {
    /// The remaining children of each branch on the path, root first.
    branches: Vec<slice::Iter<'a, Child>>,
    leaf: slice::Iter<'a, Arc<KeyValue>>,
    end: Option<&'a Bytes>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Arc<KeyValue>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(kv) = self.leaf.next() {
                if self.end.is_none_or(|end| kv.key < end) {
                    return Some(kv);
                }
                self.branches.clear();
                self.leaf = [].iter();
                return None;
            }
            let Some(child) = self.branches.last_mut()?.next() else {
                self.branches.pop();
                continue;
            };
            match &*child.node {
                Node::Leaf(kvs) => self.leaf = kvs.iter(),
                Node::Branch(children) => self.branches.push(children.iter()),
            }
        }
    }
}

impl Node {
    fn len(&self) -> usize {
        match self {
            Self::Leaf(kvs) => kvs.len(),
            Self::Branch(children) => children.iter().map(|it| it.len).sum(),
        }
    }

    /// The entries of this node.
    fn width(&self) -> usize {
        match self {
            Self::Leaf(kvs) => kvs.len(),
            Self::Branch(children) => children.len(),
        }
    }
}

impl Clone for Node {
    /// Has capacity for one more, because a node is copied to be changed.
    fn clone(&self) -> Self {
        fn copy<T: Clone>(entries: &[T]) -> Vec<T> {
            let mut copy = Vec::with_capacity(entries.len() + 1);
            copy.extend_from_slice(entries);
            copy
        }
        match self {
            Self::Leaf(kvs) => Self::Leaf(copy(kvs)),
            Self::Branch(children) => Self::Branch(copy(children)),
        }
    }
}

fn position(kvs: &[Arc<KeyValue>], key: &[u8]) -> Result<usize, usize> {
    kvs.binary_search_by(|kv| kv.key[..].cmp(key))
}

/// Returns the child that may contain `key`.
fn child_of(children: &[Child], key: &[u8]) -> usize {
    children
        .partition_point(|it| &it.first[..] <= key)
        .saturating_sub(1)
}

fn insert(node: &mut Arc<Node>, kv: Arc<KeyValue>) -> (Option<Arc<KeyValue>>, Option<Child>) {
    match Arc::make_mut(node) {
        Node::Leaf(kvs) => match position(kvs, &kv.key) {
            Ok(at) => (Some(mem::replace(&mut kvs[at], kv)), None),
            Err(at) => {
                kvs.insert(at, kv);
                let split = split(kvs, at).map(|right| Child {
                    first: right[0].key.clone(),
                    len: right.len(),
                    node: Arc::new(Node::Leaf(right)),
                });
                (None, split)
            }
        },
        Node::Branch(children) => {
            let at = child_of(children, &kv.key);
            let (previous, grown) = insert(&mut children[at].node, kv);
            children[at].len += usize::from(previous.is_none());
            let Some(right) = grown else {
                return (previous, None);
            };
            children[at].len -= right.len;
            children.insert(at + 1, right);
            let split = split(children, at + 1).map(|right| Child {
                first: right[0].first.clone(),
                len: right.iter().map(|it| it.len).sum(),
                node: Arc::new(Node::Branch(right)),
            });
            (previous, split)
        }
    }
}

/// Splits off the upper part of a node that is too large. A node that grew at its end splits off
/// only the new entry, so keys inserted in order fill their nodes.
fn split<T>(entries: &mut Vec<T>, inserted: usize) -> Option<Vec<T>> {
    if entries.len() <= NODE_MAX {
        return None;
    }
    let at_end = inserted + 1 == entries.len();
    Some(entries.split_off(if at_end { inserted } else { entries.len() / 2 }))
}

fn remove(node: &mut Arc<Node>, key: &[u8]) -> Option<Arc<KeyValue>> {
    match Arc::make_mut(node) {
        Node::Leaf(kvs) => position(kvs, key).ok().map(|at| kvs.remove(at)),
        Node::Branch(children) => {
            let at = child_of(children, key);
            let removed = remove(&mut children[at].node, key)?;
            children[at].len -= 1;
            if children[at].len == 0 {
                children.remove(at);
            } else if children[at].node.width() < NODE_MIN {
                join_neighbours(children, at);
            }
            Some(removed)
        }
    }
}

/// Merges an underfull child with a neighbour that has space.
fn join_neighbours(children: &mut Vec<Child>, thin: usize) {
    let fits = |left: &usize| {
        let pair = children.get(*left).zip(children.get(*left + 1));
        pair.is_some_and(|(a, b)| a.node.width() + b.node.width() <= NODE_MAX)
    };
    let Some(left) = thin.checked_sub(1).into_iter().chain([thin]).find(fits) else {
        return;
    };
    let right = children.remove(left + 1);
    let left = &mut children[left];
    match (
        Arc::make_mut(&mut left.node),
        Arc::unwrap_or_clone(right.node),
    ) {
        (Node::Leaf(kvs), Node::Leaf(more)) => kvs.extend(more),
        (Node::Branch(branch), Node::Branch(mut more)) => {
            // As a first child its lower bound was irrelevant.
            if let Some(child) = more.first_mut() {
                child.first = right.first;
            }
            branch.extend(more);
        }
        (Node::Leaf(_), Node::Branch(_)) | (Node::Branch(_), Node::Leaf(_)) => {
            unreachable!("siblings have one depth")
        }
    }
    left.len += right.len;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Note, Revision};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn version(key: u8, revision: u64) -> Arc<KeyValue> {
        let revision = Revision(revision);
        Arc::new(KeyValue {
            key: Bytes::copy_from_slice(&[b'k', key]),
            value: Bytes::new(),
            create_revision: revision,
            version: 1,
            mod_revision: revision,
            lease: None,
            note: Note::default(),
        })
    }

    /// Checks the invariants of the tree and returns its depth.
    fn depth(node: &Node, root: bool) -> usize {
        assert!(root || node.width() > 0);
        assert!(node.width() <= NODE_MAX);
        let Node::Branch(children) = node else {
            return 1;
        };
        let depths: Vec<usize> = children.iter().map(|it| depth(&it.node, false)).collect();
        assert!(
            depths.windows(2).all(|pair| pair[0] == pair[1]),
            "leaves at one depth"
        );
        assert!(
            children.iter().all(|it| it.len == it.node.len()),
            "counts add up"
        );
        assert!(
            children
                .windows(2)
                .skip(1)
                .all(|pair| pair[0].first < pair[1].first)
        );
        depths[0] + 1
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn tree_agrees_with_a_btree_map_and_old_clones_stay_as_they_were(
            ops in prop::collection::vec((any::<bool>(), 0_u8..40), 1..160),
            bounds in prop::collection::vec((0_u8..42, 0_u8..42), 8),
        ) {
            let mut tree = Tree::default();
            let mut model = BTreeMap::new();
            let mut clones = Vec::new();
            for (at, (put, key)) in ops.into_iter().enumerate() {
                if at % 16 == 0 {
                    clones.push((tree.clone(), model.clone()));
                }
                if put {
                    let kv = version(key, at as u64 + 2);
                    prop_assert_eq!(tree.insert(Arc::clone(&kv)), model.insert(kv.key.clone(), kv));
                } else {
                    let kv = version(key, 0);
                    prop_assert_eq!(tree.remove(&kv.key), model.remove(&kv.key));
                }
                depth(&tree.root, true);
            }
            clones.push((tree, model));
            for (tree, model) in clones {
                prop_assert_eq!(tree.len(), model.len());
                for (from, to) in &bounds {
                    let (from, to) = (version(*from, 0).key.clone(), version(*to, 0).key.clone());
                    prop_assert_eq!(tree.get(&from), model.get(&from));
                    let between = KeyRange::between(from.clone(), to);
                    for range in [between, KeyRange::starting_at(from)] {
                        let found: Vec<_> = tree.range(&range).collect();
                        let expected: Vec<_> =
                            model.values().filter(|kv| range.contains(&kv.key)).collect();
                        prop_assert_eq!(tree.count(&range), expected.len());
                        prop_assert_eq!(found, expected);
                    }
                }
            }
        }
    }
}
