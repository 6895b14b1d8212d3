//! `ExpiringStore`: objects that are forgotten some time after they were put in.
//!
//! An expired object is never seen, and is dropped when the store is next used. No clock: the
//! caller passes the time. It is for what is looked up and can be looked up again; it has no
//! indexes, no versions and no readers beside the writer ([`Indexer`](crate::Indexer) has).
//!
//! Source of the contract: client-go `tools/cache/expiration_cache.go`. Differs from it: the policy
//! is asked when an object is put in; `names` leaves out what expired, like everything else; time
//! alone tells what to drop, no look at every object.

use hashbrown::HashMap;
use kubist_apimachinery::{Object, ObjectName};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an object lives; none is for ever.
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
    /// What can expire, in that order.
    ends: BTreeMap<(Instant, u64), ObjectName>,
    next_place: u64,
    policy: Box<Policy<K>>,
}

struct Held<K> {
    object: Arc<K>,
    /// The last moment at which it is seen.
    end: Option<(Instant, u64)>,
}

impl<K: Object> ExpiringStore<K> {
    /// Every object lives as long.
    pub fn new(ttl: Duration) -> Self {
        Self::with_policy(move |_| Some(ttl))
    }

    /// Each object lives as long as `policy` says when it is put in; none is for ever.
    pub fn with_policy(policy: impl Fn(&K) -> Option<Duration> + Send + Sync + 'static) -> Self {
        Self {
            held: HashMap::new(),
            ends: BTreeMap::new(),
            next_place: 0,
            policy: Box::new(policy),
        }
    }

    /// Puts an object in, or in the place of the one of its name; its time begins.
    pub fn put(&mut self, object: Arc<K>, now: Instant) -> Option<Arc<K>> {
        self.expire(now);
        let name = object.object_name();
        let old = self.remove(&name);
        let ttl = (self.policy)(&object);
        // Beyond the end of the clock is for ever.
        let end = ttl.and_then(|ttl| now.checked_add(ttl));
        let end = end.map(|end| (end, self.next_place));
        self.next_place += 1;
        if let Some(end) = end {
            self.ends.insert(end, name.clone());
        }
        self.held.insert(name, Held { object, end });
        old
    }

    /// Takes an object out, expired or not.
    pub fn remove(&mut self, name: &ObjectName) -> Option<Arc<K>> {
        let held = self.held.remove(name)?;
        if let Some(end) = held.end {
            self.ends.remove(&end);
        }
        Some(held.object)
    }

    /// Puts these objects in the place of all others; the time of each begins.
    pub fn replace(&mut self, objects: impl IntoIterator<Item = Arc<K>>, now: Instant) {
        self.held.clear();
        self.ends.clear();
        for object in objects {
            self.put(object, now);
        }
    }

    /// The object of this name. Drops what expired.
    pub fn get(&mut self, name: &ObjectName, now: Instant) -> Option<Arc<K>> {
        self.expire(now);
        self.held.get(name).map(|held| Arc::clone(&held.object))
    }

    /// All objects, in no particular order. Drops what expired.
    pub fn list(&mut self, now: Instant) -> Vec<Arc<K>> {
        self.expire(now);
        let held = self.held.values();
        held.map(|held| Arc::clone(&held.object)).collect()
    }

    /// The names of all objects, in no particular order. Drops what expired.
    pub fn names(&mut self, now: Instant) -> Vec<ObjectName> {
        self.expire(now);
        self.held.keys().cloned().collect()
    }

    /// Drops what expired, and gives it back in that order.
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

    /// The last moment at which the object that expires next is seen, for a timer.
    pub fn next_end(&self) -> Option<Instant> {
        self.ends.keys().next().map(|(end, _)| *end)
    }

    /// The number of objects, expired ones included that are not dropped yet.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether there are none.
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
