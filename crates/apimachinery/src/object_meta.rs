//! `ObjectMeta`: the metadata of every object.

use crate::managed_fields::{MANAGED_FIELDS_ENTRY, ManagedFieldsEntry};
use crate::owner_reference::{OWNER_REFERENCE, OwnerReference};
use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm, ListType, Merge};
use crate::{Str, Time, message, schema};
use std::collections::BTreeMap;

/// The annotation in which `kubectl apply` keeps the last applied object.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The standard metadata. Empty strings, lists and maps mean absent, as on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectMeta {
    /// The name, unique per kind and namespace.
    pub name: Str,
    /// The prefix of a name that the server generates when `name` is empty.
    pub generate_name: Str,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: Str,
    /// Deprecated; servers leave it empty.
    pub self_link: Str,
    /// Unique in time and space; set by the server.
    pub uid: Str,
    /// The resource version; set by the server.
    pub resource_version: Str,
    /// The generation of the desired state; set by the server.
    pub generation: i64,
    /// The creation time.
    pub creation_timestamp: Option<Time>,
    /// The time at which the object is to be deleted: that of the request plus the grace period.
    pub deletion_timestamp: Option<Time>,
    /// The grace period in seconds.
    pub deletion_grace_period_seconds: Option<i64>,
    /// The labels, for selectors.
    pub labels: BTreeMap<Str, Str>,
    /// The annotations, for tools.
    pub annotations: BTreeMap<Str, Str>,
    /// The owners; when the last one is gone, the object is garbage collected.
    pub owner_references: Vec<OwnerReference>,
    /// The finalizers that must be removed before the object is deleted.
    pub finalizers: Vec<Str>,
    /// The field managers and their fields.
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

const MERGE_BY_UID: Merge = Merge {
    merge: true,
    key: "uid",
    ..Merge::NONE
};
const MERGE_SET: Merge = Merge {
    merge: true,
    ..Merge::NONE
};

schema!(pub OBJECT_META = "ObjectMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    JsonForm::Object, None, [
    Field::new("name", 1, FieldType::Str, F::OMIT_EMPTY),
    Field::new("generateName", 2, FieldType::Str, F::OMIT_EMPTY),
    Field::new("namespace", 3, FieldType::Str, F::OMIT_EMPTY),
    Field::new("selfLink", 4, FieldType::Str, F::OMIT_EMPTY),
    Field::new("uid", 5, FieldType::Str, F::OMIT_EMPTY),
    Field::new("resourceVersion", 6, FieldType::Str, F::OMIT_EMPTY),
    Field::new("generation", 7, FieldType::I64, F::OMIT_EMPTY),
    Field::new("creationTimestamp", 8, FieldType::Message(&crate::wire::TIME),
        F::OMIT_EMPTY.or(F::OMIT_ZERO)),
    Field::new("deletionTimestamp", 9, FieldType::Message(&crate::wire::TIME),
        F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("deletionGracePeriodSeconds", 10, FieldType::I64, F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("labels", 11, FieldType::StrMap, F::OMIT_EMPTY),
    Field::new("annotations", 12, FieldType::StrMap, F::OMIT_EMPTY),
    Field::new("ownerReferences", 13, FieldType::MessageList(&OWNER_REFERENCE), F::OMIT_EMPTY)
        .with_merge(MERGE_BY_UID).with_list(ListType::Map(&["uid"])),
    Field::new("finalizers", 14, FieldType::StrList, F::OMIT_EMPTY)
        .with_merge(MERGE_SET).with_list(ListType::Set),
    Field::new("managedFields", 17, FieldType::MessageList(&MANAGED_FIELDS_ENTRY), F::OMIT_EMPTY)
        .with_list(ListType::Atomic),
]);

message!(ObjectMeta, OBJECT_META, [
    0 name, 1 generate_name, 2 namespace, 3 self_link, 4 uid, 5 resource_version, 6 generation,
    7 creation_timestamp, 8 deletion_timestamp, 9 deletion_grace_period_seconds, 10 labels,
    11 annotations, 12 owner_references, 13 finalizers, 14 managed_fields,
]);

impl ObjectMeta {
    /// Returns the owner that is the controller.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references
            .iter()
            .find(|owner| owner.controller == Some(true))
    }

    /// Removes the managed fields and the annotation [`LAST_APPLIED`], which client-side
    /// `kubectl apply` needs: do not replace a stored object by one without it.
    pub fn drop_managed_fields(&mut self) {
        self.managed_fields = Vec::new();
        self.annotations.remove(LAST_APPLIED);
    }

    /// Reports whether deletion was requested.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}
