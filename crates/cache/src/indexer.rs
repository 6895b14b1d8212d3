//! `Indexer`: the writing half of a store.
//!
//! There is one per store, used through `&mut`, so its owner is the only writer. Changes accumulate
//! in a working copy and become visible to [`Lister`]s together, by [`Indexer::publish`]; objects
//! and indexes are always consistent. Unlike client-go's indexer, it does not read; the lister
//! does.

use self::budget::Budget;
use crate::index::{Index, IndexError, IndexHandle, IndexNameTaken, IndexValues};
use crate::left_right::LeftRight;
use crate::order::Order;
use crate::store::State;
use crate::{Lister, ResourceEvent, Snapshot};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion, Str};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

mod apply;
mod budget;
mod filing;
mod indexing;
mod replacing;
#[cfg(test)]
mod tests;
mod transaction;
mod unreadable;

pub use budget::BUDGET_ERRORS_MAX;
pub use indexing::Indexing;
pub use replacing::Replacing;
pub use transaction::{NoName, StoreWrite, TransactionError};

/// The number of index errors kept for [`Indexer::take_index_errors`]; older ones are dropped.
pub const INDEX_ERRORS_MAX: usize = 100;

/// Writes the objects of one store. It is the writing part of client-go's `Store` and `Indexer`.
///
/// An index function that fails or panics is reported as an error of that object
/// ([`Self::take_index_errors`]). The object is stored, and has no values in that index.
///
/// ```
/// use std::sync::Arc;
/// use kubist_apimachinery::ObjectMeta;
/// use kubist_cache::{Index, Indexer};
///
/// let mut indexer = Indexer::new();
/// let by_namespace = indexer.add_index(Index::namespace());
/// let meta = ObjectMeta { name: "web".into(), namespace: "shop".into(), ..Default::default() };
/// indexer.upsert(Arc::new(meta));
/// let lister = indexer.lister();
/// assert!(lister.is_empty(), "not published yet");
/// indexer.publish();
/// assert_eq!(lister.by_index(&by_namespace, "shop").len(), 1);
/// ```
pub struct Indexer<K> {
    left_right: LeftRight<K>,
    synced: bool,
    /// Whether object versions determine the store's version.
    ordered: bool,
    errors: VecDeque<IndexError>,
    errors_total: u64,
    budget: Option<Budget<K>>,
    /// Reused by every index function.
    before: IndexValues,
    /// The values of an object in each index, as last collected.
    after: Vec<IndexValues>,
}

impl<K: Object> Indexer<K> {
    /// Creates an empty store without indexes.
    pub fn new() -> Self {
        Self {
            left_right: LeftRight::new(),
            synced: false,
            ordered: true,
            errors: VecDeque::new(),
            errors_total: 0,
            budget: None,
            before: IndexValues::default(),
            after: Vec::new(),
        }
    }

    /// Returns a reader of the published state.
    pub fn lister(&self) -> Lister<K> {
        Lister {
            published: Arc::clone(self.left_right.published()),
            kept: None,
        }
    }

    /// Returns the working copy, including changes that are not published yet.
    pub fn snapshot(&self) -> Snapshot<K> {
        Snapshot::new(Arc::clone(self.left_right.state()))
    }

    /// Adds an index at any time; existing objects are indexed at once. If several indexes have the
    /// same name, look-ups by name use the first.
    pub fn add_index(&mut self, index: Index<K>) -> IndexHandle<K> {
        let handle = IndexHandle::new(index);
        self.build_index(&handle);
        handle
    }

    /// Does the same as [`Self::add_index`], for index names that come from outside the program.
    ///
    /// # Errors
    /// An index of that name exists. Nothing changes.
    pub fn try_add_index(&mut self, index: Index<K>) -> Result<IndexHandle<K>, IndexNameTaken> {
        let mut present = self.state().indexes.iter().map(|built| built.index.name());
        if present.any(|name| name == index.name()) {
            let name = index.name().clone();
            return Err(IndexNameTaken { name });
        }
        Ok(self.add_index(index))
    }

    /// Keeps the names sorted from now on, so that [`Snapshot::range`] need not sort. This takes
    /// memory for the names, and rewrites a chunk of them when an object is added or deleted;
    /// updates cost nothing.
    pub fn keep_order(&mut self) {
        if self.state().order.is_none() {
            let state = self.left_right.edit();
            let names = state.objects.iter().map(|object| object.object_name());
            state.order = Some(Order::of(names.collect()));
        }
    }

    fn find_held(&self, object: &K) -> Option<Arc<K>> {
        // The previous size matters only with a budget.
        self.budget.as_ref()?;
        let held = self.state().find(object.namespace(), object.name());
        held.cloned()
    }

    pub(crate) fn state(&self) -> &State<K> {
        self.left_right.state()
    }

    /// Returns the object of this name from the working copy.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        self.state().find(&name.namespace, &name.name).cloned()
    }

    /// Returns the number of objects in the working copy.
    pub fn len(&self) -> usize {
        self.state().objects.len()
    }

    /// Reports whether the working copy is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an object or replaces the one of the same name, which is returned. The store's version
    /// becomes the object's. A [budget](Self::set_budget) may refuse the object or reduce it to
    /// metadata.
    pub fn upsert(&mut self, object: Arc<K>) -> Option<Arc<K>> {
        self.see_version(object.resource_version());
        self.note_readable(object.namespace(), object.name());
        if self.budget.is_some() {
            let held = self.find_held(&object);
            let name = object.object_name();
            let Some(object) = self.admit(object, held.as_ref()) else {
                self.note_unreadable(name);
                return None;
            };
            return self.put(object);
        }
        self.put(object)
    }

    /// Removes an object that a watch reported as deleted. `object` is its last state; the store's
    /// version becomes that of `object`.
    pub fn delete(&mut self, object: &K) -> Option<Arc<K>> {
        self.see_version(object.resource_version());
        self.note_readable(object.namespace(), object.name());
        self.take_out(object.namespace(), object.name())
    }

    /// Removes the object of this name. The store's version does not change.
    pub fn remove(&mut self, name: &ObjectName) -> Option<Arc<K>> {
        self.note_readable(&name.namespace, &name.name);
        self.take_out(&name.namespace, &name.name)
    }

    /// Emits an event for every object, for a resync.
    pub fn resync(&self, changes: &mut Vec<ResourceEvent<K>>) {
        let objects = self.state().objects.iter().cloned();
        changes.extend(objects.map(ResourceEvent::Resynced));
    }

    /// Records that the working copy is complete up to `version`, except for the names that are
    /// [unreadable](Snapshot::unreadable).
    pub fn bookmark(&mut self, version: ResourceVersion) {
        self.left_right.set_version(version);
    }

    /// Takes the store's version from lists and bookmarks only, for sources whose events are [not
    /// ordered](crate::ListerWatcher::is_ordered).
    pub fn ignore_object_versions(&mut self) {
        self.ordered = false;
    }

    /// Reports whether a complete list was applied.
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    /// Records that the first list was applied completely, for consumers of a queue that delivers a
    /// list object by object ([`DeltaFifo`](crate::DeltaFifo)). Call it once
    /// [`Queue::has_synced`](crate::Queue::has_synced) returns true and everything popped is
    /// applied.
    pub fn finish_first_list(&mut self) {
        self.synced = true;
    }

    /// Sets the problem that keeps the store from being up to date; errors of waits for the store
    /// include it. It takes effect at once, without [`Self::publish`].
    pub fn set_problem(&mut self, problem: Option<Str>) {
        let published = self.left_right.published();
        published.problem.store(problem.map(Arc::new));
    }

    /// Makes the working copy visible to readers and wakes those that wait for a change in it.
    pub fn publish(&mut self) {
        self.publish_first();
        while !self.release(usize::MAX) {}
    }

    /// Does the same as [`Self::publish`], but keeps the state that readers no longer see, for
    /// [`Self::release`] to free in steps: after a list it may be as large as the store.
    pub fn publish_first(&mut self) {
        self.left_right.publish();
    }

    /// Frees about this many entries of states that readers no longer see; returns true once
    /// nothing is left.
    pub fn release(&mut self, entries: usize) -> bool {
        self.left_right.release(entries)
    }

    /// Returns the errors of index functions since the last call, at most [`INDEX_ERRORS_MAX`].
    pub fn take_index_errors(&mut self) -> Vec<IndexError> {
        self.errors.drain(..).collect()
    }

    /// Returns how many times an index function failed.
    pub fn index_errors_total(&self) -> u64 {
        self.errors_total
    }
}

/// Ends the waits for writes: nothing will be published any more.
impl<K> Drop for Indexer<K> {
    fn drop(&mut self) {
        self.left_right.published().close();
    }
}

impl<K: Object> Default for Indexer<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Indexer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer")
            .field(
                "resource_version",
                &self.left_right.state().resource_version,
            )
            .field("len", &self.left_right.state().objects.len())
            .finish_non_exhaustive()
    }
}
