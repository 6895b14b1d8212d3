//! `Index`: how objects are grouped under values, so that a group is found without a scan.
//!
//! An index is declared once and gives back an [`IndexHandle`] when it is added; look-ups by
//! handle cannot fail. It holds no objects itself: those are in the store's state.

use crate::Cause;
use kubist_apimachinery::wire::{FieldPath, FieldPathError, Schema, WireError, WireErrorKind};
use kubist_apimachinery::{KubeObject, Object, ObjectName, Str};
use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The values under which an index function files one object.
#[derive(Debug, Default)]
pub struct IndexValues {
    text: String,
    ends: Vec<usize>,
}

impl IndexValues {
    /// Files the object under `value`; a second time changes nothing.
    pub fn push(&mut self, value: &str) {
        if self.iter().any(|known| known == value) {
            return;
        }
        self.text.push_str(value);
        self.ends.push(self.text.len());
    }

    /// The values so far.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.text[start..end])
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn contains(&self, value: &str) -> bool {
        self.iter().any(|known| known == value)
    }
}

type IndexFn<K> = dyn Fn(&K, &mut IndexValues) -> Result<(), Cause> + Send + Sync;

/// A name and a function from an object to the values under which it is found.
pub struct Index<K> {
    name: Str,
    values: Box<IndexFn<K>>,
    covers: Covers,
}

/// Which requirement of a selector an index answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Covers {
    Nothing,
    Namespace,
    Label(Str),
    Field(Str),
}

/// An index function that failed for one object; that object is filed under no value.
#[derive(Clone, Debug, thiserror::Error)]
#[error("index {index:?} failed for {object}")]
pub struct IndexError {
    /// The index.
    pub index: Str,
    /// The object.
    pub object: ObjectName,
    /// Why.
    #[source]
    pub source: Cause,
}

/// An index of that name is there already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is an index named {name:?} already", name = .name.as_str())]
pub struct IndexNameTaken {
    /// The name.
    pub name: Str,
}

/// A look-up by index name for which no index exists.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no index named {name:?}")]
pub struct UnknownIndex {
    /// The name.
    pub name: Str,
}

/// A function that panicked; as the source of an [`IndexError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it panicked: {message}")]
#[non_exhaustive]
pub struct Panicked {
    /// What it said, if that was text.
    pub message: String,
}

impl<K: Object> Index<K> {
    /// An index by a function of your own, over the held form.
    ///
    /// The function gives the same values for the same object at any time; an index is kept by
    /// asking it for the old state as well as for the new one. If it panics, that is reported as
    /// that object's [`IndexError`], and files the object under no value.
    ///
    /// ```
    /// # use kubist_apimachinery::ObjectMeta;
    /// # use kubist_cache::Index;
    /// let by_initial = Index::<ObjectMeta>::new("initial", |meta, values| {
    ///     values.push(&meta.name[..1]);
    /// });
    /// ```
    pub fn new(
        name: impl Into<Str>,
        values: impl Fn(&K, &mut IndexValues) + Send + Sync + 'static,
    ) -> Self {
        Self::with(name, Covers::Nothing, move |object, into| {
            values(object, into);
            Ok(())
        })
    }

    /// An index by a function that can fail. A failure is reported with the object's name, and
    /// files the object under no value.
    pub fn fallible<E: Error + Send + Sync + 'static>(
        name: impl Into<Str>,
        values: impl Fn(&K, &mut IndexValues) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        Self::with(name, Covers::Nothing, move |object, into| {
            values(object, into).map_err(|error| Arc::new(error) as Cause)
        })
    }

    fn with(
        name: impl Into<Str>,
        covers: Covers,
        values: impl Fn(&K, &mut IndexValues) -> Result<(), Cause> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            values: Box::new(values),
            covers,
        }
    }

    /// By namespace, under the name `namespace`.
    pub fn namespace() -> Self {
        Self::with("namespace", Covers::Namespace, |object: &K, values| {
            values.push(object.namespace());
            Ok(())
        })
    }

    /// By the value of a label, under the name `label:KEY`. Selectors that require a value of this
    /// label use it.
    pub fn label(key: impl Into<Str>) -> Self {
        let key = key.into();
        let covers = Covers::Label(key.clone());
        Self::with(format!("label:{key}"), covers, move |object: &K, values| {
            if let Some(value) = object.labels().get(&key) {
                values.push(value);
            }
            Ok(())
        })
    }

    /// By the uid of each owner, under the name `owner-uid`.
    pub fn owner_uid() -> Self {
        Self::new("owner-uid", |object: &K, values| {
            for owner in object.owners().iter() {
                values.push(owner.uid);
            }
        })
    }

    /// The name, for access without a handle.
    pub fn name(&self) -> &Str {
        &self.name
    }

    pub(crate) fn covers(&self) -> &Covers {
        &self.covers
    }

    /// Whether the values follow from the name, and so never change.
    pub(crate) fn is_by_name(&self) -> bool {
        self.covers == Covers::Namespace
    }

    /// Whether no object is filed under more than one value.
    pub(crate) fn is_single(&self) -> bool {
        self.covers != Covers::Nothing
    }

    pub(crate) fn collect(&self, object: &K, into: &mut IndexValues) -> Result<(), IndexError> {
        into.clear();
        // What a panic leaves behind is cleared below; the object is immutable.
        let call = AssertUnwindSafe(|| (self.values)(object, into));
        let result =
            catch_unwind(call).unwrap_or_else(|panic| Err(Arc::new(Panicked::of(&*panic))));
        result.map_err(|source| {
            into.clear();
            IndexError {
                index: self.name.clone(),
                object: object.object_name(),
                source,
            }
        })
    }

    /// Whether an object is filed under a value; `values` is scratch space.
    pub(crate) fn files(&self, object: &K, value: &str, values: &mut IndexValues) -> bool {
        self.collect(object, values).is_ok() && values.contains(value)
    }
}

impl Panicked {
    fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self {
            message: text.unwrap_or_default(),
        }
    }
}

impl<K: FieldLookup> Index<K> {
    /// By the value of a scalar field, under its path as name; absent fields count as empty, so
    /// that `spec.nodeName` also finds the Pods that have no node.
    ///
    /// On encoded objects it walks the bytes and decodes nothing else. Objects whose body was
    /// dropped are filed under no value, which is reported.
    ///
    /// # Panics
    /// If the kind has no such scalar field. [`Self::try_field`] is for paths from outside.
    pub fn field(path: &str) -> Self {
        match Self::try_field(path) {
            Ok(index) => index,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`Self::field`], for paths that are not known when the program is written.
    ///
    /// # Errors
    /// The kind has no such scalar field.
    pub fn try_field(path: &str) -> Result<Self, FieldPathError> {
        let path = FieldPath::new(K::schema(), path)?;
        let name = Str::from(path.as_str());
        let covers = Covers::Field(name.clone());
        Ok(Self::with(name, covers, move |object: &K, values| {
            if !object.knows(&path) {
                return Err(Arc::new(WireError::from(WireErrorKind::BodyDropped)));
            }
            values.push(&object.field(&path));
            Ok(())
        }))
    }
}

impl<K> fmt::Debug for Index<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An added index; clones are the same one.
///
/// It works on every lister of objects `K`: where the index is not (or not yet) built, a look-up
/// scans instead.
pub struct IndexHandle<K> {
    pub(crate) index: Arc<Index<K>>,
}

impl<K: Object> IndexHandle<K> {
    /// A handle of an index that is still to be added.
    pub fn new(index: Index<K>) -> Self {
        Self {
            index: Arc::new(index),
        }
    }

    /// The name.
    pub fn name(&self) -> &Str {
        &self.index.name
    }
}

impl<K> Clone for IndexHandle<K> {
    fn clone(&self) -> Self {
        Self {
            index: Arc::clone(&self.index),
        }
    }
}

impl<K> fmt::Debug for IndexHandle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexHandle")
            .field(&self.index.name)
            .finish()
    }
}

/// A form in which single fields can be looked up by path.
pub trait FieldLookup: Object {
    /// The schema of the kind.
    fn schema() -> &'static Schema;
    /// The value of a scalar field; empty if absent.
    fn field(&self, path: &FieldPath) -> Cow<'_, str>;
    /// Whether what is held of the object has the field, if the object has it: not if its body
    /// was dropped.
    fn knows(&self, path: &FieldPath) -> bool {
        let _ = path;
        true
    }
}

impl<K: KubeObject> FieldLookup for K {
    fn schema() -> &'static Schema {
        K::SCHEMA
    }

    fn field(&self, path: &FieldPath) -> Cow<'_, str> {
        path.find_in(self)
    }
}
