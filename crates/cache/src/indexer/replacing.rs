//! `Replacing`: a list that takes the place of what a store holds, some objects at a time.
//!
//! What a list of a large cluster does to a store takes longer than a task may keep others
//! waiting. Readers see nothing of it before it is whole and published.

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
    /// Names whose objects cannot be read, or have no room.
    unreadable: Vec<ObjectName>,
    /// What the store will hold.
    listed: Objects<K>,
    /// What it held.
    held: Objects<K>,
    /// The objects of the list, as they are held now.
    taken: Vec<Arc<K>>,
    /// Whether the list has no name twice.
    is_unique: bool,
    stage: Stage<K>,
}

/// What is done with one object after the other.
enum Stage<K> {
    /// What did not change stays, and has its room before others do.
    Match(std::vec::IntoIter<Arc<K>>),
    /// The others have what room is left.
    Admit(std::vec::IntoIter<Arc<K>>),
    /// What cannot be read stays as it was.
    Keep {
        next: usize,
    },
    /// What is not listed goes.
    Bury(ObjectsWalk<K>),
    /// What is new or changed is told.
    Tell(std::vec::IntoIter<Arc<K>>),
    Whole,
}

impl<K: Object> Indexer<K> {
    /// Makes the store equal to a list. Objects whose uid and version did not change stay, and
    /// nobody is told of them. Deletions come first.
    pub fn replace(&mut self, replacement: Replacement<K>, changes: &mut Vec<ResourceEvent<K>>) {
        let mut replacing = self.begin_replace(replacement);
        while !self.replace_step(&mut replacing, usize::MAX, changes) {}
    }

    /// As [`Self::replace`], in pieces of [`Self::replace_step`]. Nothing else may be written or
    /// published until the list is whole.
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

    /// Applies a list further, by about so many objects; true once it is whole. An object is
    /// looked at several times.
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

    /// An object of a list, as it is held already if it did not change.
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

    /// Takes an object that was held out of the indexes, unless there still is one of its name.
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
        // A name that the list has twice counts where it comes last.
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
            // The rest of what a budget had cut.
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
    /// The list is read.
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
