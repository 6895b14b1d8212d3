//! Kinds of `admissionregistration.k8s.io`.

pub(crate) mod admission_policy;
pub(crate) mod webhook;
pub(crate) mod webhook_configuration;
