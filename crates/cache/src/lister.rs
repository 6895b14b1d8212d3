//! `Lister`: the reading half of a store.
//!
//! Any number of threads may read while the writer works, without waiting for it. Each call sees
//! one consistent state, the last that was published. A [`Snapshot`] makes several calls
//! consistent. Unlike in client-go, a lister also serves indexes.

use crate::index::UnknownIndex;
use crate::published::Published;
use crate::{IndexHandle, Snapshot};
use kubist_apimachinery::{Object, ObjectName, ParseObjectNameError, ResourceVersion, Selector};
use std::any::Any;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

/// Reads the objects of one store. Clones read the same store.
pub struct Lister<K> {
    pub(crate) published: Arc<Published<K>>,
    /// Dropped with the last clone; see [`Self::keep_alive`].
    pub(crate) kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl<K> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Self {
            published: Arc::clone(&self.published),
            kept: self.kept.clone(),
        }
    }
}

impl<K: Object> Lister<K> {
    /// Returns the same lister, which holds `kept` until it and all of its clones are dropped. The
    /// producer of the store can thereby tell whether it is still read.
    #[must_use]
    pub fn keep_alive(self, kept: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            kept: Some(kept),
            ..self
        }
    }

    /// Returns the current state, for several consistent look-ups. Holding it keeps old objects
    /// alive, but blocks neither readers nor the writer.
    pub fn snapshot(&self) -> Snapshot<K> {
        Snapshot::new(self.published.state.load_full())
    }

    /// Returns the object of this name.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        self.find(&name.namespace, &name.name)
    }

    /// Does the same as [`Self::get`], without an [`ObjectName`].
    pub fn find(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let state = self.published.state.load();
        let found = state.find(namespace, name)?;
        // Begins to fetch the object's count while its name is still being compared.
        black_box(Arc::strong_count(found));
        Some(Arc::clone(found))
    }

    /// Calls `look` with the object of this name, if it exists, without cloning its `Arc`. This is
    /// faster than [`Self::get`], which must increment a counter in the object's own memory.
    ///
    /// `look` should be short: while it runs, the state is in use, and a writer that would change
    /// it in place copies parts of it instead. Neither the writer nor other readers wait.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use kubist_apimachinery::{ObjectMeta, ObjectName};
    /// # use kubist_cache::Indexer;
    /// # let mut indexer = Indexer::new();
    /// # let meta = ObjectMeta { name: "web".into(), uid: "7".into(), ..Default::default() };
    /// # indexer.upsert(Arc::new(meta));
    /// # indexer.publish();
    /// # let lister = indexer.lister();
    /// let is_ours = lister.view(&ObjectName::new("", "web"), |object| object.uid == "7");
    /// assert_eq!(is_ours, Some(true));
    /// ```
    pub fn view<R>(&self, name: &ObjectName, look: impl FnOnce(&K) -> R) -> Option<R> {
        let state = self.published.state.load();
        let found = state.find(&name.namespace, &name.name)?;
        Some(look(found))
    }

    /// Returns the object of this key: `namespace/name`, or the name alone.
    ///
    /// # Errors
    /// The text is not a key.
    pub fn by_key(&self, key: &str) -> Result<Option<Arc<K>>, ParseObjectNameError> {
        Ok(self.get(&key.parse()?))
    }

    /// Returns all objects in no particular order.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.snapshot().list()
    }

    /// Returns the names of all objects in no particular order.
    pub fn names(&self) -> Vec<ObjectName> {
        self.snapshot().names()
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.published.state.load().objects.len()
    }

    /// Reports whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the objects that have this index value.
    pub fn by_index(&self, handle: &IndexHandle<K>, value: &str) -> Vec<Arc<K>> {
        self.published.state.load().by_index(&handle.index, value)
    }

    /// Returns the objects that have a given value in each of several indexes.
    pub fn by_indexes(&self, groups: &[(&IndexHandle<K>, &str)]) -> Vec<Arc<K>> {
        self.published.state.load().by_indexes(groups)
    }

    /// Does the same as [`Self::by_index`] for an index that is known by name only.
    ///
    /// # Errors
    /// The index does not exist, or is not built yet.
    pub fn by_index_named(&self, name: &str, value: &str) -> Result<Vec<Arc<K>>, UnknownIndex> {
        let snapshot = self.snapshot();
        let handle = snapshot.index_named(name)?;
        Ok(snapshot.by_index(&handle, value))
    }

    /// Returns the objects of all namespaces that match a label selector.
    pub fn select(&self, selector: &Selector) -> Vec<Arc<K>> {
        self.snapshot().select(None, selector)
    }

    /// Returns the objects of one namespace that match a label selector.
    pub fn select_in(&self, namespace: &str, selector: &Selector) -> Vec<Arc<K>> {
        self.snapshot().select(Some(namespace), selector)
    }

    /// Reports whether the writer was dropped, so that nothing will change any more.
    pub fn is_closed(&self) -> bool {
        self.published.is_closed()
    }

    /// Returns the resource version up to which the store is complete; unset before the first list.
    pub fn resource_version(&self) -> ResourceVersion {
        self.published.state.load().resource_version.clone()
    }
}

impl<K> fmt::Debug for Lister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.published.state.load();
        f.debug_struct("Lister")
            .field("resource_version", &state.resource_version)
            .field("len", &state.objects.len())
            .finish_non_exhaustive()
    }
}
