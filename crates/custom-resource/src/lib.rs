//! Custom resources from Rust structs.
//!
//! `#[derive(CustomResource)]` on the struct of a spec generates the kind: a struct with metadata,
//! spec and status that clients, caches, informers and controllers accept like a built-in kind. The
//! trait [`CustomResource`] returns its definition, with a structural schema from
//! [`schemars::JsonSchema`]. [`merge_definitions`] makes one definition of several versions, and
//! [`Conversions`] converts objects between them.
//!
//! It is no client and no webhook server: it performs no I/O.
//!
//! ```
//! use kubist_custom_resource::CustomResource;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! /// A fruit.
//! #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
//! #[custom_resource(group = "example.com", version = "v1", kind = "Fig", namespaced)]
//! #[custom_resource(status = "FigStatus", shortname = "fg")]
//! #[custom_resource(printcolumn(name = "Colour", type = "string", json_path = ".spec.colour"))]
//! struct FigSpec {
//!     colour: String,
//!     #[schemars(range(min = 1))]
//!     weight: Option<u32>,
//! }
//!
//! #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
//! struct FigStatus {
//!     ripe: bool,
//! }
//!
//! let fig = Fig::new("first", FigSpec { colour: "green".to_owned(), weight: None });
//! assert_eq!(fig.spec.colour, "green");
//! assert_eq!(Fig::definition_name(), "figs.example.com");
//! let definition = Fig::definition();
//! assert_eq!(definition.spec.names.kind, "Fig");
//! ```
//!
//! # Contracts
//!
//! - A definition is accepted by a kube-apiserver v1.36, or [`CustomResource::try_definition`]
//!   fails.
//! - Objects are JSON: servers are not asked for protobuf.
//! - Decoding reports the path of a value that does not fit. A missing spec is decoded as `{}`.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

// The derive names this crate, also in its own tests.
extern crate self as kubist_custom_resource;

mod conversion;
mod custom_resource;
mod definition;
mod facts;
mod markers;
mod merge;
mod parts;
mod structural;

pub use conversion::{ConversionError, Conversions, ConvertFrom, ConvertTo};
pub use custom_resource::CustomResource;
pub use definition::DefinitionError;
pub use kubist_derive::CustomResource;
pub use markers::{ListType, MapType, Rule};
pub use merge::{MergeError, merge_definitions};
pub use schemars;
pub use structural::SchemaError;

#[doc(hidden)]
pub mod private {
    //! What generated code names.

    pub use crate::facts::{Column, Facts, Scale, schema_of};
    pub use crate::parts::{Parts, encode_wanted, from_json, from_protobuf};
    pub use kubist_apimachinery as apimachinery;
    pub use serde;
}
