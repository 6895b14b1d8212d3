//! `FieldRules`: a field selector prepared for many objects.
//!
//! All terms on one field form one rule, so that each field of an object is examined once, however
//! long the selector is.

use kubist_apimachinery::{FieldSelector, Str};

/// The conditions on fields.
#[derive(Debug, Default)]
pub(super) struct FieldRules(Vec<FieldRule>);

/// All terms on one field.
#[derive(Debug, Default)]
pub(super) struct FieldRule {
    pub(super) field: Str,
    /// The required value.
    equal: Option<Str>,
    /// Whether two different values are required, so that nothing matches.
    nothing: bool,
    /// The excluded values, sorted.
    refused: Vec<Str>,
}

impl FieldRules {
    /// Builds the rules, for n terms on few fields in n log n steps.
    pub(super) fn new(selector: &FieldSelector) -> Self {
        let mut rules: Vec<FieldRule> = Vec::new();
        for term in selector.terms() {
            let known = rules.iter().position(|rule| rule.field == term.field);
            let index = known.unwrap_or_else(|| {
                rules.push(FieldRule {
                    field: term.field.clone(),
                    ..FieldRule::default()
                });
                rules.len() - 1
            });
            let rule = &mut rules[index];
            if term.negated {
                rule.refused.push(term.value.clone());
            } else {
                let equal = rule.equal.get_or_insert_with(|| term.value.clone());
                rule.nothing |= *equal != term.value;
            }
        }
        for rule in &mut rules {
            rule.refused.sort_unstable();
            rule.refused.dedup();
            rule.refused.shrink_to_fit();
        }
        Self(rules)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value that the selector requires for a field, if any.
    pub(super) fn exact(&self, field: &str) -> Option<&str> {
        let rule = self.0.iter().find(|rule| rule.field == *field)?;
        rule.equal.as_deref()
    }

    /// Reports whether the only condition is one value of a field.
    pub(super) fn is_one_value(&self, field: &str) -> bool {
        match &*self.0 {
            [rule] => {
                rule.field == *field
                    && rule.equal.is_some()
                    && rule.refused.is_empty()
                    && !rule.nothing
            }
            _ => false,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &FieldRule> {
        self.0.iter()
    }
}

impl FieldRule {
    /// Returns the required value, if any.
    pub(super) fn equal(&self) -> Option<&Str> {
        self.equal.as_ref()
    }

    /// Reports whether the value of the field satisfies all of its terms.
    pub(super) fn matches(&self, value: &str) -> bool {
        !self.nothing
            && self.equal.as_ref().is_none_or(|equal| **equal == *value)
            && (self.refused.is_empty()
                || self
                    .refused
                    .binary_search_by(|it| (**it).cmp(value))
                    .is_err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_match_as_their_selector() {
        for text in [
            "",
            "f=a",
            "f!=a",
            "f=a,f!=a",
            "f=a,f=b",
            "f=a,f=a",
            "f!=a,f!=b,g=a",
            "f=",
        ] {
            let selector: FieldSelector = text.parse().expect("it is one");
            let rules = FieldRules::new(&selector);
            for f in ["a", "b", ""] {
                for g in ["a", ""] {
                    let value = |field: &str| if field == "f" { f } else { g };
                    let expected = selector.matches(|field| Some(value(field)));
                    let matched = rules.iter().all(|rule| rule.matches(value(&rule.field)));
                    assert_eq!(matched, expected, "{text:?} f={f} g={g}");
                }
            }
        }
    }
}
