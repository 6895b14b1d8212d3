#![doc = include_str!("../README.md")]

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
