//! The common types of the Kubernetes API: metadata, names, versions, selectors, quantities,
//! statuses, and the wire trait that every API type implements.
//!
//! It is not a client and has no API types beyond those shared by all groups (see `kubist-api`). It
//! does no I/O, reads no clock and uses no async runtime.
//!
//! ```
//! use kubist_apimachinery::{ObjectMeta, wire::{DecodeContext, Wire}};
//!
//! let json = br#"{"name": "web", "labels": {"app": "web"}}"#;
//! let meta = ObjectMeta::from_json(json, &mut DecodeContext::new())?;
//! assert_eq!(meta.labels["app"], "web");
//! let bytes = meta.to_protobuf();
//! assert_eq!(ObjectMeta::from_protobuf(&bytes, &mut DecodeContext::new())?, meta);
//! # Ok::<(), kubist_apimachinery::wire::WireError>(())
//! ```
//!
//! Contracts: JSON and protobuf output is byte for byte upstream's. Decoding does not panic, is
//! bounded in depth and size by its [`wire::DecodeContext`], and reports the field of an error. A
//! [`Quantity`], [`Selector`] or [`Time`] that exists is valid.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod apply;
mod byte_string;
mod causes;
mod condition;
mod custom_object;
mod delete_options;
mod duration;
mod field_error;
mod field_path;
mod field_selector;
#[cfg(feature = "k8s-openapi")]
mod foreign;
mod generation;
pub mod go_text;
mod group_version;
mod has_metadata;
mod int_or_string;
mod label_filter;
mod label_selector;
mod label_selector_spec;
mod lean_meta;
mod list_meta;
mod list_options;
mod managed_fields;
mod micro_time;
mod object;
mod object_meta;
mod object_name;
mod owner_reference;
mod post_options;
mod quantity;
mod query;
mod resource;
mod resource_version;
mod retry;
mod status;
mod status_reason;
mod str;
mod str_option;
mod time;
mod unstructured;
#[cfg(test)]
mod upstream_table;
pub mod validate_name;
pub mod wire;

pub use byte_string::ByteString;
pub use causes::with_causes;
pub use condition::{
    CONDITION, CONDITION_FALSE, CONDITION_TRUE, CONDITION_UNKNOWN, Condition, find_condition,
    is_condition_false, is_condition_true, remove_condition, set_condition,
};
pub use custom_object::CustomObject;
pub use delete_options::{
    DELETE_OPTIONS, DeleteOptions, Deletion, PRECONDITIONS, Preconditions, PropagationPolicy,
};
pub use duration::{Duration, ParseDurationError};
pub use field_error::{BadValue, FieldError, FieldErrorKind};
pub use field_path::FieldPath;
pub use field_selector::{FieldSelector, FieldTerm, ParseFieldSelectorError};
#[cfg(feature = "k8s-openapi")]
pub use foreign::{ForeignKind, ForeignObject, ForeignScope};
pub use generation::{Finalizers, Generation};
pub use group_version::{
    ApiResource, GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource,
    ParseGroupVersionError,
};
pub use has_metadata::{HasMetadata, OwnerReferences};
pub use int_or_string::{IntOrString, Rounding, ScaleError};
pub use label_filter::LabelFilter;
pub use label_selector::{
    LabelMatcher, Operator, ParseSelectorError, Requirement, RequirementError, Selector,
    format_label_selector, validate_label_selector, validate_labels,
};
pub use label_selector_spec::{
    LABEL_SELECTOR, LABEL_SELECTOR_REQUIREMENT, LabelSelector, LabelSelectorRequirement,
};
pub use lean_meta::{LEAN_META, LeanMeta};
pub use list_meta::{LIST_META, List, ListMeta, SHARD_INFO, ShardInfo};
pub use list_options::{
    EXACT, ListOptions, ListPosition, NOT_OLDER_THAN, ParsedSelectors, WatchPosition,
};
pub use managed_fields::ManagedFieldsEntry;
pub use micro_time::MicroTime;
pub use object::{KeyValueSource, KeyValues, Object, Owner, OwnerSource, Owners};
pub use object_meta::{LAST_APPLIED, OBJECT_META, ObjectMeta};
pub use object_name::{ObjectName, ParseObjectNameError};
pub use owner_reference::OwnerReference;
pub use post_options::{
    FIELD_MANAGER_LENGTH_MAX, FieldValidation, PatchOptions, PostOptions, WriteVerb,
    field_manager_errors,
};
pub use quantity::{ParseQuantityError, Quantity, QuantityFormat};
pub use query::{OptionsError, QueryPairs};
pub use resource::{
    AnyObject, ClusterScoped, KubeObject, Namespaced, Resource, ResourceFacts, Scope,
};
pub use resource_version::ResourceVersion;
pub use retry::Retry;
pub use status::{
    GenericResponse, STATUS, STATUS_CAUSE, STATUS_DETAILS, STATUS_FAILURE, STATUS_SUCCESS, Status,
    StatusCause, StatusDetails,
};
pub use status_reason::{CauseType, StatusReason};
pub use str::Str;
pub use str_option::StrOption;
pub use time::{ParseTimeError, Time};
pub use unstructured::{Unstructured, json_type};
pub use wire::{FieldsV1, RawExtension, RawJson};
