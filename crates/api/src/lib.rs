//! The built-in Kubernetes API types, generated from a schema of facts.
//!
//! Structs with the field names of the API in Rust case; a Go value field is a plain field whose
//! zero means absent, a Go pointer is an `Option`. What is known of a field is told at it: whether
//! it is required, its values and default, and how lists are merged. Every type speaks JSON (serde)
//! and protobuf (byte-exact with upstream) through [`Wire`](kubist_apimachinery::wire::Wire).
//!
//! Each group version is an additive feature (`core-v1`, `apps-v1`, …, `full` for all); none is on
//! by default. It is not a client, and validates and defaults nothing: a server does.
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

mod facts;
#[allow(clippy::all, clippy::pedantic, clippy::use_self, reason = "generated")]
mod generated;

pub use facts::{
    Column, GroupFacts, Kind, ResourceFacts, SubresourceFacts, VersionFacts, find_kind,
    find_kind_by_api_version,
};
pub use generated::kinds::KINDS;
pub use generated::resources::GROUPS;
pub use generated::*;
