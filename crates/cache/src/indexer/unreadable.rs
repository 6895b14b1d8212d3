//! Names of which something newer than what is held could not be read, or had no room.
//!
//! The store's version moves on with every event; of these names it says nothing. As many as there
//! are such objects on the server: a state that can be read, a deletion or a list takes them out.

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

    /// What is held of this name is as new as the store's version from now on.
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

    /// A list knows them all.
    pub(super) fn set_unreadable(&mut self, names: BTreeSet<ObjectName>) {
        let names = (!names.is_empty()).then(|| Arc::new(names));
        self.left_right.edit().unreadable = names;
    }
}
