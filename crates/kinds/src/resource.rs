//! Kinds of `resource.k8s.io`.

pub(crate) mod device_class;
pub(crate) mod devices;
pub(crate) mod resource_claim;
pub(crate) mod resource_slice;
