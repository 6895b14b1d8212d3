//! The place of rules in a definition: their schema, and the schemas around it.

use kubist_api::apiextensions::v1::JSONSchemaProps;

/// A schema with rules, and the schemas around it, from which the cost of a rule is estimated.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleSite<'a> {
    /// The schema.
    pub(super) schema: &'a JSONSchemaProps,
    /// The schema around it; none at the root.
    pub(super) parent: Option<&'a Self>,
    /// Where the schema is in its parent.
    pub(super) step: RuleStep<'a>,
}

/// Where a schema is in another one.
#[derive(Clone, Copy, Debug)]
pub(super) enum RuleStep<'a> {
    /// It is the whole schema.
    Root,
    /// It is a property.
    Property(&'a str),
    /// It is the schema of additional properties.
    AdditionalProperties,
    /// It is the schema of items.
    Items,
}

impl RuleSite<'_> {
    /// Reports whether the schema or one around it has rules.
    pub(super) fn is_in_rules(&self) -> bool {
        !self.schema.x_kubernetes_validations.is_empty()
            || self.parent.is_some_and(RuleSite::is_in_rules)
    }

    /// Returns how often a value of the schema can be in an object; none if that is not limited.
    pub(super) fn count_max(&self) -> Option<u64> {
        let Some(parent) = self.parent else {
            return Some(1);
        };
        let around = parent.count_max()?;
        let max = |max: Option<i64>| max.map(|it| it.max(0).unsigned_abs());
        let schema = parent.schema;
        let count = match schema.type_.as_str() {
            "object" if schema.additional_properties.is_some() => max(schema.max_properties)?,
            "array" => max(schema.max_items)?,
            _ => 1,
        };
        Some(around.saturating_mul(count))
    }
}
