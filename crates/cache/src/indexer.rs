//! `Indexer`: the writing half of a store.
//!
//! There is one, used through `&mut`: whoever owns it is the only writer. Changes gather in a
//! working copy and become visible to [`Lister`]s together, by [`Indexer::publish`]; objects and
//! indexes never disagree. Differs from client-go: reading is the lister's.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use kubist_apimachinery::{Object, ObjectName, ResourceVersion};

use crate::index::{Index, IndexError, IndexHandle, IndexValues};
use crate::published::Published;
use crate::store::{Built, Posting, State, hash_name, hash_value, is_named};
use crate::trie::Trie;
use crate::{Change, Deleted, Delta, Lister, Replacement, Snapshot};

/// Errors of index functions kept for [`Indexer::take_index_errors`]; older ones go first.
pub const INDEX_ERRORS_MAX: usize = 100;

/// Writes the objects of one store.
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
    state: State<K>,
    published: Arc<Published<K>>,
    changed: bool,
    synced: bool,
    /// Whether versions of objects say how far the store has come.
    ordered: bool,
    errors: VecDeque<IndexError>,
    errors_total: u64,
    /// Reused by every index function.
    before: IndexValues,
    after: IndexValues,
}

impl<K: Object> Indexer<K> {
    /// An empty store without indexes.
    pub fn new() -> Self {
        Self {
            state: State::default(),
            published: Arc::new(Published::new()),
            changed: false,
            synced: false,
            ordered: true,
            errors: VecDeque::new(),
            errors_total: 0,
            before: IndexValues::default(),
            after: IndexValues::default(),
        }
    }

    /// A reader of what is published.
    pub fn lister(&self) -> Lister<K> {
        Lister {
            published: Arc::clone(&self.published),
            kept: None,
        }
    }

    /// The working copy, with what is not published yet.
    pub fn snapshot(&self) -> Snapshot<K> {
        Snapshot::new(Arc::new(self.state.clone()))
    }

    /// Adds an index, at any time; objects that are there are filed at once.
    pub fn add_index(&mut self, index: Index<K>) -> IndexHandle<K> {
        let handle = IndexHandle::new(index);
        self.build_index(&handle);
        handle
    }

    /// Adds an index that already has a handle. Adding it again changes nothing.
    pub fn build_index(&mut self, handle: &IndexHandle<K>) {
        let index = &handle.index;
        if self.state.built(index).is_some() {
            return;
        }
        self.changed = true;
        let position = self.state.indexes.len();
        self.state.indexes.push(Built {
            index: Arc::clone(index),
            postings: Trie::default(),
        });
        let objects = self.state.objects.clone();
        for object in objects.iter() {
            let hash = hash_name(object.namespace(), object.name());
            self.file_in(position, hash, None, Some(object));
        }
    }

    /// The object of this name in the working copy.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        self.state.find(&name.namespace, &name.name).cloned()
    }

    /// The number of objects in the working copy.
    pub fn len(&self) -> usize {
        self.state.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an object or puts it in the place of the one of its name, which it gives back. The
    /// store's version becomes the object's.
    pub fn upsert(&mut self, object: Arc<K>) -> Option<Arc<K>> {
        self.see_version(object.resource_version());
        self.put(object)
    }

    /// Removes an object; its last state, or one that lists do not have, may be unknown.
    pub fn remove(&mut self, name: &ObjectName) -> Option<Arc<K>> {
        self.take_out(&name.namespace, &name.name)
    }

    /// Notes that everything up to `version` is in the working copy.
    pub fn bookmark(&mut self, version: ResourceVersion) {
        self.changed = true;
        self.state.resource_version = version;
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

    /// Lets readers see the working copy, and wakes those that wait for something in it.
    pub fn publish(&mut self) {
        if std::mem::take(&mut self.changed) {
            self.published.store(self.state.clone());
        }
    }

    /// Errors of index functions since the last call, the latest [`INDEX_ERRORS_MAX`].
    pub fn take_index_errors(&mut self) -> Vec<IndexError> {
        self.errors.drain(..).collect()
    }

    /// How often an index function failed.
    pub fn index_errors_total(&self) -> u64 {
        self.errors_total
    }

    /// Applies news, and appends what handlers must be told to `changes`. Does not publish.
    pub fn apply(&mut self, delta: Delta<K>, changes: &mut Vec<Change<K>>) {
        match delta {
            Delta::Added(object) | Delta::Updated(object) | Delta::Replaced(object) => {
                self.see_version(object.resource_version());
                self.apply_object(object, changes);
            }
            Delta::Deleted(deleted) => self.apply_deleted(deleted, changes),
            Delta::ReplacedAll(replacement) => self.replace(replacement, changes),
            Delta::Sync(object) => match self.state.find(object.namespace(), object.name()) {
                Some(held) if same_version(held, &object) => {
                    changes.push(Change::Resynced(Arc::clone(held)));
                }
                _ => self.apply_object(object, changes),
            },
            Delta::SyncAll => {
                changes.extend(self.state.objects.iter().cloned().map(Change::Resynced));
            }
            Delta::Bookmark(version) => self.bookmark(version),
        }
    }

    fn apply_object(&mut self, object: Arc<K>, changes: &mut Vec<Change<K>>) {
        if let Some(held) = self.state.find(object.namespace(), object.name())
            && same_version(held, &object)
        {
            return;
        }
        let initial = !self.synced;
        changes.push(match self.put(Arc::clone(&object)) {
            Some(old) => Change::Updated { old, new: object },
            None => Change::Added { object, initial },
        });
    }

    /// A deletion of an unknown object is told too: somebody may know it from elsewhere.
    fn apply_deleted(&mut self, deleted: Deleted<K>, changes: &mut Vec<Change<K>>) {
        match &deleted {
            Deleted::Known(object) => {
                self.see_version(object.resource_version());
                self.take_out(object.namespace(), object.name());
            }
            Deleted::FinalStateUnknown { name, .. } => {
                self.take_out(&name.namespace, &name.name);
            }
        }
        changes.push(Change::Deleted(deleted));
    }

    /// Makes the store equal to a list. Objects whose uid and version did not change stay, and
    /// nobody is told of them. Deletions come first.
    pub fn replace(&mut self, replacement: Replacement<K>, changes: &mut Vec<Change<K>>) {
        let Replacement {
            resource_version,
            mut objects,
            unreadable,
        } = replacement;
        self.changed = true;
        let mut listed = Trie::default();
        for object in &mut objects {
            let (namespace, name) = (object.namespace(), object.name());
            if let Some(held) = self.state.find(namespace, name)
                && same_version(held, object)
            {
                *object = Arc::clone(held);
            }
            insert(&mut listed, object);
        }
        for name in &unreadable {
            if let Some(held) = self.state.find(&name.namespace, &name.name) {
                let hash = hash_name(&name.namespace, &name.name);
                if listed
                    .get(hash, is_named(&name.namespace, &name.name))
                    .is_none()
                {
                    insert(&mut listed, held);
                }
            }
        }
        let held = std::mem::replace(&mut self.state.objects, listed);
        for object in held.iter() {
            if self.state.find(object.namespace(), object.name()).is_none() {
                let hash = hash_name(object.namespace(), object.name());
                self.file(hash, Some(object), None);
                let name = object.object_name();
                let last_known = Some(Arc::clone(object));
                changes.push(Change::Deleted(Deleted::FinalStateUnknown {
                    name,
                    last_known,
                }));
            }
        }
        self.tell_listed(&objects, &held, changes);
        self.state.resource_version = resource_version;
        self.synced = true;
    }

    fn tell_listed(
        &mut self,
        objects: &[Arc<K>],
        held: &Trie<Arc<K>>,
        changes: &mut Vec<Change<K>>,
    ) {
        let initial = !self.synced;
        let unique = self.state.objects.len() == objects.len();
        for object in objects {
            let (namespace, name) = (object.namespace(), object.name());
            // A name that the list has twice counts where it comes last.
            let is_last = unique
                || self
                    .state
                    .find(namespace, name)
                    .is_some_and(|it| Arc::ptr_eq(it, object));
            let hash = hash_name(namespace, name);
            let old = held.get(hash, is_named(namespace, name));
            if !is_last || old.is_some_and(|old| Arc::ptr_eq(old, object)) {
                continue;
            }
            self.file(hash, old, Some(object));
            let object = Arc::clone(object);
            changes.push(match old {
                Some(old) => Change::Updated {
                    old: Arc::clone(old),
                    new: object,
                },
                None => Change::Added { object, initial },
            });
        }
    }

    fn see_version(&mut self, version: &str) {
        if self.ordered && !version.is_empty() && self.state.resource_version != *version {
            self.changed = true;
            self.state.resource_version = version.into();
        }
    }

    fn put(&mut self, object: Arc<K>) -> Option<Arc<K>> {
        self.changed = true;
        let hash = hash_name(object.namespace(), object.name());
        let old = insert(&mut self.state.objects, &object);
        self.file(hash, old.as_ref(), Some(&object));
        old
    }

    fn take_out(&mut self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let hash = hash_name(namespace, name);
        let old = self.state.objects.remove(hash, is_named(namespace, name))?;
        self.changed = true;
        self.file(hash, Some(&old), None);
        Some(old)
    }

    /// Brings every index up to date with the change of one object.
    fn file(&mut self, hash: u64, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        for position in 0..self.state.indexes.len() {
            self.file_in(position, hash, old, new);
        }
    }

    fn file_in(&mut self, position: usize, hash: u64, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        let Built { index, postings } = &mut self.state.indexes[position];
        self.before.clear();
        self.after.clear();
        if let Some(old) = old {
            // It was reported when the object came; it is filed under nothing.
            drop(index.collect(old, &mut self.before));
        }
        if let Some(new) = new
            && let Err(error) = index.collect(new, &mut self.after)
        {
            self.errors_total += 1;
            if self.errors.len() == INDEX_ERRORS_MAX {
                self.errors.pop_front();
            }
            self.errors.push_back(error);
        }
        for value in self
            .before
            .iter()
            .filter(|value| !self.after.contains(value))
        {
            if let Some(old) = old {
                unfile(postings, value, hash, old);
            }
        }
        if let Some(new) = new {
            for value in self.after.iter() {
                file(postings, value, hash, new);
            }
        }
    }
}

/// Whether both are the same state of the same object.
pub(crate) fn same_version<K: Object>(held: &Arc<K>, object: &Arc<K>) -> bool {
    Arc::ptr_eq(held, object)
        || (!object.resource_version().is_empty()
            && held.resource_version() == object.resource_version()
            && held.uid() == object.uid())
}

fn insert<K: Object>(objects: &mut Trie<Arc<K>>, object: &Arc<K>) -> Option<Arc<K>> {
    let (namespace, name) = (object.namespace(), object.name());
    let hash = hash_name(namespace, name);
    objects.insert(hash, Arc::clone(object), is_named(namespace, name))
}

fn file<K: Object>(postings: &mut Trie<Posting<K>>, value: &str, hash: u64, object: &Arc<K>) {
    let same = |posting: &Posting<K>| posting.value == *value;
    let is_object = is_named(object.namespace(), object.name());
    if let Some(posting) = postings.get_mut(hash_value(value), same) {
        posting.objects.insert(hash, Arc::clone(object), is_object);
        return;
    }
    let mut objects = Trie::default();
    objects.insert(hash, Arc::clone(object), is_object);
    postings.insert(
        hash_value(value),
        Posting {
            value: value.into(),
            objects,
        },
        same,
    );
}

/// Empty groups go, so that an index does not grow with values that were once used.
fn unfile<K: Object>(postings: &mut Trie<Posting<K>>, value: &str, hash: u64, object: &Arc<K>) {
    let same = |posting: &Posting<K>| posting.value == *value;
    let Some(posting) = postings.get_mut(hash_value(value), same) else {
        return;
    };
    posting
        .objects
        .remove(hash, is_named(object.namespace(), object.name()));
    if posting.objects.len() == 0 {
        postings.remove(hash_value(value), same);
    }
}

/// Waits for writes end: nothing will be published any more.
impl<K> Drop for Indexer<K> {
    fn drop(&mut self) {
        self.published.close();
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
            .field("resource_version", &self.state.resource_version)
            .field("len", &self.state.objects.len())
            .finish_non_exhaustive()
    }
}
