//! `Requirement`: a requirement on one label.

use crate::field_error::aggregate;
use crate::go_text::{parse_int, quote};
use crate::validate_name::{label_value, qualified_name};
use crate::{BadValue, FieldError, FieldPath, Str};
use std::fmt;

/// A key, an operator, and the values that the operator needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    key: Str,
    operator: Operator,
    values: Vec<Str>,
}

/// The comparison of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the grammar has no other")]
pub enum Operator {
    /// `key=value`.
    Equals,
    /// `key==value`, the same as [`Operator::Equals`].
    DoubleEquals,
    /// `key!=value`; holds also without the label.
    NotEquals,
    /// `key in (a,b)`.
    In,
    /// `key notin (a,b)`; holds also without the label.
    NotIn,
    /// `key`.
    Exists,
    /// `!key`.
    DoesNotExist,
    /// `key>5`, of 64-bit integers.
    GreaterThan,
    /// `key<5`, of 64-bit integers.
    LessThan,
}

/// Why a requirement is invalid, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// An unexpected token.
    #[error("found '{found}', expected: {expected}")]
    Syntax {
        /// The token.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// `in` or `notin` is not followed by a parenthesis.
    #[error("found '{found}' expected: '('")]
    NoParenthesis {
        /// The token that was found.
        found: String,
    },
    /// The key or the values are invalid.
    #[error("{}", aggregate(.0))]
    Invalid(Vec<FieldError>),
    /// The operator is not `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[error("{} is not a valid label selector operator", quote(.word))]
    UnknownOperator {
        /// The unknown operator.
        word: String,
    },
}

impl Requirement {
    /// Validates the key, the values and their number.
    pub fn new(
        key: impl Into<Str>,
        operator: Operator,
        values: impl IntoIterator<Item = Str>,
    ) -> Result<Self, RequirementError> {
        let (key, values) = (key.into(), values.into_iter().collect::<Vec<_>>());
        let mut errors: Vec<_> = key_error(&key, &FieldPath::new("key"))
            .into_iter()
            .collect();
        let path = FieldPath::new("values");
        errors.extend(count_error(operator, &values, &path));
        for (index, value) in values.iter().enumerate() {
            let path = path.index(index);
            if operator.is_numeric() && parse_int(value).is_err() {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push(FieldError::invalid(&path, value, detail));
            }
        }
        for (index, value) in values.iter().enumerate() {
            let messages = label_value(value);
            if !messages.is_empty() {
                let path = path.index(index).key(&key);
                errors.push(FieldError::invalid(&path, value, messages.join("; ")));
            }
        }
        if errors.is_empty() {
            Ok(Self {
                key,
                operator,
                values,
            })
        } else {
            Err(RequirementError::Invalid(errors))
        }
    }

    /// Creates `key=value` without validation.
    pub(super) fn equals(key: &Str, value: &Str) -> Self {
        Self {
            key: key.clone(),
            operator: Operator::Equals,
            values: vec![value.clone()],
        }
    }

    /// Returns the label key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the operator.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// Returns the values, in the given order.
    pub fn values(&self) -> &[Str] {
        &self.values
    }

    /// Reports whether a label value satisfies this; none if the object does not have the label.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|it| it == value);
        match self.operator {
            Operator::Equals | Operator::DoubleEquals | Operator::In => value.is_some_and(listed),
            Operator::NotEquals | Operator::NotIn => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan | Operator::LessThan => {
                let value = value.and_then(|it| parse_int(it).ok());
                let limit = self.values.first().and_then(|it| parse_int(it).ok());
                let (Some(value), Some(limit)) = (value, limit) else {
                    return false;
                };
                if self.operator == Operator::LessThan {
                    value < limit
                } else {
                    value > limit
                }
            }
        }
    }
}

/// Returns the error of an invalid key.
pub(super) fn key_error(key: &str, path: &FieldPath) -> Option<FieldError> {
    let messages = qualified_name(key);
    (!messages.is_empty()).then(|| FieldError::invalid(path, key, messages.join("; ")))
}

fn count_error(operator: Operator, values: &[Str], path: &FieldPath) -> Option<FieldError> {
    let (fine, detail) = match operator {
        Operator::In | Operator::NotIn => (
            !values.is_empty(),
            "for 'in', 'notin' operators, values set can't be empty",
        ),
        Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => (
            values.len() == 1,
            "exact-match compatibility requires one single value",
        ),
        Operator::Exists | Operator::DoesNotExist => (
            values.is_empty(),
            "values set must be empty for exists and does not exist",
        ),
        Operator::GreaterThan | Operator::LessThan => (
            values.len() == 1,
            "for 'Gt', 'Lt' operators, exactly one value is required",
        ),
    };
    // In Go, an empty list is nil wherever it can occur here.
    let shown = || {
        if values.is_empty() {
            BadValue::null()
        } else {
            BadValue::json(values)
        }
    };
    (!fine).then(|| FieldError::invalid(path, shown(), detail))
}

impl Operator {
    fn is_numeric(self) -> bool {
        matches!(self, Self::GreaterThan | Self::LessThan)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut values: Vec<&str> = self.values.iter().map(Str::as_str).collect();
        values.sort_unstable();
        let (key, values) = (&self.key, values.join(","));
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}
