//! `Lister`: the reading half of a store.
//!
//! Any number of threads read while the one writer works; none waits for it, and each call sees
//! one consistent state, the last that was published. For several calls that must agree, take a
//! [`Snapshot`]. Differs from client-go: a lister also serves indexes.

use crate::index::UnknownIndex;
use crate::published::Published;
use crate::{IndexHandle, Snapshot};
use kubist_apimachinery::{
    Object, ObjectName, ParseObjectNameError, ResourceVersion, Selector, Str,
};
use std::any::Any;
use std::fmt;
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
    /// The same lister, which holds on to `kept` as long as it or a clone of it exists: whoever
    /// feeds the store can so see that it is still read.
    #[must_use]
    pub fn keep_alive(self, kept: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            kept: Some(kept),
            ..self
        }
    }

    /// The present state, for several look-ups that must agree. Holding it keeps old objects
    /// alive, but delays nobody.
    pub fn snapshot(&self) -> Snapshot<K> {
        Snapshot::new(self.published.state.load_full())
    }

    /// The object of this name.
    pub fn get(&self, name: &ObjectName) -> Option<Arc<K>> {
        self.find(&name.namespace, &name.name)
    }

    /// As [`Self::get`], without making an [`ObjectName`].
    pub fn find(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.published.state.load().find(namespace, name).cloned()
    }

    /// Looks at the object of this name in place, if there is one, without sharing it: what a
    /// glance needs costs a third of [`Self::get`], which must count the new reference in the
    /// object's own memory.
    ///
    /// Be brief: while `look` runs, the state that was found is in use, and a writer that would
    /// change it in place copies parts of it. It does not wait, nor does anybody.
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

    /// The object of this key, `namespace/name` or the name alone.
    ///
    /// # Errors
    /// The text is not a key.
    pub fn by_key(&self, key: &str) -> Result<Option<Arc<K>>, ParseObjectNameError> {
        Ok(self.get(&key.parse()?))
    }

    /// All objects, in no particular order.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.snapshot().list()
    }

    /// The names of all objects, in no particular order.
    pub fn names(&self) -> Vec<ObjectName> {
        self.snapshot().names()
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.published.state.load().objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects filed under a value.
    pub fn by_index(&self, handle: &IndexHandle<K>, value: &str) -> Vec<Arc<K>> {
        self.published.state.load().by_index(&handle.index, value)
    }

    /// The objects filed under a value in each of several indexes.
    pub fn by_indexes(&self, groups: &[(&IndexHandle<K>, &str)]) -> Vec<Arc<K>> {
        self.published.state.load().by_indexes(groups)
    }

    /// As [`Self::by_index`], for indexes known by name only.
    ///
    /// # Errors
    /// There is no such index, or it is not built yet.
    pub fn by_index_named(&self, name: &str, value: &str) -> Result<Vec<Arc<K>>, UnknownIndex> {
        let snapshot = self.snapshot();
        let handle = snapshot.index_named(name)?;
        Ok(snapshot.by_index(&handle, value))
    }

    /// The objects of all namespaces that a label selector matches.
    pub fn select(&self, selector: &Selector) -> Vec<Arc<K>> {
        self.snapshot().select(None, selector)
    }

    /// The objects of one namespace that a label selector matches.
    pub fn select_in(&self, namespace: &str, selector: &Selector) -> Vec<Arc<K>> {
        self.snapshot().select(Some(namespace), selector)
    }

    /// Whether the writer is gone: nothing will change any more.
    pub fn is_closed(&self) -> bool {
        self.published.is_closed()
    }

    /// Everything that happened up to this version can be read. Unset before the first list.
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
