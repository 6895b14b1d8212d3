//! `FieldRules`: a field selector made ready for many objects.
//!
//! All terms on one field are one rule, so that a field of an object is looked at once, however
//! long the selector is.

use kubist_apimachinery::{FieldSelector, Str};

/// What fields have to be.
#[derive(Debug, Default)]
pub(super) struct FieldRules(Vec<FieldRule>);

/// All terms on one field.
#[derive(Debug, Default)]
pub(super) struct FieldRule {
    pub(super) field: Str,
    /// It has to be this.
    equal: Option<Str>,
    /// It has to be two things at once.
    nothing: bool,
    /// Sorted: it must be none of these.
    refused: Vec<Str>,
}

impl FieldRules {
    /// Of n terms on few fields; takes n log n steps.
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

    /// The value that a field must have, if the selector asks for one.
    pub(super) fn exact(&self, field: &str) -> Option<&str> {
        let rule = self.0.iter().find(|rule| rule.field == *field)?;
        rule.equal.as_deref()
    }

    /// Whether all that is asked for is that a field has a certain value.
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
    /// Whether the value of the field satisfies all of its terms.
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
    fn rules_say_what_their_selector_does() {
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
