//! `DeltaFifo`: a queue that groups deltas by object. Informers used it before [`RealFifo`].
//!
//! An object that changes often is one item with all its deltas, at the position of the first.
//! Order is kept per object, not between objects. A list becomes one delta per listed object, and a
//! tombstone for each queued or known object that the list lacks.
//!
//! The contract is that of client-go's `tools/cache/delta_fifo.go`, with `add_if_not_present` and
//! the requeue on error of older releases. Differences:
//! - known objects are a [`Lister`], so a look-up cannot fail;
//! - an item always has a name and at least one delta, so there are no errors for their absence;
//! - one object has at most [`DELTAS_MAX`](crate::DELTAS_MAX) deltas; the number of queued objects
//!   is bounded by the producer, which processes everything before it reads on;
//! - a batch ends with the resource version up to which it is complete (upstream's store has none
//!   on this queue); a consumer of single [`Deltas`] receives no versions;
//! - tombstones and resyncs of known objects come in the order of their names;
//! - an object that a list contains but that cannot be decoded counts as listed, and becomes a
//!   [`Delta::Unreadable`].
//!
//! [`RealFifo`]: crate::RealFifo

mod replace;

use crate::queue::BATCH_MAX;
use crate::{Batch, Deleted, Delta, Deltas, Lister, ProcessError, Queue, Replacement};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The configuration of a [`DeltaFifo`].
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "made with struct update")]
pub struct DeltaFifoConfig<K: Object> {
    /// The objects that the consumer has applied and published. They are compared with lists and
    /// repeated by resyncs. Default: none, so only queued objects are compared, a resync does
    /// nothing, and the deletion of an object that is not queued is dropped.
    pub known: Option<Lister<K>>,
    /// Whether the objects of a list are [`Delta::Sync`], as in resyncs, instead of
    /// [`Delta::Replaced`]. Default: false. (Upstream's `EmitDeltaTypeReplaced` is the opposite,
    /// and informers set it.)
    pub list_as_sync: bool,
}

/// A queue that groups deltas by object.
///
/// ```
/// use std::sync::Arc;
/// use kubist_apimachinery::ObjectMeta;
/// use kubist_cache::{DeltaFifo, DeltaFifoConfig, Queue};
///
/// let pod = |name: &str| Arc::new(ObjectMeta { name: name.into(), ..Default::default() });
/// let mut queue = DeltaFifo::new(DeltaFifoConfig::default());
/// queue.add(pod("a"));
/// queue.add(pod("b"));
/// queue.delete(pod("a"));
/// assert_eq!(format!("{:?}", queue.pop()), "Some([Added(a@), Known(a)])");
/// assert_eq!(format!("{:?}", queue.pop()), "Some([Added(b@)])");
/// ```
pub struct DeltaFifo<K: Object> {
    config: DeltaFifoConfig<K>,
    items: HashMap<ObjectName, Deltas<K>>,
    /// The names in `items`, each once, in the order of their first delta.
    order: VecDeque<ObjectName>,
    /// Names of objects that were last queued as unreadable; the next list must account for them.
    unreadable: BTreeSet<ObjectName>,
    /// The number of deltas in `items`.
    deltas: usize,
    overflowed: u64,
    /// How many of the first items belong to the first list.
    initial: usize,
    /// Whether the extent of the first list is settled.
    populated: bool,
    /// The latest resource version received.
    seen: ResourceVersion,
    /// The resource version at which the queue was last empty.
    reported: ResourceVersion,
    /// Whether a list or bookmark brought a version that must be delivered even without an object.
    version_pending: bool,
    closed: bool,
}

impl<K: Object> Default for DeltaFifoConfig<K> {
    fn default() -> Self {
        Self {
            known: None,
            list_as_sync: false,
        }
    }
}

impl<K: Object> DeltaFifo<K> {
    /// Creates an empty queue.
    pub fn new(config: DeltaFifoConfig<K>) -> Self {
        Self {
            config,
            items: HashMap::new(),
            order: VecDeque::new(),
            unreadable: BTreeSet::new(),
            deltas: 0,
            overflowed: 0,
            initial: 0,
            populated: false,
            seen: ResourceVersion::default(),
            reported: ResourceVersion::default(),
            version_pending: false,
            closed: false,
        }
    }

    /// Pops the item at the front, without versions. An item of the first list counts as handled
    /// from then on.
    pub fn pop_deltas(&mut self) -> Option<Deltas<K>> {
        let deltas = self.take_front();
        if deltas.is_none() && std::mem::take(&mut self.version_pending) {
            self.reported = self.seen.clone();
        }
        deltas
    }

    /// Pops the item at the front and passes it to `process`, with whether it belongs to the first
    /// list. Returns `None` if the queue is empty. An item that `process` puts back goes to the end
    /// and no longer counts as part of the first list.
    ///
    /// # Errors
    /// The error of `process`; the item is put back or dropped, as the error says.
    pub fn process<E>(
        &mut self,
        process: impl FnOnce(&Deltas<K>, bool) -> Result<(), ProcessError<E>>,
    ) -> Option<Result<(), E>> {
        let initial = !self.has_synced();
        let deltas = self.pop_deltas()?;
        let result = process(&deltas, initial);
        let put_back = |deltas| self.add_if_not_present(deltas);
        Some(ProcessError::settle(result, deltas, put_back))
    }

    /// Puts an item back at the end, unless newer deltas of its object are queued.
    pub fn add_if_not_present(&mut self, deltas: Deltas<K>) {
        self.populated = true;
        if let Entry::Vacant(place) = self.items.entry(deltas.object_name().clone()) {
            self.order.push_back(deltas.object_name().clone());
            self.deltas += deltas.len();
            place.insert(deltas);
        }
    }

    /// Returns the queued deltas of an object.
    pub fn queued(&self, name: &ObjectName) -> Option<&Deltas<K>> {
        self.items.get(name)
    }

    /// Returns the names in the order in which they will be popped.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &ObjectName> {
        self.order.iter()
    }

    /// Returns how many deltas were dropped because their object had too many.
    pub fn overflowed_total(&self) -> u64 {
        self.overflowed
    }

    fn take_front(&mut self) -> Option<Deltas<K>> {
        let deltas = self.items.remove(&self.order.pop_front()?)?;
        self.deltas -= deltas.len();
        self.initial = self.initial.saturating_sub(1);
        Some(deltas)
    }

    fn push(&mut self, name: ObjectName, delta: Delta<K>) {
        if matches!(delta, Delta::Unreadable { .. }) {
            self.unreadable.insert(name.clone());
        } else if !matches!(delta, Delta::Sync(_)) || self.config.list_as_sync {
            self.unreadable.remove(&name);
        }
        match self.items.entry(name) {
            Entry::Occupied(mut item) => {
                let before = item.get().len();
                self.overflowed += u64::from(item.get_mut().push(delta));
                self.deltas += item.get().len() - before;
            }
            Entry::Vacant(place) => {
                let name = place.key().clone();
                self.order.push_back(name.clone());
                self.deltas += 1;
                place.insert(Deltas::new(name, delta));
            }
        }
    }

    fn push_seen(&mut self, object: &Arc<K>, delta: Delta<K>) {
        self.populated = true;
        self.see(object.resource_version());
        self.push(object.object_name(), delta);
    }

    fn see(&mut self, version: &str) {
        if !version.is_empty() && self.seen != *version {
            self.seen = version.into();
        }
    }

    fn is_known(&self, name: &ObjectName) -> bool {
        let known = self.config.known.as_ref();
        self.items.contains_key(name)
            || self.unreadable.contains(name)
            || known.is_some_and(|it| it.find(&name.namespace, &name.name).is_some())
    }

    /// Pops at most this many items, all of the first list or all after it.
    fn take(&mut self, items_max: usize) -> Option<Batch<K>> {
        let initial = !self.has_synced();
        let mut deltas = Vec::new();
        for _ in 0..items_max {
            if initial == self.has_synced() {
                break;
            }
            let Some(item) = self.take_front() else { break };
            deltas.extend(item);
        }
        self.push_version(&mut deltas);
        (!deltas.is_empty()).then_some(Batch { deltas, initial })
    }

    /// Appends the version up to which the consumer's store is complete.
    ///
    /// Objects leave the queue out of version order, so a store that took its version from them
    /// would claim too much. The version is the latest one once the queue is empty; until then it
    /// is the version at which the queue was last empty.
    fn push_version(&mut self, deltas: &mut Vec<Delta<K>>) {
        if self.order.is_empty() {
            if std::mem::take(&mut self.version_pending) || !deltas.is_empty() {
                self.reported = self.seen.clone();
            } else {
                return;
            }
        }
        if !self.seen.is_unset() {
            deltas.push(Delta::Bookmark(self.reported.clone()));
        }
    }
}

impl<K: Object> Default for DeltaFifo<K> {
    fn default() -> Self {
        Self::new(DeltaFifoConfig::default())
    }
}

impl<K: Object> fmt::Debug for DeltaFifo<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = self.order.iter().map(|name| &self.items[name]);
        f.debug_list().entries(items).finish()
    }
}

impl<K: Object> Queue<K> for DeltaFifo<K> {
    fn add(&mut self, object: Arc<K>) {
        self.push_seen(&Arc::clone(&object), Delta::Added(object));
    }

    fn update(&mut self, object: Arc<K>) {
        self.push_seen(&Arc::clone(&object), Delta::Updated(object));
    }

    /// Drops the deletion of an object that is neither queued nor known: no consumer has seen it.
    fn delete(&mut self, object: Arc<K>) {
        self.populated = true;
        if self.is_known(&object.object_name()) {
            self.push_seen(&Arc::clone(&object), Delta::Deleted(Deleted::Known(object)));
        }
    }

    /// Drops the deletion under the same condition as [`delete`](Self::delete).
    fn delete_unread(&mut self, name: ObjectName, resource_version: ResourceVersion) {
        self.populated = true;
        self.see(resource_version.as_str());
        if self.is_known(&name) {
            let deleted = Deleted::FinalStateUnknown {
                name: name.clone(),
                last_known: None,
            };
            self.push(name, Delta::Deleted(deleted));
        }
    }

    /// An unreadable object without a name goes to the front, because it may be any queued object.
    fn unreadable(&mut self, name: ObjectName, resource_version: ResourceVersion) {
        let initial = !self.has_synced() && self.populated;
        self.populated = true;
        self.see(resource_version.as_str());
        if name == ObjectName::default() && !self.items.contains_key(&name) {
            let unreadable = Delta::Unreadable {
                name: name.clone(),
                resource_version,
            };
            self.push(name, unreadable);
            let last = self.order.pop_back();
            if let Some(name) = last {
                self.order.push_front(name);
            }
            self.initial += usize::from(initial);
            return;
        }
        let unreadable = Delta::Unreadable {
            name: name.clone(),
            resource_version,
        };
        self.push(name, unreadable);
    }

    fn replace(&mut self, replacement: Replacement<K>) {
        self.replace_all(replacement);
    }

    /// Queues the known objects that have no queued deltas: an old state must not follow a newer
    /// one.
    fn resync(&mut self) {
        let Some(known) = &self.config.known else {
            return;
        };
        let mut objects = known.list();
        objects.sort_unstable_by(|left, right| {
            let (namespace, name) = (right.namespace(), right.name());
            (left.namespace(), left.name()).cmp(&(namespace, name))
        });
        for object in objects {
            let name = object.object_name();
            if !self.items.contains_key(&name) {
                self.push(name, Delta::Sync(object));
            }
        }
    }

    /// The version is delivered once everything before it was popped.
    fn bookmark(&mut self, resource_version: ResourceVersion) {
        if !resource_version.is_unset() {
            self.seen = resource_version;
            self.version_pending = true;
        }
    }

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
        self.deltas + usize::from(self.version_pending)
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}
