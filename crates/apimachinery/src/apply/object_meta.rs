//! `ObjectMetaApply`: the metadata that a program owns.

use crate::{ObjectMeta, OwnerReference, Str, apply_configuration};

apply_configuration! {
    /// Fields of [`ObjectMeta`] to apply. Those that only servers write have no setter; `uid` and
    /// `resourceVersion` are preconditions.
    pub ObjectMetaApply: ObjectMeta, new: [],
    fields: [
        text name "name" Str;
        text namespace "namespace" Str;
        text uid "uid" Str;
        text resource_version "resourceVersion" Str;
        text_map labels "labels" Str;
        text_map annotations "annotations" Str;
        plain_list owner_references "ownerReferences" OwnerReference;
        text_list finalizers "finalizers" Str;
    ]
}
