//! Turns a list into deltas: one for each listed object, and a tombstone for each missing one.

use super::DeltaFifo;
use crate::{Deleted, Delta, Replacement};
use hashbrown::HashSet;
use kubist_apimachinery::{Object, ObjectName};
use std::collections::BTreeSet;
use std::sync::Arc;

impl<K: Object> DeltaFifo<K> {
    /// Queues the contents of a list.
    pub(super) fn replace_all(&mut self, replacement: Replacement<K>) {
        let mut listed = HashSet::new();
        for object in replacement.objects {
            let name = object.object_name();
            listed.insert(name.clone());
            let delta = if self.config.list_as_sync {
                Delta::Sync(object)
            } else {
                Delta::Replaced(object)
            };
            self.push(name, delta);
        }
        // If such an object is also listed, that state is older than the unreadable one.
        let unreadable: BTreeSet<_> = replacement.unreadable.into_iter().collect();
        for name in unreadable {
            listed.insert(name.clone());
            let unreadable = Delta::Unreadable {
                name: name.clone(),
                resource_version: replacement.resource_version.clone(),
            };
            self.push(name, unreadable);
        }
        let names = listed.len();
        let missing = self.push_tombstones(&listed);
        if !std::mem::replace(&mut self.populated, true) {
            self.initial = names + missing;
        }
        if !replacement.resource_version.is_unset() {
            self.seen = replacement.resource_version;
            self.version_pending = true;
        }
    }

    /// Queues tombstones for queued or known objects that are not listed; returns their number.
    fn push_tombstones(&mut self, listed: &HashSet<ObjectName>) -> usize {
        let mut missing = Vec::new();
        for (name, deltas) in self.order.iter().map(|name| (name, &self.items[name])) {
            if !listed.contains(name) {
                let last_known = deltas.iter().rev().find_map(Delta::object);
                missing.push((name.clone(), last_known.cloned()));
            }
        }
        let queued = missing.len();
        if let Some(known) = &self.config.known {
            for object in known.snapshot().iter() {
                let name = object.object_name();
                if !listed.contains(&name) && !self.items.contains_key(&name) {
                    missing.push((name, Some(Arc::clone(object))));
                }
            }
        }
        let known = self.config.known.as_ref();
        let is_missing = |name: &&ObjectName| {
            let is_known = known.is_some_and(|it| it.find(&name.namespace, &name.name).is_some());
            !listed.contains(*name) && !self.items.contains_key(*name) && !is_known
        };
        let unread: Vec<_> = self.unreadable.iter().filter(is_missing).cloned().collect();
        missing.extend(unread.into_iter().map(|name| (name, None)));
        missing[queued..].sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        let count = missing.len();
        for (name, last_known) in missing {
            let tombstone = Deleted::FinalStateUnknown {
                name: name.clone(),
                last_known,
            };
            self.push(name, Delta::Deleted(tombstone));
        }
        count
    }
}
