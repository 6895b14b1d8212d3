//! Structural schemas of custom resources: what the `openAPIV3Schema` of a
//! `CustomResourceDefinition` means for its objects. The counterpart of the schema packages of
//! upstream's apiextensions-apiserver and of kube-openapi's validation.
//!
//! A [`Schema`] is converted from a definition. [`prune`] removes unknown fields, [`remove_nulls`]
//! and [`apply_defaults`] fill in what is absent, and objects are validated with the words, paths
//! and order of upstream's errors. [`CompiledRules`] are its CEL rules.
//!
//! It performs no I/O and reads no clock.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod convert;
mod correlate;
mod defaults;
mod definition;
mod embedded;
mod format;
mod go_value;
mod list_types;
mod pattern;
mod place;
mod props;
mod prune;
mod rules;
mod schema;
mod settled;
mod steps;
mod structural;
mod unknown_fields;
mod validate;

pub use convert::{ConvertError, SCHEMA_DEPTH_MAX};
pub use defaults::{apply_defaults, remove_nulls};
pub use definition::{PruneDefaultsError, RuleChecker, SchemaOptions, check_schema};
pub use embedded::{Malformed, coerce_metadata, validate_embedded};
pub use go_value::DEPTH_MAX;
pub use list_types::{validate_list_types, validate_list_types_update};
pub use prune::prune;
pub use rules::evaluate::{blocked_rules, validate_rules};
pub use rules::expressions::KnownExpressions;
pub use rules::rule_errors::RuleErrors;
pub use rules::tree::CompiledRules;
pub use schema::{AdditionalProperties, Kind, ListType, Schema};
pub use settled::is_settled;
pub use steps::Steps;
pub use structural::check_structural;
pub use unknown_fields::UnknownFields;
pub use validate::{validate, validate_update};
