//! `LeanMeta`: the metadata that caches and controllers read.
//!
//! Projections use it in place of [`ObjectMeta`](crate::ObjectMeta). It has no annotations and no
//! managed fields, and cannot be written back.

use crate::owner_reference::OWNER_REFERENCE;
use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm};
use crate::{KeyValues, Object, OwnerReference, Owners, Str, Time, message, schema};
use std::collections::BTreeMap;

/// Metadata without annotations, finalizers and managed fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeanMeta {
    /// The name, unique per kind and namespace.
    pub name: Str,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: Str,
    /// Unique in time and space.
    pub uid: Str,
    /// The resource version.
    pub resource_version: Str,
    /// The time of the deletion request.
    pub deletion_timestamp: Option<Time>,
    /// Labels, for selectors.
    pub labels: BTreeMap<Str, Str>,
    /// The owners.
    pub owner_references: Vec<OwnerReference>,
}

// Has fields of ObjectMeta and its name, so that a path to `metadata` accepts either.
schema!(pub LEAN_META = "ObjectMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    JsonForm::Object, None, [
    Field::new("name", 1, FieldType::Str, F::OMIT_EMPTY),
    Field::new("namespace", 3, FieldType::Str, F::OMIT_EMPTY),
    Field::new("uid", 5, FieldType::Str, F::OMIT_EMPTY),
    Field::new("resourceVersion", 6, FieldType::Str, F::OMIT_EMPTY),
    Field::new("deletionTimestamp", 9, FieldType::Message(&crate::wire::TIME),
        F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("labels", 11, FieldType::StrMap, F::OMIT_EMPTY),
    Field::new("ownerReferences", 13, FieldType::MessageList(&OWNER_REFERENCE), F::OMIT_EMPTY),
]);

message!(LeanMeta, LEAN_META, [
    0 name, 1 namespace, 2 uid, 3 resource_version, 4 deletion_timestamp, 5 labels,
    6 owner_references,
]);

impl Object for LeanMeta {
    fn name(&self) -> &str {
        &self.name
    }
    fn namespace(&self) -> &str {
        &self.namespace
    }
    fn uid(&self) -> &str {
        &self.uid
    }
    fn resource_version(&self) -> &str {
        &self.resource_version
    }
    fn labels(&self) -> KeyValues<'_> {
        KeyValues::Map(&self.labels)
    }
    fn annotations(&self) -> KeyValues<'_> {
        KeyValues::Empty
    }
    fn owners(&self) -> Owners<'_> {
        Owners::List(&self.owner_references)
    }
    fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
    fn vacant() -> Option<Self> {
        Some(Self::default())
    }
}
