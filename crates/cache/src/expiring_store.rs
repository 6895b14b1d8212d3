//! `ExpiringStore`: a store whose objects expire some time after they were added.
//!
//! Expired objects are invisible, and are dropped when the store is next used. There is no clock:
//! the caller passes the time. The store is for results that can be looked up again; it has no
//! indexes, no versions and no concurrent readers, which [`Indexer`](crate::Indexer) has.
//!
//! The contract is that of client-go's `tools/cache/expiration_cache.go`. Differences: the policy
//! is called when an object is added; `names` omits expired objects, as all other methods do;
//! expired objects are found by their time, without checking every object.

use hashbrown::HashMap;
use kubist_apimachinery::{Object, ObjectName};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An object's time to live; `None` means that it never expires.
type Policy<K> = dyn Fn(&K) -> Option<Duration> + Send + Sync;

/// A store whose objects expire.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
/// use kubist_apimachinery::{ObjectMeta, ObjectName};
/// use kubist_cache::ExpiringStore;
///
/// # #[expect(clippy::disallowed_methods, reason = "an example has no clock but this one")]
/// let start = Instant::now();
/// let minute = Duration::from_secs(60);
/// let mut store = ExpiringStore::new(minute);
/// store.put(Arc::new(ObjectMeta { name: "web".into(), ..Default::default() }), start);
/// let name = ObjectName::cluster("web");
/// assert!(store.get(&name, start + minute).is_some());
/// assert!(store.get(&name, start + 2 * minute).is_none());
/// ```
pub struct ExpiringStore<K> {
    held: HashMap<ObjectName, Held<K>>,
    /// The objects that can expire, by expiry time.
    ends: BTreeMap<(Instant, u64), ObjectName>,
    next_place: u64,
    policy: Box<Policy<K>>,
}

struct Held<K> {
    object: Arc<K>,
    /// The last moment at which the object is visible.
    end: Option<(Instant, u64)>,
}

impl<K: Object> ExpiringStore<K> {
    /// Creates a store in which every object has the same time to live.
    pub fn new(ttl: Duration) -> Self {
        Self::with_policy(move |_| Some(ttl))
    }

    /// Creates a store in which `policy` determines an object's time to live when it is added;
    /// `None` means that it never expires.
    pub fn with_policy(policy: impl Fn(&K) -> Option<Duration> + Send + Sync + 'static) -> Self {
        Self {
            held: HashMap::new(),
            ends: BTreeMap::new(),
            next_place: 0,
            policy: Box::new(policy),
        }
    }

    /// Adds an object or replaces the one of the same name. Its time to live begins.
    pub fn put(&mut self, object: Arc<K>, now: Instant) -> Option<Arc<K>> {
        self.expire(now);
        let name = object.object_name();
        let old = self.remove(&name);
        let ttl = (self.policy)(&object);
        // A time beyond the range of the clock means never.
        let end = ttl.and_then(|ttl| now.checked_add(ttl));
        let end = end.map(|end| (end, self.next_place));
        self.next_place += 1;
        if let Some(end) = end {
            self.ends.insert(end, name.clone());
        }
        self.held.insert(name, Held { object, end });
        old
    }

    /// Removes an object, expired or not.
    pub fn remove(&mut self, name: &ObjectName) -> Option<Arc<K>> {
        let held = self.held.remove(name)?;
        if let Some(end) = held.end {
            self.ends.remove(&end);
        }
        Some(held.object)
    }

    /// Replaces all objects by these. The time to live of each begins.
    pub fn replace(&mut self, objects: impl IntoIterator<Item = Arc<K>>, now: Instant) {
        self.held.clear();
        self.ends.clear();
        for object in objects {
            self.put(object, now);
        }
    }

    /// Returns the object of this name. Drops expired objects.
    pub fn get(&mut self, name: &ObjectName, now: Instant) -> Option<Arc<K>> {
        self.expire(now);
        self.held.get(name).map(|held| Arc::clone(&held.object))
    }

    /// Returns all objects in no particular order. Drops expired objects.
    pub fn list(&mut self, now: Instant) -> Vec<Arc<K>> {
        self.expire(now);
        let held = self.held.values();
        held.map(|held| Arc::clone(&held.object)).collect()
    }

    /// Returns the names of all objects in no particular order. Drops expired objects.
    pub fn names(&mut self, now: Instant) -> Vec<ObjectName> {
        self.expire(now);
        self.held.keys().cloned().collect()
    }

    /// Drops the expired objects and returns them in order of expiry.
    pub fn expire(&mut self, now: Instant) -> Vec<Arc<K>> {
        let mut expired = Vec::new();
        while let Some(first) = self.ends.first_entry()
            && first.key().0 < now
        {
            let name = first.remove();
            expired.extend(self.held.remove(&name).map(|held| held.object));
        }
        expired
    }

    /// Returns the last moment at which the next object to expire is visible, for a timer.
    pub fn next_end(&self) -> Option<Instant> {
        self.ends.keys().next().map(|(end, _)| *end)
    }

    /// Returns the number of objects, including expired ones that are not dropped yet.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Reports whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

impl<K> fmt::Debug for ExpiringStore<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpiringStore")
            .field("len", &self.held.len())
            .finish_non_exhaustive()
    }
}
