//! Applies deltas to a store.

use super::Indexer;
use crate::{Deleted, Delta, ResourceEvent};
use kubist_apimachinery::Object;
use std::sync::Arc;

impl<K: Object> Indexer<K> {
    /// Applies a delta and appends the resulting events to `changes`. Does not publish.
    pub fn apply(&mut self, delta: Delta<K>, changes: &mut Vec<ResourceEvent<K>>) {
        match delta {
            Delta::Added(object) | Delta::Updated(object) | Delta::Replaced(object) => {
                self.see_version(object.resource_version());
                self.note_readable(object.namespace(), object.name());
                self.apply_object(object, changes);
            }
            Delta::Deleted(deleted) => self.apply_deleted(deleted, changes),
            Delta::ReplacedAll(replacement) => self.replace(replacement, changes),
            Delta::Sync(object) => match self.state().find(object.namespace(), object.name()) {
                Some(held) if same_version(held, &object) => {
                    changes.push(ResourceEvent::Resynced(Arc::clone(held)));
                }
                _ => self.apply_object(object, changes),
            },
            Delta::SyncAll => self.resync(changes),
            Delta::Bookmark(version) => self.bookmark(version),
            Delta::Unreadable {
                name,
                resource_version,
            } => {
                self.see_version(resource_version.as_str());
                self.note_unreadable(name);
            }
        }
    }

    fn apply_object(&mut self, object: Arc<K>, changes: &mut Vec<ResourceEvent<K>>) {
        if let Some(held) = self.state().find(object.namespace(), object.name())
            && same_version(held, &object)
        {
            return;
        }
        let held = self.find_held(&object);
        let name = self.budget.is_some().then(|| object.object_name());
        let Some(object) = self.admit(object, held.as_ref()) else {
            if let Some(name) = name {
                self.note_unreadable(name);
            }
            return;
        };
        let initial = !self.synced;
        changes.push(match self.put(Arc::clone(&object)) {
            Some(old) => ResourceEvent::Updated { old, new: object },
            None => ResourceEvent::Added { object, initial },
        });
    }

    /// A deletion of an object that is not stored emits no event: handlers never received the
    /// object, or received its deletion.
    fn apply_deleted(&mut self, deleted: Deleted<K>, changes: &mut Vec<ResourceEvent<K>>) {
        let deleted = match deleted {
            Deleted::Known(object) => {
                self.see_version(object.resource_version());
                let behind = self.state().unreadable.is_some();
                let was_behind = behind && self.state().is_behind_for(&object.object_name());
                self.note_readable(object.namespace(), object.name());
                let held = self.take_out(object.namespace(), object.name());
                held.map(|held| {
                    if !was_behind {
                        return Deleted::Known(object);
                    }
                    // The final state does not directly follow the stored one.
                    Deleted::FinalStateUnknown {
                        name: held.object_name(),
                        last_known: Some(held),
                    }
                })
            }
            Deleted::FinalStateUnknown { name, last_known } => {
                self.note_readable(&name.namespace, &name.name);
                let held = self.take_out(&name.namespace, &name.name);
                held.map(|held| Deleted::FinalStateUnknown {
                    name,
                    last_known: last_known.or(Some(held)),
                })
            }
        };
        changes.extend(deleted.map(ResourceEvent::Deleted));
    }
}

/// Reports whether both are the same state of the same object.
pub(crate) fn same_version<K: Object>(held: &Arc<K>, object: &Arc<K>) -> bool {
    Arc::ptr_eq(held, object)
        || (!object.resource_version().is_empty()
            && held.resource_version() == object.resource_version()
            && held.uid() == object.uid())
}
