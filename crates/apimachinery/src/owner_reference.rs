//! `OwnerReference`: a reference to an object's owner, for garbage collection.

use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm};
use crate::{Str, message, schema};

/// A reference to an owner in the same namespace, or to a cluster-scoped one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerReference {
    /// `group/version` of the owner.
    pub api_version: Str,
    /// The owner's kind.
    pub kind: Str,
    /// The owner's name.
    pub name: Str,
    /// The owner's uid; a recreated object of the same name is not the owner.
    pub uid: Str,
    /// Whether the owner is the managing controller. At most one reference of an object may set
    /// this.
    pub controller: Option<bool>,
    /// Whether a foreground deletion of the owner waits for this object.
    pub block_owner_deletion: Option<bool>,
}

schema!(pub(crate) OWNER_REFERENCE = "OwnerReference",
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference", JsonForm::Object, None, [
    Field::new("apiVersion", 5, FieldType::Str, F::REQUIRED),
    Field::new("kind", 1, FieldType::Str, F::REQUIRED),
    Field::new("name", 3, FieldType::Str, F::REQUIRED),
    Field::new("uid", 4, FieldType::Str, F::REQUIRED),
    Field::new("controller", 6, FieldType::Bool, F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("blockOwnerDeletion", 7, FieldType::Bool, F::OMIT_EMPTY.or(F::POINTER)),
], atomic);

message!(OwnerReference, OWNER_REFERENCE, [
    0 api_version, 1 kind, 2 name, 3 uid, 4 controller, 5 block_owner_deletion,
]);
