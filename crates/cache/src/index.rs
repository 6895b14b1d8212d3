//! `Index`: a grouping of objects by value, so that a group is found without a scan.
//!
//! An index is declared once; adding it returns an [`IndexHandle`], and look-ups by handle cannot
//! fail. The index itself holds no objects: those are in the store's state.

use crate::Cause;
use kubist_apimachinery::wire::{ScalarField, ScalarFieldError, Schema, WireError, WireErrorKind};
use kubist_apimachinery::{KubeObject, Object, ObjectName, Str};
use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The values under which an index function puts one object.
#[derive(Debug, Default)]
pub struct IndexValues {
    text: String,
    ends: Vec<usize>,
}

impl IndexValues {
    /// Adds a value. Adding it again has no effect.
    pub fn push(&mut self, value: &str) {
        if self.iter().any(|known| known == value) {
            return;
        }
        self.text.push_str(value);
        self.ends.push(self.text.len());
    }

    /// Returns the values so far.
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

/// A name and a function from an object to its index values.
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

/// An index function failed for one object; the object has no values in that index.
#[derive(Clone, Debug, thiserror::Error)]
#[error("index {index:?} failed for {object}")]
pub struct IndexError {
    /// The index.
    pub index: Str,
    /// The object.
    pub object: ObjectName,
    /// The cause.
    #[source]
    pub source: Cause,
}

/// An index of that name exists already.
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

/// A function panicked; the source of an [`IndexError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it panicked: {message}")]
#[non_exhaustive]
pub struct Panicked {
    /// The panic message, if it was text.
    pub message: String,
}

impl<K: Object> Index<K> {
    /// Creates an index with a custom function over the stored form.
    ///
    /// The function must always return the same values for the same object, because the index is
    /// updated by comparing the values of the old and the new state. If it panics, the panic is
    /// reported as an [`IndexError`] of that object, which then has no values in the index.
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

    /// Creates an index with a function that can fail. A failure is reported with the object's
    /// name, and the object has no values in the index.
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

    /// Creates an index by namespace, named `namespace`.
    pub fn namespace() -> Self {
        Self::with("namespace", Covers::Namespace, |object: &K, values| {
            values.push(object.namespace());
            Ok(())
        })
    }

    /// Creates an index by the value of a label, named `label:KEY`. Selectors that require a value
    /// of this label use it.
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

    /// Creates an index by the uid of each owner, named `owner-uid`.
    pub fn owner_uid() -> Self {
        Self::new("owner-uid", |object: &K, values| {
            for owner in object.owners().iter() {
                values.push(owner.uid);
            }
        })
    }

    /// Returns the name, for look-ups without a handle.
    pub fn name(&self) -> &Str {
        &self.name
    }

    pub(crate) fn covers(&self) -> &Covers {
        &self.covers
    }

    /// Reports whether the values depend on the object name only, and so never change.
    pub(crate) fn is_by_name(&self) -> bool {
        self.covers == Covers::Namespace
    }

    /// Reports whether every object has at most one value.
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

    /// Reports whether an object has a value; `values` is scratch space.
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
    /// Creates an index by the value of a scalar field, named after its path. Absent fields count
    /// as empty, so `spec.nodeName` also finds the Pods without a node.
    ///
    /// On encoded objects it reads the field from the bytes and decodes nothing else. Objects whose
    /// body was dropped have no value, which is reported.
    ///
    /// # Panics
    /// The kind has no such scalar field. Use [`Self::try_field`] for paths from outside the
    /// program.
    pub fn field(path: &str) -> Self {
        match Self::try_field(path) {
            Ok(index) => index,
            Err(error) => panic!("{error}"),
        }
    }

    /// Does the same as [`Self::field`] for paths that are known only at run time.
    pub fn try_field(path: &str) -> Result<Self, ScalarFieldError> {
        let path = ScalarField::new(K::schema(), path)?;
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

/// A handle to an added index. Clones refer to the same index.
///
/// It works on every lister of objects `K`: where the index is not built, or not yet, a look-up
/// scans.
pub struct IndexHandle<K> {
    pub(crate) index: Arc<Index<K>>,
}

impl<K: Object> IndexHandle<K> {
    /// Creates a handle for an index that is added later.
    pub fn new(index: Index<K>) -> Self {
        Self {
            index: Arc::new(index),
        }
    }

    /// Returns the name.
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

/// A stored form in which single fields can be looked up by path.
pub trait FieldLookup: Object {
    /// Returns the schema of the kind.
    fn schema() -> &'static Schema;
    /// Returns the value of a scalar field; empty if it is absent.
    fn field(&self, path: &ScalarField) -> Cow<'_, str>;
    /// Reports whether the stored form would have the field if the object had it; false if the body
    /// was dropped.
    fn knows(&self, path: &ScalarField) -> bool {
        let _ = path;
        true
    }
}

impl<K: KubeObject> FieldLookup for K {
    fn schema() -> &'static Schema {
        K::SCHEMA
    }

    fn field(&self, path: &ScalarField) -> Cow<'_, str> {
        path.find_in(self)
    }
}
