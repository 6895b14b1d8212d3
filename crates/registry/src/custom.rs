//! Custom resources: kinds that CustomResourceDefinitions make known at run time.
//!
//! A definition is accepted (`names`), becomes a [`Shape`] with static names (for which it has so
//! much
//! `room` and no more), and then a store and
//! resources like any other, with a strategy of its own. `definitions` follows the stored
//! definitions and keeps what is served in step. Schemas are kept and not enforced.

mod approval;
mod columns;
mod definitions;
mod field_path;
mod names;
mod room;
mod said;
mod scale;
mod served;
mod serving;
mod shape;
mod strategy;

pub use approval::{ANNOTATION as APPROVAL_ANNOTATION, Approval, is_protected};
pub use columns::{CustomCell, cells, column_descriptions};
pub use definitions::mark;
pub(crate) use field_path::FieldPath;
use kubist_apimachinery::{AnyObject, CustomObject};
pub(crate) use scale::ScalePaths;
pub(crate) use served::{Definitions, Served};
pub(crate) use shape::{Shape, shape_of};
use std::any::Any;
use strategy::CustomStrategy;

/// The finalizer that keeps a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The object as a custom one.
pub fn custom(object: &dyn AnyObject) -> Option<&CustomObject> {
    (object as &dyn Any).downcast_ref()
}

/// The object as a custom one, to change it.
pub(crate) fn custom_mut(object: &mut dyn AnyObject) -> Option<&mut CustomObject> {
    (object as &mut dyn Any).downcast_mut()
}
