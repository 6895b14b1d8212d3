//! Kinds of `scheduling.k8s.io`.

pub(crate) mod priority_class;
