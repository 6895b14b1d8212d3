//! The built-in kinds of the API server: the behaviour that is specific to each kind.
//!
//! [`BuiltIn`] adds upstream's kinds to a [`Registry`](kubist_registry::Registry): their strategies
//! (defaults, admission, validation, status), version conversion, the allocation of service
//! addresses and node ports, and the objects that exist in every cluster. [`table_cells`] and the
//! related functions produce the rows that `kubectl get` prints.
//!
//! Each folder is an API group. A file named after a kind contains its strategy; the folder beside
//! it contains the longer pieces: `validation` (in upstream's order and words), `defaults`,
//! `warnings`, `status`. `shared`, `volume` and `pod_spec` are common to several kinds; each may
//! use those before it, and none uses the folders of API groups. Kinds without a file use the
//! `plain` strategy.
//!
//! This crate stores and serves nothing itself.
//!
//! ```
//! use kubist_kinds::BuiltIn;
//! use kubist_registry::{Registry, RegistryConfig};
//! use kubist_storage::memory::MemoryKv;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), kubist_apimachinery::Status> {
//! let config = RegistryConfig::new(Arc::new(MemoryKv::default()), BuiltIn::shared());
//! let registry = Registry::new(config);
//! registry.start().await?;
//! assert!(registry.resource("apps", "v1", "deployments").is_some());
//! # Ok(())
//! # }
//! ```

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(
    clippy::result_large_err,
    reason = "the error is the answer itself; it is rare, and its callers match on it"
)]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod admissionregistration;
mod apiextensions;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
mod built_in;
mod certificates;
mod cluster;
mod convert;
mod coordination;
mod core;
mod discovery;
mod fields;
mod flowcontrol;
mod networking;
mod node;
mod pod_spec;
mod policy;
mod rbac;
mod read_defaults;
mod resource;
mod scale;
mod scheduling;
mod service_allocation;
mod shared;
mod storage;
mod storagemigration;
mod strategies;
mod table;
mod volume;

pub use built_in::BuiltIn;
pub use cluster::node_rules;
pub use table::{
    column_descriptions, has_own_columns, scale_cells, scale_columns, scale_descriptions,
    table_cells, table_columns,
};
