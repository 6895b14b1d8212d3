//! Field ownership of Kubernetes objects: `FieldsV1` field sets, and comparison and merging of
//! objects by their types. The counterpart of Go's structured-merge-diff.
//!
//! Field sets are read and written with the same bytes as in Go. Types say which lists are sets or
//! have keys, and which lists and maps are atomic; objects without a schema have a deduced type.
//! [`Updater`] computes what writes make of objects and of the fields that managers own. It
//! performs no I/O and reads no clock.
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

mod conflict;
mod extractor;
mod field_filter;
mod field_manager;
mod field_set;
mod fields_v1;
mod managed_fields;
mod manager_id;
mod object_type;
mod owned_set;
mod path_element;
mod scale_fields;
pub mod schema;
mod typed;
mod updater;
mod value_order;
mod zip;

pub use conflict::{Conflict, Conflicts};
pub use extractor::Extractor;
pub use field_filter::{FieldFilter, PathMatcher};
pub use field_manager::{
    AppliedObject, ApplyError, ApplyRequest, FieldManager, ManagedKind, ObjectConverter,
    UpdateRequest,
};
pub use field_set::FieldSet;
pub use fields_v1::{FIELDS_DEPTH_MAX, FieldsV1Error};
pub use managed_fields::{ManagedFields, ManagedFieldsError, OwnedFields};
pub use manager_id::{ManagerId, Operation};
pub use object_type::{ExtractError, ObjectType};
pub use owned_set::OwnedSet;
pub use path_element::{KeyField, PathElement};
pub use scale_fields::{ReplicasPath, scale_entries, workload_entries};
pub use typed::{Comparison, Duplicates, TypedError, TypedErrors, TypedValue};
pub use updater::{Applied, ConvertError, UpdateError, Updater, VersionConverter};
