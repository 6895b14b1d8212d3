//! `Replacing`: a list that replaces the contents of a store some objects at a time.
//!
//! Applying the list of a large cluster takes longer than a task may block others. Readers see none
//! of it before it is complete and published.

use super::Indexer;
use super::apply::same_version;
use crate::{Deleted, Replacement, ResourceEvent};
use hashbrown::HashMap;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::fmt;
use std::sync::Arc;

/// A list that is being applied (see [`Indexer::begin_replace`]).
pub struct Replacing<K> {
    resource_version: ResourceVersion,
    /// Names whose objects cannot be decoded or exceed the budget.
    unreadable: Vec<ObjectName>,
    /// A bit for each number whose object is listed or kept.
    seen: Vec<u64>,
    /// The number that the next object has if the list has the order of the last.
    expected: u32,
    /// The objects of the list that are new or changed.
    taken: Vec<Taken<K>>,
    /// The positions in `taken` by number, once the list contains a name twice.
    repeats: Option<HashMap<u32, usize>>,
    stage: Stage<K>,
}

/// An object that the list added or changed.
struct Taken<K> {
    number: u32,
    /// `None` if the list has another object of the name after it, which counts.
    object: Option<Arc<K>>,
    /// The state before the list.
    old: Option<Arc<K>>,
}

/// The phases, each of which iterates over objects.
enum Stage<K> {
    /// Stores the objects, except those that did not change.
    Match(std::vec::IntoIter<Arc<K>>),
    /// With a budget, counts unchanged objects first.
    Count(std::vec::IntoIter<Arc<K>>, Vec<Arc<K>>),
    /// Admits the other objects to the rest of the budget, and stores them.
    Admit(std::vec::IntoIter<Arc<K>>),
    /// Keeps the stored state of objects that cannot be decoded.
    Keep {
        next: usize,
    },
    /// Removes objects that are not listed.
    Bury {
        next: u32,
    },
    /// Emits events for new and changed objects.
    Tell(std::vec::IntoIter<Taken<K>>),
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
        // Of a list that changes little, little is taken.
        let taken_min = usize::from(self.is_empty()) * replacement.objects.len();
        let objects = replacement.objects.into_iter();
        let stage = match &mut self.budget {
            None => Stage::Match(objects),
            Some(budget) => {
                budget.begin();
                Stage::Count(objects, Vec::new())
            }
        };
        Replacing {
            resource_version: replacement.resource_version,
            unreadable: replacement.unreadable,
            seen: Vec::new(),
            expected: 0,
            taken: Vec::with_capacity(taken_min),
            repeats: None,
            stage,
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
                Some(object) => self.place(object, it),
                None => it.stage = Stage::Keep { next: 0 },
            },
            Stage::Count(objects, counted) => match objects.next() {
                Some(object) => counted.push(self.counted(object)),
                None => it.stage = Stage::Admit(std::mem::take(counted).into_iter()),
            },
            Stage::Admit(objects) => match objects.next() {
                Some(object) => self.admit_listed(object, it),
                None => it.stage = Stage::Keep { next: 0 },
            },
            Stage::Keep { next } => {
                if let Some(name) = it.unreadable.get(*next) {
                    *next += 1;
                    let objects = &self.left_right.state().objects;
                    let hash = objects.hash_of(&name.namespace, &name.name);
                    let number = objects.number_of(hash, &name.namespace, &name.name);
                    if let Some(number) = number.filter(|number| !it.has_seen(*number)) {
                        it.see(number);
                        if let (Some(budget), Some(held)) = (&mut self.budget, objects.at(number)) {
                            budget.count(held);
                        }
                    }
                    return;
                }
                it.stage = Stage::Bury { next: 0 };
            }
            Stage::Bury { next } => {
                let number = *next;
                if number >= self.left_right.numbering.end() {
                    it.stage = Stage::Tell(std::mem::take(&mut it.taken).into_iter());
                    return;
                }
                *next += 1;
                if !it.has_seen(number) {
                    self.bury(number, changes);
                }
            }
            Stage::Tell(taken) => match taken.next() {
                Some(taken) => self.tell_listed(taken, changes),
                None => self.end_replace(it),
            },
            Stage::Whole => {}
        }
    }

    /// Stores a listed object if it is new or changed.
    fn place(&mut self, object: Arc<K>, it: &mut Replacing<K>) {
        let (namespace, name) = (object.namespace(), object.name());
        let objects = &self.state().objects;
        let (mut hash, mut number) = (0, Some(it.expected));
        if objects.at(it.expected).is_none() || !objects.is_named(it.expected, namespace, name) {
            hash = objects.hash_of(namespace, name);
            number = objects.number_of(hash, namespace, name);
        }
        let Some(number) = number else {
            let (number, old) = self.put_at(None, hash, &object);
            it.see(number);
            it.take(number, object, old);
            return;
        };
        it.expected = number.wrapping_add(1);
        if it.has_seen(number) {
            self.place_again(number, object, it);
            return;
        }
        it.see(number);
        let held = objects.at(number);
        if !held.is_some_and(|held| self.is_unchanged(held, &object)) {
            let (_, old) = self.put_at(Some(number), hash, &object);
            it.take(number, object, old);
        }
    }

    /// Stores a listed object of which the list has had another state: the last one counts.
    fn place_again(&mut self, number: u32, object: Arc<K>, it: &mut Replacing<K>) {
        let earlier = it.withdraw(number);
        let stored = || self.state().objects.at(number).cloned();
        let before = earlier.map_or_else(stored, |taken| taken.old);
        match before {
            Some(old) if self.is_unchanged(&old, &object) => {
                self.put_at(Some(number), 0, &old);
            }
            old => {
                self.put_at(Some(number), 0, &object);
                it.take(number, object, old);
            }
        }
    }

    /// With a budget, unchanged objects were replaced by the stored ones before, except those whose
    /// body the list restores.
    fn is_unchanged(&self, held: &Arc<K>, object: &Arc<K>) -> bool {
        Arc::ptr_eq(held, object) || (self.budget.is_none() && same_version(held, object))
    }

    /// Returns the stored object in place of a listed one that did not change, and counts it.
    fn counted(&mut self, object: Arc<K>) -> Arc<K> {
        let held = self
            .left_right
            .state()
            .find(object.namespace(), object.name());
        match (&mut self.budget, held) {
            (Some(budget), Some(held))
                if same_version(held, &object) && !budget.completes(held, &object) =>
            {
                budget.count(held);
                Arc::clone(held)
            }
            _ => object,
        }
    }

    fn admit_listed(&mut self, object: Arc<K>, it: &mut Replacing<K>) {
        let (namespace, name) = (object.namespace(), object.name());
        let objects = &self.state().objects;
        let hash = objects.hash_of(namespace, name);
        let number = objects.number_of(hash, namespace, name);
        let held = number.and_then(|number| objects.at(number));
        if held.is_some_and(|held| Arc::ptr_eq(held, &object)) {
            self.place(object, it);
            return;
        }
        // What is stored counts only if the list has brought it.
        let before = held
            .filter(|_| number.is_some_and(|number| it.has_seen(number)))
            .cloned();
        let name = object.object_name();
        match self.admit(object, before.as_ref()) {
            Some(object) => self.place(object, it),
            None => it.unreadable.push(name),
        }
    }

    /// Removes a stored object that is not listed.
    fn bury(&mut self, number: u32, changes: &mut Vec<ResourceEvent<K>>) {
        let objects = &self.state().objects;
        let Some(object) = objects.at(number) else {
            return;
        };
        let name = object.object_name();
        let hash = objects.hash_of(&name.namespace, &name.name);
        let last_known = self.take_at(number, hash);
        changes.push(ResourceEvent::Deleted(Deleted::FinalStateUnknown {
            name,
            last_known,
        }));
    }

    fn tell_listed(&self, taken: Taken<K>, changes: &mut Vec<ResourceEvent<K>>) {
        let initial = !self.synced;
        changes.extend(match (taken.object, taken.old) {
            (None, _) => None,
            // It restores a body that the budget had removed.
            (Some(new), Some(old)) if same_version(&old, &new) => None,
            (Some(new), Some(old)) => Some(ResourceEvent::Updated { old, new }),
            (Some(object), None) => Some(ResourceEvent::Added { object, initial }),
        });
    }

    fn end_replace(&mut self, it: &mut Replacing<K>) {
        self.set_unreadable(std::mem::take(&mut it.unreadable).into_iter().collect());
        self.left_right.set_version(it.resource_version.clone());
        self.synced = true;
        it.stage = Stage::Whole;
    }
}

impl<K> Replacing<K> {
    fn see(&mut self, number: u32) {
        let word = (number / u64::BITS) as usize;
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        self.seen[word] |= 1 << (number % u64::BITS);
    }

    fn has_seen(&self, number: u32) -> bool {
        let word = self.seen.get((number / u64::BITS) as usize);
        word.is_some_and(|word| word >> (number % u64::BITS) & 1 == 1)
    }

    fn take(&mut self, number: u32, object: Arc<K>, old: Option<Arc<K>>) {
        if let Some(repeats) = &mut self.repeats {
            repeats.insert(number, self.taken.len());
        }
        self.taken.push(Taken {
            number,
            object: Some(object),
            old,
        });
    }

    /// Takes away what the list has brought for a number, if it has changed it so far.
    fn withdraw(&mut self, number: u32) -> Option<Taken<K>> {
        let taken = self.taken.iter().enumerate();
        let repeats = self
            .repeats
            .get_or_insert_with(|| taken.map(|(at, taken)| (taken.number, at)).collect());
        let place = &mut self.taken[repeats.remove(&number)?];
        let nothing = Taken {
            number,
            object: None,
            old: None,
        };
        Some(std::mem::replace(place, nothing))
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
