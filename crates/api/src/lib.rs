//! The built-in Kubernetes API types, generated from the API schema.
//!
//! The structs have the field names of the API in snake case. A Go value is a plain field whose
//! zero value means absent; a Go pointer is an `Option`. The documentation of a field states if it
//! is required, its values and default, and how lists are merged. All types implement serde for
//! JSON, and protobuf, byte-exact with upstream, through
//! [`Wire`](kubist_apimachinery::wire::Wire).
//!
//! Each group version is an additive feature (`core-v1`, `apps-v1`, …; `full` for all). None is
//! enabled by default. The crate contains no client, no defaulting and no validation.
//!
//! ```
//! # #[cfg(feature = "core-v1")] {
//! use kubist_api::core::v1::Pod;
//! use kubist_apimachinery::wire::{DecodeContext, Wire};
//!
//! let json = br#"{"metadata": {"name": "web"}, "spec": {"nodeName": "node-7"}}"#;
//! let pod = Pod::from_json(json, &mut DecodeContext::new()).unwrap();
//! assert_eq!(pod.spec.node_name, "node-7");
//! # }
//! ```

#![cfg_attr(all(doctest, feature = "core-v1"), doc = include_str!("../README.md"))]

#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "without features there are no types"
)]
mod api_type;
mod facts;
#[allow(clippy::all, clippy::pedantic, clippy::use_self, reason = "generated")]
mod generated;
#[cfg(feature = "core-v1")]
mod object_reference;
mod priorities;

pub use facts::{
    Column, GroupFacts, Kind, ResourceFacts, SubresourceFacts, VersionFacts, find_kind,
    find_kind_by_api_version,
};
pub use generated::kinds::KINDS;
pub use generated::resources::GROUPS;
pub use generated::*;
pub use priorities::{ApiServicePriority, api_service_priority};
