//! Kinds of `certificates.k8s.io`.

pub(crate) mod certificate_signing_request;
pub(crate) mod cluster_trust_bundle;
