//! `Source`: creates a [`ListerWatcher`] for any kind and selection.
//!
//! A client implements it, and so does a script in a test. A `SharedInformerFactory` is generic
//! over it and depends on neither.

use crate::ListerWatcher;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, WireError, WireErrorKind};
use kubist_apimachinery::{ApiResource, Object, Str, Unstructured};
use std::sync::Arc;

/// The source of an informer's objects. Clones are cheap and refer to the same source.
pub trait Source: Clone + Send + Sync + 'static {
    /// Creates the lister-watcher of a kind known at compile time, in the form `F`.
    ///
    /// A form with [`Ingest::METADATA_ONLY`] may receive partial objects.
    fn lister_watcher<F: Ingest>(&self, selection: &Selection) -> Arc<dyn ListerWatcher<F>>;

    /// Creates the lister-watcher of a kind known at run time.
    fn dynamic_lister_watcher<F: IngestAny>(
        &self,
        resource: &ApiResource,
        selection: &Selection,
    ) -> Arc<dyn ListerWatcher<F>>;
}

/// A form that can hold objects of any kind: `Unstructured`, or metadata alone.
pub trait IngestAny: Object + Sized {
    /// See [`Ingest::METADATA_ONLY`].
    const METADATA_ONLY: bool = false;
    /// Whether protobuf can be decoded without a schema of the kind.
    const PROTOBUF: bool = false;

    /// Creates the stored form of one object of `resource`; see [`Ingest::ingest`].
    ///
    /// # Errors
    /// The bytes are not an object; the caller counts and reports it, and goes on.
    fn ingest_any(
        bytes: bytes::Bytes,
        encoding: Encoding,
        resource: &ApiResource,
        cx: &mut DecodeContext,
    ) -> Result<Self, WireError>;

    /// See [`Ingest::drop_managed_fields`].
    fn drop_managed_fields(&mut self) {}
}

impl IngestAny for Unstructured {
    fn ingest_any(
        bytes: bytes::Bytes,
        encoding: Encoding,
        resource: &ApiResource,
        cx: &mut DecodeContext,
    ) -> Result<Self, WireError> {
        match encoding {
            Encoding::Json => Self::from_item(&bytes, resource, cx),
            _ => Err(WireError {
                path: String::new(),
                kind: WireErrorKind::Invalid {
                    reason: "protobuf without a schema".to_owned(),
                },
            }),
        }
    }

    fn drop_managed_fields(&mut self) {
        Self::drop_managed_fields(self);
    }
}

/// Selects objects of a resource by namespace and selectors. Default: all objects.
///
/// Equal values select the same objects, so a selection serves as the key of shared informers.
/// Selectors are text in query syntax; typed ones are converted by `to_string()`.
///
/// ```
/// use kubist_cache::Selection;
/// let web = Selection::all().in_namespace("shop").with_labels("app=web");
/// assert_eq!(web.namespace.as_deref(), Some("shop"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct Selection {
    /// The namespace; `None` means all, and is required for cluster-scoped kinds.
    pub namespace: Option<Str>,
    /// A label selector; empty selects everything.
    pub labels: Str,
    /// A field selector; empty selects everything.
    pub fields: Str,
}

impl Selection {
    /// Selects every object.
    pub fn all() -> Self {
        Self::default()
    }

    /// Selects one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<Str>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Selects by labels.
    #[must_use]
    pub fn with_labels(mut self, selector: impl Into<Str>) -> Self {
        self.labels = selector.into();
        self
    }

    /// Selects by fields.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<Str>) -> Self {
        self.fields = selector.into();
        self
    }
}
