//! `FieldSelector`: selects objects by field values, as in `metadata.name=web,spec.nodeName!=`.
//!
//! The grammar, escapes and error texts are upstream's. The selector does not know the fields: the
//! server decides which ones a resource supports; a missing field counts as empty.

use crate::{ObjectName, Str};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A list of terms, all of which must hold. The default selects everything.
///
/// ```
/// use kubist_apimachinery::FieldSelector;
/// let selector: FieldSelector = r"metadata.name=web,spec.note!=a\,b".parse()?;
/// assert_eq!(selector.exact("metadata.name"), Some("web"));
/// assert!(selector.matches(|field| (field == "metadata.name").then_some("web")));
/// # Ok::<(), kubist_apimachinery::ParseFieldSelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector {
    terms: Vec<FieldTerm>,
}

/// A comparison of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "the grammar has no more")]
pub struct FieldTerm {
    /// The path of the field: `metadata.name`.
    pub field: Str,
    /// Whether the values must differ (`!=`).
    pub negated: bool,
    /// The value, unescaped.
    pub value: Str,
}

/// Why a text is not a field selector, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFieldSelectorError {
    /// A term has no operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    NoOperator {
        /// The whole text.
        selector: String,
        /// The term.
        term: String,
    },
    /// A backslash precedes something other than `\`, `,` and `=`.
    #[error("invalid field selector: invalid escape sequence: {sequence}")]
    Escape {
        /// The backslash and what follows it.
        sequence: String,
    },
    /// A value has a comma or an equals sign without a backslash.
    #[error("invalid field selector: unescaped character in value: {}", u32::from(*.character))]
    Unescaped {
        /// The character; upstream prints its number.
        character: char,
    },
}

impl FieldSelector {
    /// Returns a selector for every object.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Returns a selector for objects that satisfy all of these terms.
    pub fn new(terms: impl IntoIterator<Item = FieldTerm>) -> Self {
        Self {
            terms: terms.into_iter().collect(),
        }
    }

    /// Returns a selector for objects with this field value.
    pub fn equals(field: impl Into<Str>, value: impl Into<Str>) -> Self {
        Self::new([FieldTerm {
            field: field.into(),
            negated: false,
            value: value.into(),
        }])
    }

    /// Returns a selector for the object with this name; without a namespace, in any.
    pub fn object(name: &ObjectName) -> Self {
        let mut terms = Self::equals("metadata.name", &name.name).terms;
        if !name.namespace.is_empty() {
            terms.extend(Self::equals("metadata.namespace", &name.namespace).terms);
        }
        Self { terms }
    }

    /// Reports whether every object is selected.
    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the terms.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.terms
    }

    /// Reports whether an object is selected; `lookup` returns the value of a field, and none
    /// counts as empty.
    pub fn matches<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.terms.iter().all(|term| {
            let value = lookup(&term.field).unwrap_or_default();
            (*term.value == *value) != term.negated
        })
    }

    /// Returns the value that a field must have, if the selector requires one.
    pub fn exact(&self, field: &str) -> Option<&str> {
        let term = self
            .terms
            .iter()
            .find(|term| !term.negated && term.field == *field)?;
        Some(&term.value)
    }

    /// Converts each field and value with `convert`; a term for which both results are empty is
    /// dropped. Servers check and rename fields with it.
    pub fn transform<E>(
        &self,
        mut convert: impl FnMut(&Str, &Str) -> Result<(Str, Str), E>,
    ) -> Result<Self, E> {
        let mut terms = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let (field, value) = convert(&term.field, &term.value)?;
            if !field.is_empty() || !value.is_empty() {
                terms.push(FieldTerm {
                    field,
                    negated: term.negated,
                    value,
                });
            }
        }
        Ok(Self { terms })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            term.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = if self.negated { "!=" } else { "=" };
        write!(f, "{}{operator}", self.field)?;
        self.value.chars().try_for_each(|c| match c {
            '\\' | ',' | '=' => write!(f, "\\{c}"),
            _ => write!(f, "{c}"),
        })
    }
}

impl FromStr for FieldSelector {
    type Err = ParseFieldSelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = split_terms(text);
        parts.sort_unstable();
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let mut terms = parts
            .map(|part| parse_term(text, part))
            .collect::<Result<Vec<_>, _>>()?;
        // Upstream ignores a lone operator.
        terms.retain(|term| !term.field.is_empty() || !term.value.is_empty());
        Ok(Self { terms })
    }
}

/// Splits at commas without a preceding backslash.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

fn parse_term(selector: &str, term: &str) -> Result<FieldTerm, ParseFieldSelectorError> {
    // The first operator counts. Backslashes do not escape anything in the field.
    let split = term.char_indices().find_map(|(index, _)| {
        let rest = &term[index..];
        let operator = ["!=", "==", "="]
            .into_iter()
            .find(|operator| rest.starts_with(operator))?;
        Some((&term[..index], operator, &rest[operator.len()..]))
    });
    let Some((field, operator, value)) = split else {
        let (selector, term) = (selector.to_owned(), term.to_owned());
        return Err(ParseFieldSelectorError::NoOperator { selector, term });
    };
    let value = unescape(value)?.into();
    Ok(FieldTerm {
        field: field.into(),
        negated: operator == "!=",
        value,
    })
}

fn unescape(value: &str) -> Result<String, ParseFieldSelectorError> {
    let mut unescaped = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => unescaped.push(c),
                other => {
                    let sequence = std::iter::once('\\').chain(other).collect();
                    return Err(ParseFieldSelectorError::Escape { sequence });
                }
            },
            ',' | '=' => return Err(ParseFieldSelectorError::Unescaped { character: c }),
            _ => unescaped.push(c),
        }
    }
    Ok(unescaped)
}

impl Serialize for FieldSelector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FieldSelector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Str::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
