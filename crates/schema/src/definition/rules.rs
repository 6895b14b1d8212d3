//! `RuleChecker`: compiles the CEL rules of a definition.

use crate::schema::Schema;
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

/// A schema with rules, and the schemas around it, from which the cost of a rule is estimated.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RuleSite<'a> {
    /// The schema.
    pub schema: &'a JSONSchemaProps,
    /// The schema around it; none at the root.
    pub parent: Option<&'a Self>,
    /// Where the schema is in its parent.
    pub step: RuleStep<'a>,
}

/// Where a schema is in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a structural schema has no others")]
pub enum RuleStep<'a> {
    /// It is the whole schema.
    Root,
    /// It is a property.
    Property(&'a str),
    /// It is the schema of additional properties.
    AdditionalProperties,
    /// It is the schema of items.
    Items,
}

/// Compiles CEL rules, and evaluates them for defaults.
pub trait RuleChecker {
    /// Returns the errors of the rules of one schema. `uncorrelated` is the path of the first
    /// schema around it whose old and new values cannot be correlated, so that rules may not use
    /// `oldSelf`.
    fn check_rules(
        &mut self,
        site: &RuleSite<'_>,
        path: &FieldPath,
        uncorrelated: Option<&FieldPath>,
    ) -> Vec<FieldError>;

    /// Returns the errors of a default, which fits its schema otherwise.
    fn check_default(
        &mut self,
        schema: &Schema,
        is_resource: bool,
        default: &Value,
        path: &FieldPath,
    ) -> Vec<FieldError>;

    /// Reports whether there is no budget left to evaluate rules for defaults.
    fn is_exhausted(&self) -> bool;

    /// Returns the errors of all rules together: their total cost.
    fn check_total(&mut self, path: &FieldPath) -> Vec<FieldError>;
}

/// Borrows a checker for a part of the work.
pub(super) fn reborrow<'b>(
    checker: &'b mut Option<&mut dyn RuleChecker>,
) -> Option<&'b mut dyn RuleChecker> {
    match checker {
        Some(checker) => Some(&mut **checker),
        None => None,
    }
}
