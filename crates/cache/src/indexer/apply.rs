//! What news do to a store: single changes and whole lists.

use std::sync::Arc;

use kubist_apimachinery::{Object, ObjectName};

use super::Indexer;
use crate::name_key::NameKey;
use crate::objects::Objects;
use crate::order::Order;
use crate::{Change, Deleted, Delta, Replacement};

impl<K: Object> Indexer<K> {
    /// Applies news, and appends what handlers must be told to `changes`. Does not publish.
    pub fn apply(&mut self, delta: Delta<K>, changes: &mut Vec<Change<K>>) {
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
                    changes.push(Change::Resynced(Arc::clone(held)));
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

    fn apply_object(&mut self, object: Arc<K>, changes: &mut Vec<Change<K>>) {
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
            Some(old) => Change::Updated { old, new: object },
            None => Change::Added { object, initial },
        });
    }

    /// A deletion of what is not here is not told: nobody was told of the object, or everybody was
    /// told that it is gone.
    fn apply_deleted(&mut self, deleted: Deleted<K>, changes: &mut Vec<Change<K>>) {
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
                    // The last state is not the next one after what everybody knows.
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
        changes.extend(deleted.map(Change::Deleted));
    }

    /// Makes the store equal to a list. Objects whose uid and version did not change stay, and
    /// nobody is told of them. Deletions come first.
    pub fn replace(&mut self, replacement: Replacement<K>, changes: &mut Vec<Change<K>>) {
        let Replacement {
            resource_version,
            objects,
            mut unreadable,
        } = replacement;
        let mut listed = Objects::default();
        let objects = self.take_listed(objects, &mut listed, &mut unreadable);
        // Before what could not be read is added to it.
        let is_unique = listed.len() == objects.len();
        for name in &unreadable {
            let Some(held) = self.state().find(&name.namespace, &name.name).cloned() else {
                continue;
            };
            if listed.alike(&held).is_none() {
                insert(&mut listed, &held);
                if let Some(budget) = &mut self.budget {
                    budget.count(&held);
                }
            }
        }
        let held = std::mem::replace(&mut self.twin.edit().objects, listed);
        for object in held.iter() {
            if self
                .state()
                .find(object.namespace(), object.name())
                .is_none()
            {
                self.file(NameKey::of(&**object).hash, Some(object), None);
                let name = object.object_name();
                let last_known = Some(Arc::clone(object));
                changes.push(Change::Deleted(Deleted::FinalStateUnknown {
                    name,
                    last_known,
                }));
            }
        }
        self.tell_listed(&objects, is_unique, &held, changes);
        self.set_unreadable(unreadable.into_iter().collect());
        let state = self.twin.edit();
        state.resource_version = resource_version;
        if state.order.is_some() {
            let names = state.objects.iter().map(|object| object.object_name());
            state.order = Some(Order::of(names.collect()));
        }
        self.synced = true;
    }

    /// Puts the objects of a list into `listed`, and gives those that are held now. What did not
    /// change stays, and has its room before others do; the names of what is refused are added
    /// to `refused`.
    fn take_listed(
        &mut self,
        mut objects: Vec<Arc<K>>,
        listed: &mut Objects<K>,
        refused: &mut Vec<ObjectName>,
    ) -> Vec<Arc<K>> {
        if let Some(budget) = &mut self.budget {
            budget.begin();
        }
        for object in &mut objects {
            let held = self.twin.state().find(object.namespace(), object.name());
            if let Some(held) = held
                && same_version(held, object)
                && !self.completes(held, object)
            {
                *object = Arc::clone(held);
                if let Some(budget) = &mut self.budget {
                    budget.count(object);
                }
            }
        }
        if self.budget.is_none() {
            for object in &objects {
                insert(listed, object);
            }
            return objects;
        }
        let mut taken = Vec::with_capacity(objects.len());
        for object in objects {
            let (namespace, name) = (object.namespace(), object.name());
            let held = self.state().find(namespace, name);
            if held.is_some_and(|held| Arc::ptr_eq(held, &object)) {
                insert(listed, &object);
                taken.push(object);
                continue;
            }
            let before = listed.find(namespace, name);
            let name = object.object_name();
            let Some(object) = self.admit(object, before) else {
                refused.push(name);
                continue;
            };
            insert(listed, &object);
            taken.push(object);
        }
        taken
    }

    fn completes(&self, held: &K, object: &K) -> bool {
        let budget = self.budget.as_ref();
        budget.is_some_and(|budget| budget.completes(held, object))
    }

    fn tell_listed(
        &mut self,
        objects: &[Arc<K>],
        is_unique: bool,
        held: &Objects<K>,
        changes: &mut Vec<Change<K>>,
    ) {
        let initial = !self.synced;
        for object in objects {
            let (namespace, name) = (object.namespace(), object.name());
            // A name that the list has twice counts where it comes last.
            let is_last = is_unique
                || self
                    .state()
                    .find(namespace, name)
                    .is_some_and(|it| Arc::ptr_eq(it, object));
            let key = NameKey::new(namespace, name);
            let old = held.get(&key, namespace, name);
            if !is_last || old.is_some_and(|old| Arc::ptr_eq(old, object)) {
                continue;
            }
            self.file(key.hash, old, Some(object));
            if old.is_some_and(|old| same_version(old, object)) {
                // The rest of what a budget had cut.
                continue;
            }
            let object = Arc::clone(object);
            changes.push(match old {
                Some(old) => Change::Updated {
                    old: Arc::clone(old),
                    new: object,
                },
                None => Change::Added { object, initial },
            });
        }
    }
}

/// Whether both are the same state of the same object.
pub(crate) fn same_version<K: Object>(held: &Arc<K>, object: &Arc<K>) -> bool {
    Arc::ptr_eq(held, object)
        || (!object.resource_version().is_empty()
            && held.resource_version() == object.resource_version()
            && held.uid() == object.uid())
}

fn insert<K: Object>(objects: &mut Objects<K>, object: &Arc<K>) -> Option<Arc<K>> {
    objects.insert(&NameKey::of(&**object), object)
}
