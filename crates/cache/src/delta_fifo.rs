//! `DeltaFifo`: news gathered by object; what informers ran on before [`RealFifo`].
//!
//! An object that changes often is one item with all its deltas, in the place of the first. Order
//! is kept within an object, not between objects. A list becomes one delta for each of its objects
//! and a tombstone for each object that is queued or known and that it does not have.
//!
//! Source of the contract: client-go `tools/cache/delta_fifo.go`; `add_if_not_present` and the
//! requeue on error as they were in older releases. Differs from it:
//! - what the consumer knows is a [`Lister`], so a look-up cannot fail;
//! - an item cannot be empty or without a name, so there are no errors for that;
//! - one object has at most [`DELTAS_MAX`](crate::DELTAS_MAX) deltas; how many objects wait is
//!   bounded by whoever fills it, who processes everything before reading on;
//! - a batch ends with the version up to which nothing is missing (upstream's store has none on
//!   this queue); whoever takes single [`Deltas`] is not told of versions;
//! - what comes from the known objects, tombstones and a resync, comes in the order of their names;
//! - a name that a list could not give a readable object for counts as listed, and is told of as
//!   [`Delta::Unreadable`].
//!
//! [`RealFifo`]: crate::RealFifo

use crate::queue::BATCH_MAX;
use crate::{Batch, Deleted, Delta, Deltas, Lister, ProcessError, Queue, Replacement};
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use kubist_apimachinery::{Object, ObjectName, ResourceVersion};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// How a [`DeltaFifo`] behaves.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "made with struct update")]
pub struct DeltaFifoConfig<K: Object> {
    /// What the consumer has applied and published: the objects that a list may lack and that a
    /// resync tells again. None by default: then only what is queued counts, a resync does
    /// nothing, and a deletion of what is not queued is dropped.
    pub known: Option<Lister<K>>,
    /// Whether objects of a list are [`Delta::Sync`] as resyncs are, instead of
    /// [`Delta::Replaced`]. False by default (upstream's `EmitDeltaTypeReplaced` is its opposite,
    /// and informers turn that on).
    pub list_as_sync: bool,
}

/// A queue that gathers events by object.
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
    /// Names that were told as unreadable and not as anything else since: a list must tell of
    /// them.
    unreadable: BTreeSet<ObjectName>,
    /// The deltas in `items`.
    deltas: usize,
    overflowed: u64,
    /// How many of the first items belong to the first list.
    initial: usize,
    /// Whether anything came that settles what the first list is.
    populated: bool,
    /// The version of the latest news.
    seen: ResourceVersion,
    /// The version when everything had been popped last.
    reported: ResourceVersion,
    /// Whether a list or a bookmark brought a version that is to be told even without an object.
    untold: bool,
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
    /// An empty queue.
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
            untold: false,
            closed: false,
        }
    }

    /// The item in front, without versions. An item of the first list counts as handled from now.
    pub fn pop_deltas(&mut self) -> Option<Deltas<K>> {
        let deltas = self.take_front();
        if deltas.is_none() && std::mem::take(&mut self.untold) {
            self.reported = self.seen.clone();
        }
        deltas
    }

    /// Pops the item in front and processes it; `process` is also told whether it belongs to the
    /// first list. None when the queue is empty. An item that goes back does so to the end, and no
    /// longer counts as one of the first list.
    ///
    /// # Errors
    /// What `process` answered; the item is put back or dropped as it says.
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

    /// Puts an item back at the end, unless there is news of its object: what came later counts.
    pub fn add_if_not_present(&mut self, deltas: Deltas<K>) {
        self.populated = true;
        if let Entry::Vacant(place) = self.items.entry(deltas.object_name().clone()) {
            self.order.push_back(deltas.object_name().clone());
            self.deltas += deltas.len();
            place.insert(deltas);
        }
    }

    /// What is queued for an object.
    pub fn queued(&self, name: &ObjectName) -> Option<&Deltas<K>> {
        self.items.get(name)
    }

    /// The names in the order in which they will be popped.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &ObjectName> {
        self.order.iter()
    }

    /// How many deltas went because their object had too many.
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

    /// Tombstones for what is queued or known and not listed; how many.
    fn bury_missing(&mut self, listed: &HashSet<ObjectName>) -> usize {
        let mut missing = Vec::new();
        for (name, deltas) in self.order.iter().map(|name| (name, &self.items[name])) {
            if !listed.contains(name) {
                let last_known = deltas.iter().rev().find_map(Delta::object);
                missing.push((name.clone(), last_known.cloned()));
            }
        }
        let queued = missing.len();
        if let Some(known) = &self.config.known {
            for object in known.snapshot().iter() {
                let name = object.object_name();
                if !listed.contains(&name) && !self.items.contains_key(&name) {
                    missing.push((name, Some(Arc::clone(object))));
                }
            }
        }
        let known = self.config.known.as_ref();
        let is_missing = |name: &&ObjectName| {
            let is_known = known.is_some_and(|it| it.find(&name.namespace, &name.name).is_some());
            !listed.contains(*name) && !self.items.contains_key(*name) && !is_known
        };
        let unread: Vec<_> = self.unreadable.iter().filter(is_missing).cloned().collect();
        missing.extend(unread.into_iter().map(|name| (name, None)));
        missing[queued..].sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        let count = missing.len();
        for (name, last_known) in missing {
            let tombstone = Deleted::FinalStateUnknown {
                name: name.clone(),
                last_known,
            };
            self.push(name, Delta::Deleted(tombstone));
        }
        count
    }

    /// At most so many items, none of them on the other side of the first list's end.
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
        self.tell_version(&mut deltas);
        (!deltas.is_empty()).then_some(Batch { deltas, initial })
    }

    /// Objects come out of the order of their versions, so a store that went by them would claim
    /// more than it has. It is told what holds: the latest version once nothing waits, before that
    /// the version when nothing waited last.
    fn tell_version(&mut self, deltas: &mut Vec<Delta<K>>) {
        if self.order.is_empty() {
            if std::mem::take(&mut self.untold) || !deltas.is_empty() {
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

    /// Dropped if the object is neither queued nor known: nobody was told of it.
    fn delete(&mut self, object: Arc<K>) {
        self.populated = true;
        if self.is_known(&object.object_name()) {
            self.push_seen(&Arc::clone(&object), Delta::Deleted(Deleted::Known(object)));
        }
    }

    /// Dropped as [`delete`](Self::delete) does it.
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

    /// Of some object: told before anything else that waits, because it may be about any of that.
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
        let mut listed = HashSet::new();
        for object in replacement.objects {
            let name = object.object_name();
            listed.insert(name.clone());
            let delta = if self.config.list_as_sync {
                Delta::Sync(object)
            } else {
                Delta::Replaced(object)
            };
            self.push(name, delta);
        }
        // An object that is listed too came before what could not be read.
        let unreadable: BTreeSet<_> = replacement.unreadable.into_iter().collect();
        for name in unreadable {
            listed.insert(name.clone());
            let unreadable = Delta::Unreadable {
                name: name.clone(),
                resource_version: replacement.resource_version.clone(),
            };
            self.push(name, unreadable);
        }
        let names = listed.len();
        let missing = self.bury_missing(&listed);
        if !std::mem::replace(&mut self.populated, true) {
            self.initial = names + missing;
        }
        if !replacement.resource_version.is_unset() {
            self.seen = replacement.resource_version;
            self.untold = true;
        }
    }

    /// Tells what is known and has no news queued: an old state must not come after a newer one.
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

    /// Told once everything before it was popped.
    fn bookmark(&mut self, resource_version: ResourceVersion) {
        if !resource_version.is_unset() {
            self.seen = resource_version;
            self.untold = true;
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
        self.deltas + usize::from(self.untold)
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}
