//! `Resource`: a kind known at compile time; `AnyObject`: any kind at run time.

use crate::wire::{Encode, Ingest, Message, Wire};
use crate::{ApiResource, Object, ObjectMeta};

/// A kind whose names are constants.
pub trait Resource: Object {
    /// The API group; empty for core.
    const GROUP: &'static str;
    /// The version.
    const VERSION: &'static str;
    /// The kind.
    const KIND: &'static str;
    /// The kind of a list of them.
    const LIST_KIND: &'static str;
    /// The plural name in URLs.
    const PLURAL: &'static str;
    /// The singular name.
    const SINGULAR: &'static str;
    /// `group/version`, or the version alone for core.
    const API_VERSION: &'static str;
    /// [`Namespaced`] or [`ClusterScoped`].
    type Scope: Scope;
}

/// A kind whose names are known at compile time, not necessarily as constants; enough for a client
/// to address it. Every [`Resource`] is one, and so are other crates' types.
pub trait ResourceFacts: 'static {
    /// [`Namespaced`] or [`ClusterScoped`].
    type Scope: Scope;

    /// Returns the kind's names.
    fn api_resource() -> ApiResource;
}

impl<K: Resource> ResourceFacts for K {
    type Scope = K::Scope;

    fn api_resource() -> ApiResource {
        ApiResource {
            group: K::GROUP.into(),
            version: K::VERSION.into(),
            kind: K::KIND.into(),
            plural: K::PLURAL.into(),
            singular: K::SINGULAR.into(),
            namespaced: <K::Scope as Scope>::NAMESPACED,
        }
    }
}

/// The scope of a kind.
pub trait Scope: sealed::Sealed + Send + Sync + 'static {
    /// Whether the kind is namespaced.
    const NAMESPACED: bool;
}

/// The scope of namespaced kinds.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a marker without values")]
pub enum Namespaced {}

/// The scope of cluster-scoped kinds.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a marker without values")]
pub enum ClusterScoped {}

impl Scope for Namespaced {
    const NAMESPACED: bool = true;
}

impl Scope for ClusterScoped {
    const NAMESPACED: bool = false;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals `Scope`")]
    pub trait Sealed {}
    impl Sealed for super::Namespaced {}
    impl Sealed for super::ClusterScoped {}
}

/// A decoded object that can be encoded: what clients write and servers store.
pub trait KubeObject: Resource + Wire + Clone + PartialEq + Ingest<Kind = Self> + Encode {
    /// Returns its metadata.
    fn metadata(&self) -> &ObjectMeta;
    /// Returns its metadata for changes.
    fn metadata_mut(&mut self) -> &mut ObjectMeta;
}

/// A decoded object whose kind is known only at run time. Dyn-compatible; every [`KubeObject`]
/// implements it.
pub trait AnyObject: Message {
    /// Returns its metadata.
    fn meta(&self) -> &ObjectMeta;
    /// Returns its metadata for changes.
    fn meta_mut(&mut self) -> &mut ObjectMeta;
    /// Returns a copy.
    fn boxed_clone(&self) -> Box<dyn AnyObject>;
    /// Reports whether `other` has the same kind and is equal.
    fn equals(&self, other: &dyn AnyObject) -> bool;
}

impl<K: KubeObject> AnyObject for K {
    fn meta(&self) -> &ObjectMeta {
        self.metadata()
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.metadata_mut()
    }
    fn boxed_clone(&self) -> Box<dyn AnyObject> {
        Box::new(self.clone())
    }
    fn equals(&self, other: &dyn AnyObject) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<K>().is_some_and(|other| other == self)
    }
}

/// Implements [`Object`], [`Resource`], [`Ingest`], [`Encode`] and [`KubeObject`] for a struct with
/// a `metadata` field.
///
/// These are not blanket implementations, because other crates' types need their own with the
/// features `k8s-openapi` and `kube`.
#[macro_export]
macro_rules! resource {
    ($type:ty, $group:literal, $version:literal, $api_version:literal, $kind:literal,
     $plural:literal, $singular:literal, $scope:ident) => {
        impl $crate::Object for $type {
            fn name(&self) -> &str {
                &self.metadata.name
            }
            fn namespace(&self) -> &str {
                &self.metadata.namespace
            }
            fn uid(&self) -> &str {
                &self.metadata.uid
            }
            fn resource_version(&self) -> &str {
                &self.metadata.resource_version
            }
            fn labels(&self) -> $crate::KeyValues<'_> {
                $crate::KeyValues::Map(&self.metadata.labels)
            }
            fn annotations(&self) -> $crate::KeyValues<'_> {
                $crate::KeyValues::Map(&self.metadata.annotations)
            }
            fn owners(&self) -> $crate::Owners<'_> {
                $crate::Owners::List(&self.metadata.owner_references)
            }
            fn is_terminating(&self) -> bool {
                self.metadata.deletion_timestamp.is_some()
            }
            fn vacant() -> Option<Self> {
                Some(Self::default())
            }
        }
        impl $crate::Resource for $type {
            const GROUP: &'static str = $group;
            const VERSION: &'static str = $version;
            const KIND: &'static str = $kind;
            const LIST_KIND: &'static str = concat!($kind, "List");
            const PLURAL: &'static str = $plural;
            const SINGULAR: &'static str = $singular;
            const API_VERSION: &'static str = $api_version;
            type Scope = $crate::$scope;
        }
        impl $crate::wire::Ingest for $type {
            type Kind = Self;

            #[inline]
            fn ingest(
                bytes: $crate::wire::Bytes,
                encoding: $crate::wire::Encoding,
                cx: &mut $crate::wire::DecodeContext,
            ) -> Result<Self, $crate::wire::WireError> {
                $crate::wire::decode(&bytes, encoding, cx)
            }

            #[inline]
            fn drop_managed_fields(&mut self) {
                self.metadata.drop_managed_fields();
            }
        }
        impl $crate::HasMetadata for $type {
            type Metadata = $crate::ObjectMeta;

            #[inline]
            fn object_metadata(&self) -> &$crate::ObjectMeta {
                &self.metadata
            }
            #[inline]
            fn object_metadata_mut(&mut self) -> &mut $crate::ObjectMeta {
                &mut self.metadata
            }
        }
        impl $crate::Generation for $type {
            #[inline]
            fn generation(&self) -> i64 {
                self.metadata.generation
            }
        }
        impl $crate::wire::Encode for $type {
            const PROTOBUF: bool = true;

            #[inline]
            fn encode(
                &self,
                encoding: $crate::wire::Encoding,
            ) -> Result<Vec<u8>, $crate::wire::EncodeError> {
                $crate::wire::try_encode(self, encoding)
            }

            fn encode_wanted(
                &self,
                with_status: bool,
            ) -> Result<Vec<u8>, $crate::wire::EncodeError> {
                let wanted = $crate::wire::to_wanted(self, with_status)?;
                Ok(wanted.to_string().into_bytes())
            }
        }
        impl $crate::KubeObject for $type {
            fn metadata(&self) -> &$crate::ObjectMeta {
                &self.metadata
            }
            fn metadata_mut(&mut self) -> &mut $crate::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
