//! Kinds of `flowcontrol.apiserver.k8s.io`.

pub(crate) mod flow_control;
