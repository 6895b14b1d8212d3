//! Volumes of Pods, their templates, and PersistentVolumes.

pub(crate) mod claim_spec;
pub(crate) mod defaults;
pub(crate) mod mounts;
pub(crate) mod path_warnings;
pub(crate) mod projected;
pub(crate) mod providers;
pub(crate) mod source_validation;
pub(crate) mod sources;
pub(crate) mod validation;
pub(crate) mod warnings;
