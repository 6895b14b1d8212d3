//! `Replacing`: a list that replaces the contents of a store some objects at a time.
//!
//! Applying the list of a large cluster takes longer than a task may block others. Readers see none
//! of it before it is complete and published.

use super::Indexer;
use super::apply::same_version;
use crate::name_key::NameKey;
use crate::objects::{Objects, ObjectsWalk};
use crate::{Deleted, Replacement, ResourceEvent};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::fmt;
use std::sync::Arc;

/// A list that is being applied (see [`Indexer::begin_replace`]).
pub struct Replacing<K> {
    resource_version: ResourceVersion,
    /// Names whose objects cannot be decoded or exceed the budget.
    unreadable: Vec<ObjectName>,
    /// The new contents.
    listed: Objects<K>,
    /// The previous contents.
    held: Objects<K>,
    /// The objects of the list, as they are stored.
    taken: Vec<Arc<K>>,
    /// Whether each name is in the list once.
    is_unique: bool,
    stage: Stage<K>,
}

/// The phases, each of which iterates over objects.
enum Stage<K> {
    /// Keeps unchanged objects, which are admitted to the budget first.
    Match(std::vec::IntoIter<Arc<K>>),
    /// Admits the other objects to the rest of the budget.
    Admit(std::vec::IntoIter<Arc<K>>),
    /// Keeps the stored state of objects that cannot be decoded.
    Keep {
        next: usize,
    },
    /// Removes objects that are not listed.
    Bury(ObjectsWalk<K>),
    /// Emits events for new and changed objects.
    Tell(std::vec::IntoIter<Arc<K>>),
    Whole,
}

impl<K: Object> Indexer<K> {
    /// Makes the store equal to a list. Objects whose uid and version are unchanged stay, without
    /// events. Deletions are emitted first.
    pub fn replace(&mut self, replacement: Replacement<K>, changes: &mut Vec<ResourceEvent<K>>) {
        let mut replacing = self.begin_replace(replacement);
        while !self.replace_step(&mut replacing, usize::MAX, changes) {}
    }

    /// Does the same as [`Self::replace`] in steps of [`Self::replace_step`]. Nothing else may be
    /// written or published until the list is complete.
    pub fn begin_replace(&mut self, replacement: Replacement<K>) -> Replacing<K> {
        if let Some(budget) = &mut self.budget {
            budget.begin();
        }
        Replacing {
            resource_version: replacement.resource_version,
            unreadable: replacement.unreadable,
            listed: Objects::default(),
            held: Objects::default(),
            taken: Vec::with_capacity(replacement.objects.len()),
            is_unique: true,
            stage: Stage::Match(replacement.objects.into_iter()),
        }
    }

    /// Continues to apply a list by about this many objects; returns true once it is complete. Each
    /// object is visited several times.
    pub fn replace_step(
        &mut self,
        replacing: &mut Replacing<K>,
        objects: usize,
        changes: &mut Vec<ResourceEvent<K>>,
    ) -> bool {
        for _ in 0..objects.max(1) {
            if matches!(replacing.stage, Stage::Whole) {
                return true;
            }
            self.replace_next(replacing, changes);
        }
        matches!(replacing.stage, Stage::Whole)
    }

    fn replace_next(&mut self, it: &mut Replacing<K>, changes: &mut Vec<ResourceEvent<K>>) {
        match &mut it.stage {
            Stage::Match(objects) => match objects.next() {
                Some(object) => {
                    let object = self.matched(object);
                    if self.budget.is_none() {
                        insert(&mut it.listed, &object);
                    }
                    it.taken.push(object);
                }
                None if self.budget.is_some() => {
                    let matched = std::mem::take(&mut it.taken);
                    it.taken.reserve(matched.len());
                    it.stage = Stage::Admit(matched.into_iter());
                }
                None => it.keep(),
            },
            Stage::Admit(objects) => match objects.next() {
                Some(object) => self.admit_listed(object, it),
                None => it.keep(),
            },
            Stage::Keep { next } => {
                if let Some(name) = it.unreadable.get(*next) {
                    *next += 1;
                    let held = self.left_right.state().find(&name.namespace, &name.name);
                    if let Some(held) = held
                        && it.listed.alike(held).is_none()
                    {
                        insert(&mut it.listed, held);
                        if let Some(budget) = &mut self.budget {
                            budget.count(held);
                        }
                    }
                    return;
                }
                let listed = std::mem::take(&mut it.listed);
                it.held = std::mem::replace(&mut self.left_right.edit().objects, listed);
                it.stage = Stage::Bury(it.held.clone().into_walk());
            }
            Stage::Bury(walk) => match walk.next() {
                Some(object) => self.bury(object, changes),
                None => it.stage = Stage::Tell(std::mem::take(&mut it.taken).into_iter()),
            },
            Stage::Tell(objects) => match objects.next() {
                Some(object) => self.tell_listed(object, &it.held, it.is_unique, changes),
                None => self.end_replace(it),
            },
            Stage::Whole => {}
        }
    }

    /// Returns the stored object in place of a listed one that did not change.
    fn matched(&mut self, object: Arc<K>) -> Arc<K> {
        let held = self
            .left_right
            .state()
            .find(object.namespace(), object.name());
        let Some(held) = held.filter(|held| same_version(held, &object)) else {
            return object;
        };
        match &mut self.budget {
            Some(budget) if budget.completes(held, &object) => object,
            Some(budget) => {
                budget.count(held);
                Arc::clone(held)
            }
            None => Arc::clone(held),
        }
    }

    fn admit_listed(&mut self, object: Arc<K>, it: &mut Replacing<K>) {
        let (namespace, name) = (object.namespace(), object.name());
        let held = self.state().find(namespace, name);
        if held.is_some_and(|held| Arc::ptr_eq(held, &object)) {
            insert(&mut it.listed, &object);
            it.taken.push(object);
            return;
        }
        let before = it.listed.find(namespace, name);
        let name = object.object_name();
        match self.admit(object, before) {
            Some(object) => {
                insert(&mut it.listed, &object);
                it.taken.push(object);
            }
            None => it.unreadable.push(name),
        }
    }

    /// Removes a stored object from the indexes, unless its name is listed.
    fn bury(&mut self, object: Arc<K>, changes: &mut Vec<ResourceEvent<K>>) {
        let found = self.state().find(object.namespace(), object.name());
        if found.is_some() {
            return;
        }
        self.file(NameKey::of(&*object).hash, Some(&object), None);
        let name = object.object_name();
        if let Some(order) = &mut self.left_right.edit().order {
            order.remove(&name);
        }
        changes.push(ResourceEvent::Deleted(Deleted::FinalStateUnknown {
            name,
            last_known: Some(object),
        }));
    }

    fn tell_listed(
        &mut self,
        object: Arc<K>,
        held: &Objects<K>,
        is_unique: bool,
        changes: &mut Vec<ResourceEvent<K>>,
    ) {
        let (namespace, name) = (object.namespace(), object.name());
        // If the list contains a name twice, the last occurrence counts.
        let is_last = is_unique
            || self
                .state()
                .find(namespace, name)
                .is_some_and(|it| Arc::ptr_eq(it, &object));
        let key = NameKey::new(namespace, name);
        let old = held.get(&key, namespace, name);
        if !is_last || old.is_some_and(|old| Arc::ptr_eq(old, &object)) {
            return;
        }
        self.file(key.hash, old, Some(&object));
        if old.is_none()
            && let Some(order) = &mut self.left_right.edit().order
        {
            order.insert(object.object_name());
        }
        if old.is_some_and(|old| same_version(old, &object)) {
            // It restores a body that the budget had removed.
            return;
        }
        changes.push(match old {
            Some(old) => ResourceEvent::Updated {
                old: Arc::clone(old),
                new: object,
            },
            None => ResourceEvent::Added {
                object,
                initial: !self.synced,
            },
        });
    }

    fn end_replace(&mut self, it: &mut Replacing<K>) {
        self.set_unreadable(std::mem::take(&mut it.unreadable).into_iter().collect());
        self.left_right.edit().resource_version = it.resource_version.clone();
        self.left_right.retire(std::mem::take(&mut it.held));
        self.synced = true;
        it.stage = Stage::Whole;
    }
}

impl<K> Replacing<K> {
    /// Keeps the objects that the list could not decode.
    fn keep(&mut self) {
        self.is_unique = self.listed.len() == self.taken.len();
        self.stage = Stage::Keep { next: 0 };
    }
}

impl<K> fmt::Debug for Replacing<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replacing")
            .field("resource_version", &self.resource_version)
            .field("is_whole", &matches!(self.stage, Stage::Whole))
            .finish_non_exhaustive()
    }
}

fn insert<K: Object>(objects: &mut Objects<K>, object: &Arc<K>) -> Option<Arc<K>> {
    objects.insert(&NameKey::of(&**object), object)
}
