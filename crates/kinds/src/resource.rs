//! Kinds of `resource.k8s.io`.

mod claim_status;
pub(crate) mod device_class;
mod device_names;
pub(crate) mod device_taint_rule;
pub(crate) mod devices;
pub(crate) mod resource_claim;
pub(crate) mod resource_slice;
