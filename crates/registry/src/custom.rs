//! Custom resources: kinds that CustomResourceDefinitions define at run time.
//!
//! A definition is accepted (`names`), becomes a `Shape` with static names (limited by `room`),
//! and then a store and resources like any other, with its own strategy. `definitions` follows the
//! stored definitions and updates what is served. Schemas are stored but not enforced.

mod approval;
mod columns;
pub(crate) mod content;
pub(crate) mod json_path;
pub(crate) mod names;
pub(crate) mod room;
pub(crate) mod scale;
pub(crate) mod serving;
pub(crate) mod shape;
pub(crate) mod strategy;
pub(crate) mod version_rank;

pub use approval::{ANNOTATION as APPROVAL_ANNOTATION, Approval, is_protected};
pub use columns::{CustomCell, cells, column_descriptions};
pub use serving::mark;

/// The finalizer that keeps a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
