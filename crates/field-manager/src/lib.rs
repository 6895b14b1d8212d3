//! Field ownership of Kubernetes objects: `FieldsV1` field sets, and comparison and merging of
//! objects by their types. The counterpart of Go's structured-merge-diff.
//!
//! Field sets are read and written with the same bytes as in Go. Types say which lists are sets or
//! have keys, and which lists and maps are atomic; objects without a schema have a deduced type. It
//! knows neither managers nor conflicts yet, performs no I/O and reads no clock.
//!
//! ```
//! use kubist_field_manager::FieldSet;
//!
//! let applied = FieldSet::from_json(r#"{"f:spec":{"f:replicas":{},"f:paused":{}}}"#)?;
//! let scaled = FieldSet::from_json(r#"{"f:spec":{"f:replicas":{}}}"#)?;
//! assert_eq!(applied.intersection(&scaled).to_string(), ".spec.replicas");
//! assert_eq!(applied.difference(&scaled).to_json(), r#"{"f:spec":{"f:paused":{}}}"#);
//! # Ok::<(), kubist_field_manager::FieldsV1Error>(())
//! ```

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod field_set;
mod fields_v1;
mod path_element;
pub mod schema;
mod typed;
mod value_order;

pub use field_set::FieldSet;
pub use fields_v1::FieldsV1Error;
pub use path_element::{KeyField, PathElement};
pub use typed::{Comparison, Duplicates, TypedError, TypedErrors, TypedValue};
