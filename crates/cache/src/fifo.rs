//! `Fifo`: a queue that keeps the latest value of each object, in the order in which objects
//! arrived.
//!
//! It is for consumers that need the current state, not each change: intermediate values are
//! skipped, and an object that is deleted before it is popped is removed. The consumer sees no
//! deletions and no versions, so it cannot maintain a store; [`RealFifo`](crate::RealFifo) and
//! [`DeltaFifo`](crate::DeltaFifo) are for that.
//!
//! The contract is that of client-go's `tools/cache/fifo.go`, with `add_if_not_present` and the
//! requeue on error of older releases. Differences: a list is queued in its own order, not in map
//! order. A deleted object gives up its position too; upstream keeps the position, so adding and
//! deleting without a pop grows the queue, and the first list counts as unhandled until a pop has
//! passed it. A second list before the first was popped replaces it as the first. So the length is
//! at most the number of existing objects.

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
    /// The names in `items`, by position.
    order: BTreeMap<u64, ObjectName>,
    next_place: u64,
    /// Objects with a position below this one belong to the first list …
    initial_end: u64,
    /// … and this many of them are queued.
    initial: usize,
    /// Whether the extent of the first list is settled.
    populated: bool,
    closed: bool,
}

impl<K: Object> Fifo<K> {
    /// Creates an empty queue.
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

    /// Pops the latest value of the object at the front.
    pub fn pop_object(&mut self) -> Option<Arc<K>> {
        let (place, name) = self.order.pop_first()?;
        let (_, object) = self.items.remove(&name)?;
        self.leave(place);
        Some(object)
    }

    /// Pops the object at the front and passes it to `process`, with whether it belongs to the
    /// first list. Returns `None` if the queue is empty. An object that `process` puts back goes to
    /// the end and no longer counts as part of the first list.
    ///
    /// # Errors
    /// The error of `process`; the object is put back or dropped, as the error says.
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

    /// Puts an object back at the end, unless a newer value of it is queued.
    pub fn add_if_not_present(&mut self, object: Arc<K>) {
        self.populated = true;
        if !self.items.contains_key(&object.object_name()) {
            self.put(object);
        }
    }

    /// Returns the queued value of an object.
    pub fn queued(&self, name: &ObjectName) -> Option<&Arc<K>> {
        self.items.get(name).map(|(_, object)| object)
    }

    /// Returns the names in the order in which they will be popped.
    pub fn names(&self) -> impl Iterator<Item = &ObjectName> {
        self.order.values()
    }

    /// Queues the latest value at the object's first position.
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

    /// Does the same as [`add`](Self::add).
    fn update(&mut self, object: Arc<K>) {
        self.add(object);
    }

    /// Removes the object from the queue without notifying the consumer.
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

    /// Does nothing: the latest readable value stays.
    fn unreadable(&mut self, _name: ObjectName, _resource_version: ResourceVersion) {}

    /// Replaces the queued objects by the list, except those that the list could not decode.
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

    /// Does nothing: popped objects are not known here.
    fn resync(&mut self) {}

    /// Does nothing: versions are not delivered.
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
