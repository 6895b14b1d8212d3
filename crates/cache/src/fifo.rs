//! `Fifo`: the latest value of each object, in the order in which objects came.
//!
//! For consumers that care for what is, not for what happened: values in between are never seen,
//! and an object that is deleted before it was popped just leaves. A consumer is not told of
//! deletions nor of versions, so a store cannot be kept by it; [`RealFifo`](crate::RealFifo) and
//! [`DeltaFifo`](crate::DeltaFifo) are for that.
//!
//! Source of the contract: client-go `tools/cache/fifo.go`; `add_if_not_present` and the requeue
//! on error as they were in older releases. Differs from it: a list is queued in its own order, not
//! in that of a map; an object that is deleted leaves its place too (upstream keeps the place, so
//! that adding and deleting without a pop grows the queue, and the first list counts as unhandled
//! until a pop has passed it); a second list before the first was popped takes over as the first.
//! So its length is at most the number of objects that exist.

use crate::queue::BATCH_MAX;
use crate::{Batch, Delta, ProcessError, Queue, Replacement};
use hashbrown::HashMap;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A queue that keeps the latest value of each object.
///
/// ```
/// use std::sync::Arc;
/// use kubist_apimachinery::ObjectMeta;
/// use kubist_cache::{Fifo, Queue};
///
/// let pod = |version: &str| {
///     let (name, resource_version) = ("web".into(), version.into());
///     Arc::new(ObjectMeta { name, resource_version, ..Default::default() })
/// };
/// let mut queue = Fifo::new();
/// queue.add(pod("1"));
/// queue.update(pod("2"));
/// assert_eq!(queue.pop_object(), Some(pod("2")));
/// assert_eq!(queue.pop_object(), None);
/// ```
pub struct Fifo<K> {
    items: HashMap<ObjectName, (u64, Arc<K>)>,
    /// The names in `items`, by their places.
    order: BTreeMap<u64, ObjectName>,
    next_place: u64,
    /// Objects with a place before this one belong to the first list …
    initial_end: u64,
    /// … and these many of them are queued.
    initial: usize,
    /// Whether anything came that settles what the first list is.
    populated: bool,
    closed: bool,
}

impl<K: Object> Fifo<K> {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            items: HashMap::new(),
            order: BTreeMap::new(),
            next_place: 0,
            initial_end: 0,
            initial: 0,
            populated: false,
            closed: false,
        }
    }

    /// The latest value of the object in front.
    pub fn pop_object(&mut self) -> Option<Arc<K>> {
        let (place, name) = self.order.pop_first()?;
        let (_, object) = self.items.remove(&name)?;
        self.leave(place);
        Some(object)
    }

    /// Pops the object in front and processes it; `process` is also told whether it belongs to the
    /// first list. None when the queue is empty. An object that goes back does so to the end, and
    /// no longer counts as one of the first list.
    ///
    /// # Errors
    /// What `process` answered; the object is put back or dropped as it says.
    pub fn process<E>(
        &mut self,
        process: impl FnOnce(&Arc<K>, bool) -> Result<(), ProcessError<E>>,
    ) -> Option<Result<(), E>> {
        let initial = !self.has_synced();
        let object = self.pop_object()?;
        let result = process(&object, initial);
        let put_back = |object| self.add_if_not_present(object);
        Some(ProcessError::settle(result, object, put_back))
    }

    /// Puts an object back at the end, unless it is queued: that value is the later one.
    pub fn add_if_not_present(&mut self, object: Arc<K>) {
        self.populated = true;
        if !self.items.contains_key(&object.object_name()) {
            self.put(object);
        }
    }

    /// The value that is queued for an object.
    pub fn queued(&self, name: &ObjectName) -> Option<&Arc<K>> {
        self.items.get(name).map(|(_, object)| object)
    }

    /// The names in the order in which they will be popped.
    pub fn names(&self) -> impl Iterator<Item = &ObjectName> {
        self.order.values()
    }

    /// The latest value counts; the place is that of the first.
    fn put(&mut self, object: Arc<K>) {
        let name = object.object_name();
        if let Some((_, queued)) = self.items.get_mut(&name) {
            *queued = object;
            return;
        }
        let place = self.next_place;
        self.next_place += 1;
        self.order.insert(place, name.clone());
        self.items.insert(name, (place, object));
    }

    fn leave(&mut self, place: u64) {
        if place < self.initial_end {
            self.initial -= 1;
        }
    }

    fn take(&mut self, objects_max: usize) -> Option<Batch<K>> {
        let initial = !self.has_synced();
        let mut deltas = Vec::new();
        while deltas.len() < objects_max && initial != self.has_synced() {
            let Some(object) = self.pop_object() else {
                break;
            };
            deltas.push(Delta::Updated(object));
        }
        (!deltas.is_empty()).then_some(Batch { deltas, initial })
    }
}

impl<K: Object> Default for Fifo<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Object> fmt::Debug for Fifo<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.order.values().map(|name| {
            let version = self.queued(name).map(|object| object.resource_version());
            format!("{name}@{}", version.unwrap_or_default())
        });
        f.debug_list().entries(objects).finish()
    }
}

impl<K: Object> Queue<K> for Fifo<K> {
    fn add(&mut self, object: Arc<K>) {
        self.populated = true;
        self.put(object);
    }

    /// The same as [`add`](Self::add).
    fn update(&mut self, object: Arc<K>) {
        self.add(object);
    }

    /// Takes the object out; whoever pops is not told.
    fn delete(&mut self, object: Arc<K>) {
        self.populated = true;
        if let Some((place, _)) = self.items.remove(&object.object_name()) {
            self.order.remove(&place);
            self.leave(place);
        }
    }

    fn delete_unread(&mut self, name: ObjectName, _resource_version: ResourceVersion) {
        self.populated = true;
        if let Some((place, _)) = self.items.remove(&name) {
            self.order.remove(&place);
            self.leave(place);
        }
    }

    /// Does nothing: the latest value that could be read stays the latest.
    fn unreadable(&mut self, _name: ObjectName, _resource_version: ResourceVersion) {}

    /// What is queued makes room for the list, except what the list has and could not read.
    fn replace(&mut self, replacement: Replacement<K>) {
        let first = !self.has_synced();
        let mut kept: Vec<_> = replacement
            .unreadable
            .iter()
            .filter_map(|name| self.items.remove(name))
            .collect();
        kept.sort_unstable_by_key(|(place, _)| *place);
        self.items.clear();
        self.order.clear();
        let kept = kept.into_iter().map(|(_, object)| object);
        kept.chain(replacement.objects)
            .for_each(|object| self.put(object));
        self.populated = true;
        self.initial_end = if first { self.next_place } else { 0 };
        self.initial = if first { self.items.len() } else { 0 };
    }

    /// Does nothing: what was popped is not known here.
    fn resync(&mut self) {}

    /// Does nothing: versions are not told.
    fn bookmark(&mut self, _resource_version: ResourceVersion) {}

    fn pop(&mut self) -> Option<Batch<K>> {
        self.take(1)
    }

    fn pop_batch(&mut self) -> Option<Batch<K>> {
        self.take(BATCH_MAX)
    }

    fn has_synced(&self) -> bool {
        self.populated && self.initial == 0
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}
