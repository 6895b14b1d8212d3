//! `Retired`: trees that are dropped node by node.
//!
//! An old snapshot of a large store may be the last owner of thousands of nodes. Dropped at once,
//! it would delay whoever held it last, which may be a write.

use super::{Node, Tree};
use std::sync::Arc;

/// The maximum of waiting trees: beyond it nobody releases them, and they are dropped at once.
const TREES_MAX: usize = 64;

/// Nodes that are no longer needed.
#[derive(Debug, Default)]
pub(crate) struct Retired {
    nodes: Vec<Arc<Node>>,
    trees: usize,
}

impl Retired {
    /// Adds trees.
    pub(crate) fn extend(&mut self, trees: impl Iterator<Item = Tree>) {
        for tree in trees {
            if self.trees < TREES_MAX {
                self.trees += 1;
                self.nodes.push(tree.root);
            }
        }
    }

    /// Drops at most so many nodes. Returns whether there are more.
    pub(crate) fn release(&mut self, nodes_max: usize) -> bool {
        for _ in 0..nodes_max {
            let Some(node) = self.nodes.pop() else {
                break;
            };
            // A node that others share is only counted down.
            if let Some(Node::Branch(children)) = Arc::into_inner(node) {
                self.nodes.extend(children.into_iter().map(|it| it.node));
            }
        }
        if self.nodes.is_empty() {
            self.trees = 0;
        }
        !self.nodes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyValue, Note, Revision};
    use bytes::Bytes;

    fn version(key: usize) -> Arc<KeyValue> {
        Arc::new(KeyValue {
            key: Bytes::from(format!("{key:05}")),
            value: Bytes::new(),
            create_revision: Revision(2),
            version: 1,
            mod_revision: Revision(2),
            lease: None,
            note: Note::default(),
        })
    }

    #[test]
    fn a_tree_is_dropped_in_steps_and_what_is_shared_stays() {
        let mut tree = Tree::default();
        for key in 0..1_000 {
            tree.insert(version(key));
        }
        let old = tree.clone();
        let before: Vec<_> = (0..1_000).map(version).collect();
        for kv in &before {
            tree.insert(Arc::clone(kv));
        }
        let watched = Arc::downgrade(old.get(b"00500").expect("it is there"));
        let mut retired = Retired::default();
        retired.extend([old, tree.clone()].into_iter());
        let mut steps = 1;
        while retired.release(10) {
            steps += 1;
        }
        assert!(steps > 10, "{steps} steps");
        assert_eq!(watched.strong_count(), 0, "nobody else had it");
        assert_eq!(tree.len(), 1_000);
        assert_eq!(tree.get(b"00500"), before.get(500));
    }
}
