//! `WriteLog`: one's own writes that a cache does not show yet.
//!
//! Writers record the server's answers; readers of a cache ask which writes are still outstanding,
//! for instance before they work on a key. A log belongs to one lister: writes that it shows are
//! forgotten. The log holds no objects, which [`Overlay`](crate::Overlay) does, and is not a
//! history.

use crate::store::State;
use crate::{Lister, Visibility, WaitError, Written};
use hashbrown::HashMap;
use kubist_apimachinery::{Object, ObjectName, Str};
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The maximum number of objects with an outstanding write. Of older ones the log keeps the
/// greatest version only, and treats all writes as outstanding until the cache has reached it: keys
/// are delayed too much rather than too little. (A deletion without a known version is lost in that
/// case.)
pub const WRITES_MAX: usize = 10_000;

/// The writes to objects of kind `K` that a cache does not show yet. Clones share it.
///
/// A controller gives each run a log [of its key](Self::for_key). Before the key runs again, it
/// asks for the unseen writes, and delays the key until a lister shows them:
///
/// ```
/// use std::sync::Arc;
/// use kubist_apimachinery::{ObjectMeta, ObjectName};
/// use kubist_cache::{Delta, Indexer, WriteLog};
///
/// let (name, resource_version) = ("web-1".into(), "7".into());
/// let pod = ObjectMeta { name, resource_version, ..Default::default() };
/// let mut indexer = Indexer::new();
/// let lister = indexer.lister();
/// let log = WriteLog::<ObjectMeta>::new();
///
/// let key = ObjectName::cluster("web"); // what is reconciled; it creates a Pod
/// log.for_key(&key).saved(&pod); // the answer to that
/// assert_eq!(log.unseen_of(&lister, &key).len(), 1, "the key has to wait");
/// // … `log.wait_for_key(&lister, &key, tokio::time::sleep(limit)).await` is a way to.
///
/// indexer.apply(Delta::Added(Arc::new(pod)), &mut Vec::new());
/// indexer.publish();
/// assert!(log.unseen_of(&lister, &key).is_empty());
/// assert!(log.is_empty(), "what was seen is forgotten");
/// ```
pub struct WriteLog<K> {
    log: Arc<Mutex<Log>>,
    /// The key for which this handle records.
    key: Option<ObjectName>,
    kind: PhantomData<fn() -> K>,
}

#[derive(Default)]
struct Log {
    entries: HashMap<ObjectName, Entry>,
    /// The names in `entries`, oldest write first.
    order: BTreeMap<u64, ObjectName>,
    /// Keys and the objects written for them.
    by_key: BTreeSet<(ObjectName, ObjectName)>,
    next_place: u64,
    /// The latest of the writes that were evicted.
    floor: Option<Written>,
    evicted: u64,
}

struct Entry {
    written: Written,
    place: u64,
    keys: Vec<ObjectName>,
}

impl<K> WriteLog<K> {
    /// Creates an empty log.
    pub fn new() -> Self {
        Self {
            log: Arc::default(),
            key: None,
            kind: PhantomData,
        }
    }

    /// Returns the same log for a writer that works on a key: its writes can be queried by that key
    /// too.
    #[must_use]
    pub fn for_key(&self, key: &ObjectName) -> Self {
        Self {
            key: Some(key.clone()),
            ..self.clone()
        }
    }

    /// Records the result of a write. A write without a version is ignored. Dry runs should not be
    /// recorded, because no cache will ever show them.
    pub fn record(&self, written: Written) {
        if written.is_traceable() {
            self.log.lock().record(written, self.key.as_ref());
        }
    }

    /// Records that an object was created or updated; `object` is the server's answer, in any form.
    pub fn saved<F: Object>(&self, object: &F) {
        self.record(Written::saved(object));
    }

    /// Records that an object was deleted.
    pub fn deleted(&self, name: ObjectName, uid: impl Into<Str>) {
        self.record(Written::deleted(name, uid));
    }

    /// Returns the latest write to an object, unless an earlier query found it visible.
    pub fn pending(&self, name: &ObjectName) -> Option<Written> {
        let log = self.log.lock();
        log.entries.get(name).map(|entry| entry.written.clone())
    }

    /// Returns the number of objects with writes that no query has found visible.
    pub fn len(&self) -> usize {
        self.log.lock().entries.len()
    }

    /// Reports whether there are none.
    pub fn is_empty(&self) -> bool {
        let log = self.log.lock();
        log.entries.is_empty() && log.floor.is_none()
    }

    /// Returns how many writes were evicted unseen; see [`WRITES_MAX`].
    pub fn evicted_total(&self) -> u64 {
        self.log.lock().evicted
    }

    /// Returns the write to an object that the lister does not show yet. A write that it shows is
    /// forgotten.
    ///
    /// A write whose version cannot be compared counts as unseen until the lister shows exactly it.
    pub fn unseen<F: Object>(&self, lister: &Lister<F>, name: &ObjectName) -> Option<Written> {
        let state = lister.published.state.load();
        let mut log = self.log.lock();
        log.check(&state, name).or_else(|| log.check_floor(&state))
    }

    /// Returns the writes for a key that the lister does not show yet. Writes that it shows are
    /// forgotten.
    pub fn unseen_of<F: Object>(&self, lister: &Lister<F>, key: &ObjectName) -> Vec<Written> {
        let state = lister.published.state.load();
        let mut log = self.log.lock();
        let mut unseen: Vec<_> = log
            .written_for(key)
            .into_iter()
            .filter_map(|name| log.check(&state, &name))
            .collect();
        unseen.extend(log.check_floor(&state));
        unseen
    }

    /// Waits until the lister shows all writes for a key.
    ///
    /// # Errors
    /// The deadline passed, or the store was closed, first.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_for_key<F: Object>(
        &self,
        lister: &Lister<F>,
        key: &ObjectName,
        deadline: impl Future,
    ) -> Result<(), WaitError> {
        let unseen = self.unseen_of(lister, key);
        lister.wait_for_all(unseen, deadline).await?;
        self.prune(lister);
        Ok(())
    }

    /// Forgets a write that was not seen, after the caller has waited long enough. A later write to
    /// the same object is kept.
    pub fn forget(&self, written: &Written) {
        let mut log = self.log.lock();
        let held = log.entries.get(&written.name);
        if held.is_some_and(|entry| entry.written == *written) {
            log.take(&written.name);
        }
        if log.floor.as_ref() == Some(written) {
            log.floor = None;
        }
    }

    /// Forgets all writes that the lister shows.
    pub fn prune<F: Object>(&self, lister: &Lister<F>) {
        let state = lister.published.state.load();
        let mut log = self.log.lock();
        let names: Vec<_> = log.order.values().cloned().collect();
        for name in names {
            log.check(&state, &name);
        }
        log.check_floor(&state);
    }
}

impl Log {
    fn record(&mut self, written: Written, key: Option<&ObjectName>) {
        let name = written.name.clone();
        let (written, mut keys) = match self.take(&name) {
            Some(entry) => (entry.written.then(written), entry.keys),
            None => (written, Vec::new()),
        };
        if let Some(key) = key
            && !keys.contains(key)
        {
            keys.push(key.clone());
        }
        for key in &keys {
            self.by_key.insert((key.clone(), name.clone()));
        }
        let place = self.next_place;
        self.next_place += 1;
        self.order.insert(place, name.clone());
        let entry = Entry {
            written,
            place,
            keys,
        };
        self.entries.insert(name, entry);
        while self.entries.len() > WRITES_MAX || self.by_key.len() > WRITES_MAX {
            self.evict_oldest();
        }
    }

    fn take(&mut self, name: &ObjectName) -> Option<Entry> {
        let entry = self.entries.remove(name)?;
        self.order.remove(&entry.place);
        for key in &entry.keys {
            self.by_key.remove(&(key.clone(), name.clone()));
        }
        Some(entry)
    }

    fn evict_oldest(&mut self) {
        let Some(name) = self.order.values().next().cloned() else {
            return;
        };
        let Some(entry) = self.take(&name) else {
            return;
        };
        self.evicted += 1;
        let version = entry.written.version();
        let is_later = self
            .floor
            .as_ref()
            .is_none_or(|floor| version.compare(floor.version()) == Some(Ordering::Greater));
        if !version.is_unset() && is_later {
            self.floor = Some(entry.written);
        }
    }

    fn written_for(&self, key: &ObjectName) -> Vec<ObjectName> {
        let first = (key.clone(), ObjectName::default());
        let of_key = self.by_key.range(first..);
        of_key
            .take_while(|(found, _)| found == key)
            .map(|(_, name)| name.clone())
            .collect()
    }

    fn check<F: Object>(&mut self, state: &State<F>, name: &ObjectName) -> Option<Written> {
        let entry = self.entries.get(name)?;
        if entry.written.visibility(state) != Visibility::Shown {
            return Some(entry.written.clone());
        }
        self.take(name);
        None
    }

    fn check_floor<F: Object>(&mut self, state: &State<F>) -> Option<Written> {
        if self.floor.as_ref()?.visibility(state) == Visibility::Shown {
            self.floor = None;
        }
        self.floor.clone()
    }
}

impl<K> Clone for WriteLog<K> {
    fn clone(&self) -> Self {
        Self {
            log: Arc::clone(&self.log),
            key: self.key.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> Default for WriteLog<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for WriteLog<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.log.lock();
        f.debug_struct("WriteLog")
            .field("pending", &log.entries.len())
            .field("evicted", &log.evicted)
            .finish_non_exhaustive()
    }
}
