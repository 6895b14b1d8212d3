//! Names of objects whose newest state could not be decoded or exceeded the budget.
//!
//! The store's version advances with every event, but does not apply to these names. There are at
//! most as many as such objects on the server: a readable state, a deletion or a list removes them.

use super::Indexer;
use kubist_apimachinery::{Object, ObjectName};
use std::collections::BTreeSet;
use std::sync::Arc;

impl<K: Object> Indexer<K> {
    pub(super) fn note_unreadable(&mut self, name: ObjectName) {
        let mut names = self.state().unreadable.clone().unwrap_or_default();
        if !names.contains(&name) {
            Arc::make_mut(&mut names).insert(name);
            self.left_right.set_unreadable(Some(names));
        }
    }

    /// Records that the stored state of this name is as new as the store's version.
    pub(super) fn note_readable(&mut self, namespace: &str, name: &str) {
        let Some(names) = &self.state().unreadable else {
            return;
        };
        let name = ObjectName::new(namespace, name);
        if names.contains(&name) {
            let mut names = Arc::clone(names);
            Arc::make_mut(&mut names).remove(&name);
            self.left_right
                .set_unreadable((!names.is_empty()).then_some(names));
        }
    }

    /// Replaces the names by those of a list.
    pub(super) fn set_unreadable(&mut self, names: BTreeSet<ObjectName>) {
        let names = (!names.is_empty()).then(|| Arc::new(names));
        self.left_right.set_unreadable(names);
    }
}
