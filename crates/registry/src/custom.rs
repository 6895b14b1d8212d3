//! Custom resources: kinds that CustomResourceDefinitions define at run time.
//!
//! A definition is accepted (`names`), becomes a `Shape` with static names (limited by
//! `static_texts`), and then a store and resources like any other, with its own strategy.
//! `registry/custom_resources.rs` follows the stored definitions, and `custom_resources/served.rs`
//! serves them. All versions share one storage, and each is a view of it (`versioned_storage`)
//! that converts objects (`conversion`). Schemas are stored but not enforced.

mod approval;
mod columns;
mod compiled_schema;
pub(crate) mod content;
pub(crate) mod conversion;
mod digest;
pub(crate) mod json_path;
pub(crate) mod known_definition;
pub(crate) mod names;
pub(crate) mod pipeline;
pub(crate) mod scale;
pub(crate) mod serving_conditions;
pub(crate) mod shape;
pub(crate) mod static_texts;
pub(crate) mod strategy;
pub(crate) mod structural;
mod validation;
pub(crate) mod version_rank;
pub(crate) mod version_view;
pub(crate) mod versioned_storage;

pub use approval::{ANNOTATION as APPROVAL_ANNOTATION, Approval, is_protected};
pub use columns::{CustomCell, cells, column_descriptions};
pub use serving_conditions::mark;

/// The finalizer that keeps a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
