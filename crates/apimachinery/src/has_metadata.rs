//! `HasMetadata`: an object with decoded metadata, ours or k8s-openapi's; `OwnerReferences`: the
//! owners in such metadata.
//!
//! For code that changes metadata of any decoded kind, such as finalizers and owner references.
//! Code that only reads uses [`Object`](crate::Object).

use crate::{Finalizers, ObjectMeta, OwnerReference};

/// An object with decoded metadata: a generated kind, one that derives a kind, and, with the
/// features `k8s-openapi` and `kube`, other crates' types.
pub trait HasMetadata {
    /// Its metadata: [`ObjectMeta`] or k8s-openapi's.
    type Metadata: Finalizers + OwnerReferences;

    /// Returns its metadata.
    fn object_metadata(&self) -> &Self::Metadata;
    /// Returns its metadata for changes.
    fn object_metadata_mut(&mut self) -> &mut Self::Metadata;
}

/// Metadata with owner references.
pub trait OwnerReferences {
    /// Returns the owner references.
    fn owner_references(&self) -> Vec<OwnerReference>;
    /// Replaces the owner references.
    fn set_owner_references(&mut self, owners: Vec<OwnerReference>);
}

/// Metadata is its own.
impl HasMetadata for ObjectMeta {
    type Metadata = Self;

    fn object_metadata(&self) -> &Self {
        self
    }
    fn object_metadata_mut(&mut self) -> &mut Self {
        self
    }
}

impl OwnerReferences for ObjectMeta {
    fn owner_references(&self) -> Vec<OwnerReference> {
        self.owner_references.clone()
    }

    fn set_owner_references(&mut self, owners: Vec<OwnerReference>) {
        self.owner_references = owners;
    }
}
