//! `Overlay`: a view of a cache that already includes one's own writes.
//!
//! It reads a lister and adds writes that the watch has not delivered yet. It is not a cache of its
//! own: an own write is dropped as soon as the store has reached it, and never hides a newer state.
//!
//! The idea is that of client-go's mutation cache (`tools/cache/mutation_cache.go`). Differences:
//! nothing stays until a timer expires; index look-ups use the written object; deletions hide
//! objects; versions that are not numbers are handled.

use crate::index::IndexValues;
use crate::store::State;
use crate::{IndexHandle, Lister, Visibility, Written};
use arc_swap::Guard;
use kubist_apimachinery::{Object, ObjectName, Selector, Str};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The maximum number of objects with own writes in an overlay. Beyond it the oldest is dropped,
/// and readers see the state of the store.
pub const OVERLAY_MAX: usize = 10_000;

/// A lister with own writes on top. Clones share the writes.
///
/// ```
/// use std::sync::Arc;
/// use kubist_apimachinery::{ObjectMeta, ObjectName};
/// use kubist_cache::{Indexer, Overlay};
///
/// let indexer = Indexer::<ObjectMeta>::new();
/// let overlay = Overlay::new(indexer.lister());
/// let name = ObjectName::cluster("web");
/// let (named, resource_version) = ("web".into(), "7".into());
/// let meta = ObjectMeta { name: named, resource_version, ..Default::default() };
/// overlay.saved(Arc::new(meta)); // what the server answered
/// assert!(overlay.get(&name).is_some());
/// overlay.deleted(name.clone(), "");
/// assert!(overlay.get(&name).is_none());
/// ```
pub struct Overlay<K> {
    lister: Lister<K>,
    own: Arc<Mutex<OwnWrites<K>>>,
    selects: Option<Arc<Selects<K>>>,
}

type Selects<K> = dyn Fn(&K) -> bool + Send + Sync;

struct OwnWrites<K> {
    by_name: BTreeMap<ObjectName, Own<K>>,
    order: BTreeMap<u64, ObjectName>,
    next_place: u64,
}

struct Own<K> {
    written: Written,
    /// `None`: deleted, or no longer selected.
    object: Option<Arc<K>>,
    /// The uid and version of the stored object when this was written.
    base: Option<(Str, Str)>,
    place: u64,
}

/// Own writes that a state does not include.
type Unseen<K> = BTreeMap<ObjectName, Option<Arc<K>>>;

impl<K: Object> Overlay<K> {
    /// Creates an overlay without writes.
    pub fn new(lister: Lister<K>) -> Self {
        Self {
            lister,
            own: Arc::new(Mutex::new(OwnWrites {
                by_name: BTreeMap::new(),
                order: BTreeMap::new(),
                next_place: 0,
            })),
            selects: None,
        }
    }

    /// For a lister of selected objects only: own objects that do not match the selection are
    /// hidden, as the watch will hide them. This applies to later writes that are recorded through
    /// this clone.
    #[must_use]
    pub fn selecting(mut self, selects: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.selects = Some(Arc::new(selects));
        self
    }

    /// Returns the underlying lister.
    pub fn lister(&self) -> &Lister<K> {
        &self.lister
    }

    /// Records an object that the server returned to a create, update or patch. It is ignored if it
    /// has no version, or is older than the stored object or an earlier write.
    pub fn saved(&self, object: Arc<K>) {
        let written = Written::saved(&*object);
        if written.is_traceable() {
            let is_selected = self.selects.as_ref().is_none_or(|it| it(&object));
            self.record(written, is_selected.then_some(object));
        }
    }

    /// Hides an object that was deleted. An empty uid means any object of that name.
    pub fn deleted(&self, name: ObjectName, uid: impl Into<Str>) {
        self.record(Written::deleted(name, uid), None);
    }

    /// Does the same as [`Self::deleted`]. `object` is its last known state, so that a store which
    /// has not reached it does not show an earlier object of that name.
    pub fn deleted_object(&self, object: &K) {
        self.record(Written::deleted_object(object), None);
    }

    fn record(&self, mut written: Written, object: Option<Arc<K>>) {
        let name = written.name.clone();
        let mut own = self.own.lock();
        let state = self.lister.published.state.load();
        let held = state.find(&name.namespace, &name.name);
        let base = held.map(|it| (it.uid().into(), it.resource_version().into()));
        if let Some(held) = held
            && written.uid.is_empty()
            && !own.by_name.contains_key(&name)
        {
            written.uid = held.uid().into();
        }
        let mut new = Own {
            written,
            object,
            base,
            place: own.next_place,
        };
        if let Some(old) = own.take(&name) {
            let kept = old.written.clone().then(new.written.clone());
            // Both may have the same version; then either is correct.
            if kept == old.written {
                new.object = old.object;
            }
            new.written = kept;
        }
        if new.is_settled(&state) {
            return;
        }
        own.next_place += 1;
        own.order.insert(new.place, name.clone());
        own.by_name.insert(name, new);
        if own.by_name.len() > OVERLAY_MAX
            && let Some(oldest) = own.order.values().next().cloned()
        {
            own.take(&oldest);
        }
    }

    /// Returns the number of objects whose latest own write the store does not include.
    pub fn unseen_len(&self) -> usize {
        self.unseen().1.len()
    }

    /// Returns the object of this name.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        let mut own = self.own.lock();
        let state = self.lister.published.state.load();
        if let Some(found) = own.by_name.get(name) {
            if !found.is_settled(&state) {
                return found.object.clone();
            }
            own.take(name);
        }
        drop(own);
        state.find(&name.namespace, &name.name).cloned()
    }

    /// Returns all objects in no particular order.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.read(|state| state.objects.iter().cloned().collect(), |_| true)
    }

    /// Returns the objects that have this index value.
    pub fn by_index(&self, handle: &IndexHandle<K>, value: &str) -> Vec<Arc<K>> {
        let is_filed = |object: &K| {
            let mut values = IndexValues::default();
            handle.index.collect(object, &mut values).is_ok() && values.contains(value)
        };
        self.read(|state| state.by_index(&handle.index, value), is_filed)
    }

    /// Returns the objects that match a label selector, in one namespace or in all.
    pub fn select(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Arc<K>> {
        let matches = |object: &K| {
            namespace.is_none_or(|namespace| object.namespace() == namespace)
                && selector.matches_object(object)
        };
        self.read(|state| state.select(namespace, selector), matches)
    }

    /// Returns what `stored` finds in the store, replacing objects written since by those for which
    /// `belongs` is true.
    fn read(
        &self,
        stored: impl FnOnce(&State<K>) -> Vec<Arc<K>>,
        belongs: impl Fn(&K) -> bool,
    ) -> Vec<Arc<K>> {
        let (state, unseen) = self.unseen();
        let mut found = stored(&state);
        if unseen.is_empty() {
            return found;
        }
        found.retain(|object| !unseen.contains_key(&object.object_name()));
        found.extend(unseen.into_values().flatten().filter(|it| belongs(it)));
        found
    }

    /// Returns the store's state and the own writes that it does not include; drops the others.
    fn unseen(&self) -> (Guard<Arc<State<K>>>, Unseen<K>) {
        let mut own = self.own.lock();
        // Within the lock: a write that another call dropped is included in any state loaded from
        // now on.
        let state = self.lister.published.state.load();
        let mut unseen = Unseen::new();
        let mut settled = Vec::new();
        for (name, it) in &own.by_name {
            if it.is_settled(&state) {
                settled.push(name.clone());
            } else {
                unseen.insert(name.clone(), it.object.clone());
            }
        }
        for name in settled {
            own.take(&name);
        }
        (state, unseen)
    }
}

impl<K> OwnWrites<K> {
    fn take(&mut self, name: &ObjectName) -> Option<Own<K>> {
        let own = self.by_name.remove(name)?;
        self.order.remove(&own.place);
        Some(own)
    }
}

impl<K: Object> Own<K> {
    /// Reports whether the store's state is authoritative for this object again.
    fn is_settled(&self, state: &State<K>) -> bool {
        match self.written.visibility(state) {
            Visibility::Shown => true,
            Visibility::NotYet => false,
            // Whether it is older or newer is unknown, but the watch has passed the state that was
            // replaced.
            Visibility::Unknown => {
                let name = &self.written.name;
                let held = state.find(&name.namespace, &name.name);
                let held = held.map(|it| (it.uid(), it.resource_version()));
                let base = self.base.as_ref();
                held != base.map(|(uid, version)| (uid.as_str(), version.as_str()))
            }
        }
    }
}

impl<K> Clone for Overlay<K> {
    fn clone(&self) -> Self {
        Self {
            lister: self.lister.clone(),
            own: Arc::clone(&self.own),
            selects: self.selects.clone(),
        }
    }
}

impl<K: Object> fmt::Debug for Overlay<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlay")
            .field("unseen", &self.unseen_len())
            .field("lister", &self.lister)
            .finish_non_exhaustive()
    }
}
