//! [`SizeEstimator`]: the sizes of variables and of what they contain.

use super::estimate::SizeEstimate;
use crate::cel_type::{Name, Type};
use crate::declared::{Declared, Kind};
use std::fmt;
use std::sync::Arc;

/// An element of the path from a variable to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "paths have these elements")]
pub enum PathElement {
    /// A variable or a field.
    Name(Name),
    /// The elements of a list.
    Items,
    /// The indexes of a list.
    Indices,
    /// The keys of a map.
    Keys,
    /// The values of a map.
    Values,
}

/// A value whose size is estimated.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "estimators get these")]
pub struct SizeNode<'n> {
    /// The path to it, if it is reached from a variable. The first element is the variable, or
    /// [`PathElement::Items`] for elements of a list of the expression.
    pub path: Option<&'n [PathElement]>,
    /// Its type.
    pub kind: &'n Type,
}

/// Estimates the sizes of variables and what they contain.
pub trait SizeEstimator: fmt::Debug + Send + Sync {
    /// Returns the size of a value, or none if nothing is known.
    fn estimate(&self, node: &SizeNode<'_>) -> Option<SizeEstimate>;
}

/// The sizes that a declared type has, as rules of custom resources use them: whatever the variable
/// is, its type is the root.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "a root is all there is")]
pub struct DeclaredSizes(pub Arc<Declared>);

impl SizeEstimator for DeclaredSizes {
    fn estimate(&self, node: &SizeNode<'_>) -> Option<SizeEstimate> {
        let mut current = &self.0;
        for element in node.path?.get(1..)? {
            current = match (element, &current.kind) {
                (PathElement::Items | PathElement::Values, _) => current.elements()?,
                (PathElement::Keys, Kind::Map(_)) => return Some(SizeEstimate::fixed(0)),
                (PathElement::Name(name), Kind::Object(object)) => &object.exposed(name)?.declared,
                _ => return None,
            };
        }
        Some(SizeEstimate {
            min: 0,
            max: current.max_elements,
        })
    }
}

/// Sizes of which nothing is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnknownSizes;

impl SizeEstimator for UnknownSizes {
    fn estimate(&self, _: &SizeNode<'_>) -> Option<SizeEstimate> {
        None
    }
}
