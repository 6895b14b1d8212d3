//! The scopes of a quota, which select the objects that it counts.

use kubist_api::core::v1::{ResourceQuotaSpec, ScopedResourceSelectorRequirement};
use kubist_apimachinery::Str;

/// One scope, with what it requires of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) name: &'a str,
    /// `Exists`, `DoesNotExist`, `In` or `NotIn`.
    operator: &'a str,
    values: &'a [Str],
}

impl<'a> Scope<'a> {
    /// Returns the scopes of a quota. An object must match all.
    pub(crate) fn of(spec: &'a ResourceQuotaSpec) -> impl Iterator<Item = Self> {
        let named = spec.scopes.iter().map(|name| Self {
            name,
            operator: "Exists",
            values: &[],
        });
        let selector = spec.scope_selector.as_deref();
        let selected = selector.into_iter().flat_map(|it| &it.match_expressions);
        named.chain(selected.map(Self::from))
    }

    /// Reports whether it matches a value, or the absence of one.
    pub(crate) fn matches(&self, value: Option<&str>) -> bool {
        let is_listed = |value: &str| self.values.iter().any(|it| *it == *value);
        match (self.operator, value) {
            ("In", Some(value)) => is_listed(value),
            ("NotIn", Some(value)) => !is_listed(value),
            ("Exists", value) => value.is_some(),
            ("NotIn" | "DoesNotExist", None) => true,
            _ => false,
        }
    }
}

impl<'a> From<&'a ScopedResourceSelectorRequirement> for Scope<'a> {
    fn from(requirement: &'a ScopedResourceSelectorRequirement) -> Self {
        Self {
            name: &requirement.scope_name,
            operator: &requirement.operator,
            values: &requirement.values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_matches_values_or_their_absence() {
        let values = ["a".into(), "b".into()];
        for (operator, of_a, of_c, of_none) in [
            ("In", true, false, false),
            ("NotIn", false, true, true),
            ("Exists", true, true, false),
            ("DoesNotExist", false, false, true),
        ] {
            let scope = Scope {
                name: "PriorityClass",
                operator,
                values: &values,
            };
            let found = [Some("a"), Some("c"), None].map(|it| scope.matches(it));
            assert_eq!(found, [of_a, of_c, of_none], "{operator}");
        }
    }
}
