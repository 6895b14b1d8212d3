//! Kinds of `flowcontrol.apiserver.k8s.io`.

pub(crate) mod defaults;
pub(crate) mod flow_control;
mod flow_schema_rules;
