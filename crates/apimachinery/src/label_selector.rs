//! `Selector`: selects objects by labels, as in `app=web,tier in (a,b),!old`.
//!
//! The grammar and error texts are upstream's; the text form is canonical. It matches labels in any
//! representation. The selector in `spec.selector` is a [`LabelSelector`], which converts to this
//! type.

mod lexer;
mod matcher;
mod parse;
mod requirement;
mod validate;

use crate::{LabelFilter, LabelSelector, Object, Str};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub use matcher::LabelMatcher;
pub use parse::ParseSelectorError;
pub use requirement::{Operator, Requirement, RequirementError};
pub use validate::{validate_label_selector, validate_labels};

/// A list of label requirements, all of which must hold. The default selects everything.
///
/// Displays as canonical text: sorted by key, with sorted value sets.
///
/// ```
/// use kubist_apimachinery::Selector;
/// let selector: Selector = "tier notin (b, a), app = web".parse()?;
/// assert_eq!(selector.to_string(), "app=web,tier notin (a,b)");
/// assert!(selector.matches(|key| (key == "app").then_some("web")));
/// # Ok::<(), kubist_apimachinery::ParseSelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Sorted by key.
    requirements: Vec<Requirement>,
    /// Selects nothing; the requirements are then empty.
    nothing: bool,
}

impl Selector {
    /// Returns a selector for every object.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Returns a selector for no object. Its text is empty, like that of [`Selector::everything`].
    pub fn nothing() -> Self {
        Self {
            requirements: Vec::new(),
            nothing: true,
        }
    }

    /// Returns a selector for objects that satisfy all of these requirements.
    pub fn new(requirements: impl IntoIterator<Item = Requirement>) -> Self {
        let mut requirements: Vec<_> = requirements.into_iter().collect();
        requirements.sort_by(|left, right| left.key().cmp(right.key()));
        Self {
            requirements,
            nothing: false,
        }
    }

    /// Returns a selector for objects with all of these labels. Keys and values are not validated,
    /// because stored objects may predate the rules.
    pub fn from_labels<'a>(labels: impl IntoIterator<Item = (&'a Str, &'a Str)>) -> Self {
        Self::new(
            labels
                .into_iter()
                .map(|(key, value)| Requirement::equals(key, value)),
        )
    }

    /// Reports whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty() && !self.nothing
    }

    /// Reports whether no object is selected.
    pub fn is_nothing(&self) -> bool {
        self.nothing
    }

    /// Returns the requirements, sorted by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Adds a requirement.
    #[must_use]
    pub fn and(self, requirement: Requirement) -> Self {
        if self.nothing {
            return self;
        }
        Self::new(self.requirements.into_iter().chain([requirement]))
    }

    /// Returns a matcher for many objects, whose cost for each object does not depend on the number
    /// of requirements and values.
    pub fn matcher(&self) -> LabelMatcher {
        LabelMatcher::new(self)
    }

    /// Reports whether labels are selected; `lookup` returns the value of a label.
    pub fn matches<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing
            && self
                .requirements
                .iter()
                .all(|it| it.matches(lookup(it.key())))
    }

    /// Reports whether these labels are selected.
    pub fn matches_labels(&self, labels: &BTreeMap<Str, Str>) -> bool {
        self.matches(|key| labels.get(key).map(Str::as_str))
    }

    /// Reports whether an object is selected.
    pub fn matches_object<K: Object + ?Sized>(&self, object: &K) -> bool {
        self.is_everything() || {
            let labels = object.labels();
            self.matches(|key| labels.get(key))
        }
    }

    /// Summarizes the labels that every selected object has.
    pub fn label_filter(&self) -> LabelFilter {
        let exact = self.requirements.iter().filter_map(|requirement| {
            match (requirement.operator(), requirement.values()) {
                (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => {
                    Some((requirement.key(), value.as_str()))
                }
                _ => None,
            }
        });
        LabelFilter::of_pairs(exact)
    }

    /// Returns the value that a label must have, if the first requirement on it demands one.
    pub fn exact(&self, key: &str) -> Option<&str> {
        let requirement = self.requirements.iter().find(|it| it.key() == key)?;
        match (requirement.operator(), requirement.values()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => Some(value),
            _ => None,
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl FromStr for Selector {
    type Err = ParseSelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::parse(text).map(Self::new)
    }
}

/// Converts a [`LabelSelector`]; an empty one selects everything. (A missing one selects nothing;
/// the caller handles that.)
impl TryFrom<&LabelSelector> for Selector {
    type Error = RequirementError;

    fn try_from(selector: &LabelSelector) -> Result<Self, Self::Error> {
        let mut requirements = Vec::new();
        for (key, value) in &selector.match_labels {
            requirements.push(Requirement::new(key, Operator::Equals, [value.clone()])?);
        }
        for expression in &selector.match_expressions {
            let operator = match expression.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => return Err(RequirementError::UnknownOperator { word: other.into() }),
            };
            let values = expression.values.iter().cloned();
            requirements.push(Requirement::new(&expression.key, operator, values)?);
        }
        Ok(Self::new(requirements))
    }
}

/// Formats a selector for people: `<none>` if it is missing or empty, `<error>` if it is not valid.
pub fn format_label_selector(selector: Option<&LabelSelector>) -> String {
    let text = match selector.map(Selector::try_from) {
        None => String::new(),
        Some(Ok(selector)) => selector.to_string(),
        Some(Err(_)) => "<error>".to_owned(),
    };
    if text.is_empty() {
        "<none>".to_owned()
    } else {
        text
    }
}

impl Serialize for Selector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Str::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod filter_tests;
#[cfg(test)]
mod tests;
