//! CEL rules of structural schemas (`x-kubernetes-validations`): their types, their compilation and
//! their evaluation.
//!
//! Rules are compiled once for a schema, and evaluated for any number of objects.

pub(crate) mod compile;
pub(crate) mod declare;
pub(crate) mod evaluate;
pub(crate) mod expressions;
pub(crate) mod field_path;
mod message;
pub(crate) mod rule_errors;
pub(crate) mod tree;
mod unchanged;
