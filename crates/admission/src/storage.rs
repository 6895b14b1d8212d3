//! The plugins of storage.

mod default_storage_class;
mod persistent_volume_claim_resize;
mod storage_object_in_use_protection;

pub(crate) use default_storage_class::DefaultStorageClass;
pub(crate) use persistent_volume_claim_resize::PersistentVolumeClaimResize;
pub(crate) use storage_object_in_use_protection::StorageObjectInUseProtection;

/// The class of a claim, where an annotation says it.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
