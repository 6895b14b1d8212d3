//! `KeyRange`: objects in name order, from any position, page by page.
//!
//! If the writer keeps the names sorted ([`Indexer::keep_order`](crate::Indexer::keep_order)), a
//! page costs only what it contains; otherwise each call sorts the names. Pages of one snapshot are
//! consistent and without gaps; pages of different snapshots may differ as the snapshots do.

use crate::Snapshot;
use kubist_apimachinery::{Object, ObjectName, Str};
use std::ops::Bound;
use std::sync::Arc;

/// A range of names. Default: all names, from the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct KeyRange {
    /// The namespace; `None` means all, in order.
    pub namespace: Option<Str>,
    /// The prefix of the object name; it applies within each namespace.
    pub prefix: Str,
    /// Only names after this one, the last of the previous page.
    pub after: Option<ObjectName>,
}

/// One page of a range.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page<K> {
    /// The objects, by namespace and name.
    pub objects: Vec<Arc<K>>,
    /// The position of the next page, for [`KeyRange::after`]; `None` on the last page.
    pub next: Option<ObjectName>,
}

impl KeyRange {
    /// Selects one namespace.
    pub fn in_namespace(namespace: impl Into<Str>) -> Self {
        Self {
            namespace: Some(namespace.into()),
            ..Self::default()
        }
    }

    /// Selects names with this prefix.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<Str>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Selects names after this one.
    #[must_use]
    pub fn after(mut self, name: ObjectName) -> Self {
        self.after = Some(name);
        self
    }

    /// Returns the first name that can be in the range.
    fn first(&self) -> Option<ObjectName> {
        let namespace = self.namespace.as_ref()?;
        Some(ObjectName::new(namespace, &self.prefix))
    }

    fn is_past(&self, name: &ObjectName) -> bool {
        let Some(namespace) = &self.namespace else {
            return false;
        };
        name.namespace > *namespace
            || (name.namespace == *namespace
                && *name.name > *self.prefix
                && !name.name.starts_with(&*self.prefix))
    }

    fn has(&self, name: &ObjectName) -> bool {
        let is_in = |namespace: &Str| name.namespace == *namespace;
        self.namespace.as_ref().is_none_or(is_in)
            && name.name.starts_with(&*self.prefix)
            && self.after.as_ref().is_none_or(|after| name > after)
    }
}

impl<K: Object> Snapshot<K> {
    /// Iterates over the objects of a range in order.
    pub fn range(&self, range: &KeyRange) -> impl Iterator<Item = &Arc<K>> {
        let names = self.ordered(range);
        names.filter_map(|name| self.state.find(&name.namespace, &name.name))
    }

    /// Returns at most `len_max` objects of a range, and where the next page begins.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use kubist_apimachinery::ObjectMeta;
    /// use kubist_cache::{Indexer, KeyRange};
    ///
    /// let mut indexer = Indexer::new();
    /// indexer.keep_order();
    /// for name in ["c", "a", "b"] {
    ///     indexer.upsert(Arc::new(ObjectMeta { name: name.into(), ..Default::default() }));
    /// }
    /// let snapshot = indexer.snapshot();
    /// let page = snapshot.page(&KeyRange::default(), 2);
    /// assert_eq!(page.objects[1].name, "b");
    /// let page = snapshot.page(&KeyRange { after: page.next, ..KeyRange::default() }, 2);
    /// assert_eq!((page.objects.len(), page.next), (1, None));
    /// ```
    pub fn page(&self, range: &KeyRange, len_max: usize) -> Page<K> {
        let mut rest = self.range(range);
        let objects: Vec<_> = rest.by_ref().take(len_max).cloned().collect();
        let is_more = rest.next().is_some();
        let last = objects.last().map(|object| object.object_name());
        Page {
            next: last.filter(|_| is_more),
            objects,
        }
    }

    fn ordered<'a>(&'a self, range: &KeyRange) -> impl Iterator<Item = ObjectName> + use<'a, K> {
        let kept = self.state.order.as_ref();
        let sorted = if kept.is_none() {
            self.sorted(range)
        } else {
            Vec::new()
        };
        let first = range.first();
        let start = match (&range.after, &first) {
            (Some(after), Some(first)) if after < first => Bound::Included(first),
            (Some(after), _) => Bound::Excluded(after),
            (None, Some(first)) => Bound::Included(first),
            (None, None) => Bound::Unbounded,
        };
        let kept = kept.map(|order| order.from(start));
        let (until, within) = (range.clone(), range.clone());
        kept.into_iter()
            .flatten()
            .take_while(move |name| !until.is_past(name))
            .filter(move |name| within.has(name))
            .cloned()
            .chain(sorted)
    }

    fn sorted(&self, range: &KeyRange) -> Vec<ObjectName> {
        let names = self.iter().map(|object| object.object_name());
        let mut names: Vec<_> = names.filter(|name| range.has(name)).collect();
        names.sort_unstable();
        names
    }
}
