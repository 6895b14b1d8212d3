//! `Source`: makes a [`ListerWatcher`] for any kind and selection.
//!
//! A client is one, and so is a script in a test; a `SharedInformerFactory` is generic over it and
//! so needs to know neither.

use crate::ListerWatcher;
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, WireError, WireErrorKind};
use kubist_apimachinery::{ApiResource, Object, Str, Unstructured};
use std::sync::Arc;

/// Where informers get their objects from. Clones are cheap and mean the same source.
pub trait Source: Clone + Send + Sync + 'static {
    /// For a kind known at compile time, in the form `F`.
    ///
    /// A form with [`Ingest::METADATA_ONLY`] may be fed with partial objects.
    fn lister_watcher<F: Ingest>(&self, selection: &Selection) -> Arc<dyn ListerWatcher<F>>;

    /// For a kind known at run time.
    fn dynamic_lister_watcher<F: IngestAny>(
        &self,
        resource: &ApiResource,
        selection: &Selection,
    ) -> Arc<dyn ListerWatcher<F>>;
}

/// A form in which objects of any kind can be held: `Unstructured`, bare metadata.
pub trait IngestAny: Object + Sized {
    /// As [`Ingest::METADATA_ONLY`].
    const METADATA_ONLY: bool = false;
    /// Whether protobuf can be read without a schema of the kind.
    const PROTOBUF: bool = false;

    /// Makes the held form of one object of `resource`; see [`Ingest::ingest`].
    ///
    /// # Errors
    /// The bytes are not an object; the caller counts and reports it, and goes on.
    fn ingest_any(
        bytes: bytes::Bytes,
        encoding: Encoding,
        resource: &ApiResource,
        cx: &mut DecodeContext,
    ) -> Result<Self, WireError>;

    /// As [`Ingest::drop_managed_fields`].
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

/// Which objects of a resource: a namespace or all, and selectors. Default: all.
///
/// Two that print the same select the same, so it serves as a key of shared informers. Selectors
/// are text in the query's syntax; a typed one goes in by its `to_string()`.
///
/// ```
/// use kubist_cache::Selection;
/// let web = Selection::all().in_namespace("shop").with_labels("app=web");
/// assert_eq!(web.namespace.as_deref(), Some("shop"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct Selection {
    /// The namespace; `None` means all (and is right for cluster-scoped kinds).
    pub namespace: Option<Str>,
    /// A label selector; empty selects everything.
    pub labels: Str,
    /// A field selector; empty selects everything.
    pub fields: Str,
}

impl Selection {
    /// Every object.
    pub fn all() -> Self {
        Self::default()
    }

    /// In this namespace only.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<Str>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// With these labels only.
    #[must_use]
    pub fn with_labels(mut self, selector: impl Into<Str>) -> Self {
        self.labels = selector.into();
        self
    }

    /// With these fields only.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<Str>) -> Self {
        self.fields = selector.into();
        self
    }
}
