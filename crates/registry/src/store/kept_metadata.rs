//! The metadata that an update does not change.

use crate::strategy::facts::StatusKeeps;
use kubist_apimachinery::{KubeObject, ObjectMeta};

/// Restores metadata that users can never change.
pub(super) fn restore_metadata(new: &mut ObjectMeta, old: &ObjectMeta) {
    new.generation = old.generation;
    if new.uid.is_empty() {
        new.uid = old.uid.clone();
    }
    new.creation_timestamp = old.creation_timestamp;
    if old.deletion_timestamp.is_some() {
        new.deletion_timestamp = old.deletion_timestamp;
    }
    if new.deletion_grace_period_seconds.is_none() {
        new.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
    }
}

pub(super) fn keep_metadata(keeps: StatusKeeps, new: &mut ObjectMeta, old: &ObjectMeta) {
    match keeps {
        StatusKeeps::Everything => {
            let version = std::mem::take(&mut new.resource_version);
            let uid = std::mem::take(&mut new.uid);
            let managed_fields = std::mem::take(&mut new.managed_fields);
            *new = old.clone();
            new.managed_fields = managed_fields;
            new.resource_version = version;
            new.uid = uid;
        }
        StatusKeeps::Most => keep_most(new, old),
        StatusKeeps::Labels => new.labels.clone_from(&old.labels),
        StatusKeeps::Owners => new.owner_references.clone_from(&old.owner_references),
        StatusKeeps::Nothing => {}
    }
}

/// Restores metadata that upstream resets where only part of an object may change.
pub fn keep_most(new: &mut ObjectMeta, old: &ObjectMeta) {
    *new = ObjectMeta {
        resource_version: std::mem::take(&mut new.resource_version),
        uid: std::mem::take(&mut new.uid),
        generate_name: std::mem::take(&mut new.generate_name),
        managed_fields: std::mem::take(&mut new.managed_fields),
        deletion_grace_period_seconds: new.deletion_grace_period_seconds,
        ..old.clone()
    };
}

/// Reports whether a write changes nothing but what the garbage collector changes, to delete the
/// object in the end: owners and finalizers. Such a write grants and attests nothing.
pub fn changes_only_ownership<K: KubeObject>(new: &K, old: &K) -> bool {
    let mut same = new.clone();
    let (metadata, before) = (same.metadata_mut(), old.metadata());
    metadata
        .owner_references
        .clone_from(&before.owner_references);
    metadata.finalizers.clone_from(&before.finalizers);
    metadata.managed_fields.clone_from(&before.managed_fields);
    metadata
        .resource_version
        .clone_from(&before.resource_version);
    same == *old
}
