//! `Indexer`: the writing half of a store.
//!
//! There is one, used through `&mut`: whoever owns it is the only writer. Changes gather in a
//! working copy and become visible to [`Lister`]s together, by [`Indexer::publish`]; objects and
//! indexes never disagree. Differs from client-go: reading is the lister's.

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

/// Errors of index functions kept for [`Indexer::take_index_errors`]; older ones go first.
pub const INDEX_ERRORS_MAX: usize = 100;

/// Writes the objects of one store: what client-go's `Store` and `Indexer` do, without reading.
///
/// An index function that fails, or panics, is the reported error of the object in question
/// ([`Self::take_index_errors`]): the object is stored, and filed under no value of that index.
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
    /// Whether versions of objects say how far the store has come.
    ordered: bool,
    errors: VecDeque<IndexError>,
    errors_total: u64,
    budget: Option<Budget<K>>,
    /// Reused by every index function.
    before: IndexValues,
    after: IndexValues,
}

impl<K: Object> Indexer<K> {
    /// An empty store without indexes.
    pub fn new() -> Self {
        Self {
            left_right: LeftRight::new(),
            synced: false,
            ordered: true,
            errors: VecDeque::new(),
            errors_total: 0,
            budget: None,
            before: IndexValues::default(),
            after: IndexValues::default(),
        }
    }

    /// A reader of what is published.
    pub fn lister(&self) -> Lister<K> {
        Lister {
            published: Arc::clone(self.left_right.published()),
            kept: None,
        }
    }

    /// The working copy, with what is not published yet.
    pub fn snapshot(&self) -> Snapshot<K> {
        Snapshot::new(Arc::clone(self.left_right.state()))
    }

    /// Adds an index, at any time; objects that are there are filed at once. Of several of one
    /// name, look-ups by name mean the first.
    pub fn add_index(&mut self, index: Index<K>) -> IndexHandle<K> {
        let handle = IndexHandle::new(index);
        self.build_index(&handle);
        handle
    }

    /// As [`Self::add_index`], for indexes whose names come from outside.
    ///
    /// # Errors
    /// There is an index of that name. Nothing changes.
    pub fn try_add_index(&mut self, index: Index<K>) -> Result<IndexHandle<K>, IndexNameTaken> {
        let mut present = self.state().indexes.iter().map(|built| built.index.name());
        if present.any(|name| name == index.name()) {
            let name = index.name().clone();
            return Err(IndexNameTaken { name });
        }
        Ok(self.add_index(index))
    }

    /// Keeps the names in order from now on, so that [`Snapshot::range`] need not sort. It costs
    /// memory for the names, and the rewriting of a chunk of them when one comes or goes; changes
    /// of an object cost nothing.
    pub fn keep_order(&mut self) {
        if self.state().order.is_none() {
            let state = self.left_right.edit();
            let names = state.objects.iter().map(|object| object.object_name());
            state.order = Some(Order::of(names.collect()));
        }
    }

    fn find_held(&self, object: &K) -> Option<Arc<K>> {
        // Without a budget nobody asks what was there.
        self.budget.as_ref()?;
        let held = self.state().find(object.namespace(), object.name());
        held.cloned()
    }

    pub(crate) fn state(&self) -> &State<K> {
        self.left_right.state()
    }

    /// The object of this name in the working copy.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        self.state().find(&name.namespace, &name.name).cloned()
    }

    /// The number of objects in the working copy.
    pub fn len(&self) -> usize {
        self.state().objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an object or puts it in the place of the one of its name, which it gives back. The
    /// store's version becomes the object's. (A [budget](Self::set_budget) may refuse or cut it.)
    pub fn upsert(&mut self, object: Arc<K>) -> Option<Arc<K>> {
        self.see_version(object.resource_version());
        self.note_readable(object.namespace(), object.name());
        let held = self.find_held(&object);
        let name = object.object_name();
        let Some(object) = self.admit(object, held.as_ref()) else {
            self.note_unreadable(name);
            return None;
        };
        self.put(object)
    }

    /// Removes an object as a watch reports it: `object` is its last state, and the store's version
    /// becomes that object's.
    pub fn delete(&mut self, object: &K) -> Option<Arc<K>> {
        self.see_version(object.resource_version());
        self.note_readable(object.namespace(), object.name());
        self.take_out(object.namespace(), object.name())
    }

    /// Removes the object of this name, of which nothing else is known; the store's version stays.
    pub fn remove(&mut self, name: &ObjectName) -> Option<Arc<K>> {
        self.note_readable(&name.namespace, &name.name);
        self.take_out(&name.namespace, &name.name)
    }

    /// Tells every object again, for a resync.
    pub fn resync(&self, changes: &mut Vec<ResourceEvent<K>>) {
        let objects = self.state().objects.iter().cloned();
        changes.extend(objects.map(ResourceEvent::Resynced));
    }

    /// Notes that everything up to `version` is in the working copy, but for the names that are
    /// [unreadable](Snapshot::unreadable).
    pub fn bookmark(&mut self, version: ResourceVersion) {
        self.left_right.set_version(version);
    }

    /// Lets only lists and bookmarks say how far the store has come, for sources whose events are
    /// [not ordered](crate::ListerWatcher::is_ordered).
    pub fn ignore_object_versions(&mut self) {
        self.ordered = false;
    }

    /// Whether a whole list was applied once.
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    /// Notes that the first list was applied whole, for consumers of a queue that gives a list
    /// object by object ([`DeltaFifo`](crate::DeltaFifo)): call it once
    /// [`Queue::has_synced`](crate::Queue::has_synced) says so and what was popped is applied.
    pub fn finish_first_list(&mut self) {
        self.synced = true;
    }

    /// What keeps the store from being up to date, for errors of those who wait for it; `None`:
    /// nothing. At once, without [`Self::publish`].
    pub fn set_problem(&mut self, problem: Option<Str>) {
        let published = self.left_right.published();
        published.problem.store(problem.map(Arc::new));
    }

    /// Lets readers see the working copy, and wakes those that wait for something in it.
    pub fn publish(&mut self) {
        self.publish_first();
        while !self.release(usize::MAX) {}
    }

    /// As [`Self::publish`], but keeps what readers no longer see, for [`Self::release`] to free
    /// in pieces: after a list that may be as much as the store holds.
    pub fn publish_first(&mut self) {
        self.left_right.publish();
    }

    /// Frees about so many entries of what readers no longer see; true once nothing is left.
    pub fn release(&mut self, entries: usize) -> bool {
        self.left_right.release(entries)
    }

    /// Errors of index functions since the last call, the latest [`INDEX_ERRORS_MAX`].
    pub fn take_index_errors(&mut self) -> Vec<IndexError> {
        self.errors.drain(..).collect()
    }

    /// How often an index function failed.
    pub fn index_errors_total(&self) -> u64 {
        self.errors_total
    }
}

/// Waits for writes end: nothing will be published any more.
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
