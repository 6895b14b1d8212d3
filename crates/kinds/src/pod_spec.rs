//! The spec that Pods and workload templates share, without its volumes.

pub(crate) mod affinity;
pub(crate) mod any_container;
pub(crate) mod container;
pub(crate) mod container_policy;
pub(crate) mod container_ports;
pub(crate) mod defaults;
pub(crate) mod disabled_fields;
pub(crate) mod dns;
pub(crate) mod env;
pub(crate) mod gates;
pub(crate) mod host;
pub(crate) mod image;
pub(crate) mod probe;
pub(crate) mod profiles;
pub(crate) mod resources;
pub(crate) mod security;
pub(crate) mod stop_signal;
pub(crate) mod subject;
pub(crate) mod sysctls;
pub(crate) mod template;
pub(crate) mod tolerations;
pub(crate) mod topology_spread;
pub(crate) mod validation;
pub(crate) mod warnings;
pub(crate) mod windows;
