//! `Requirement`: what one label must be.

use crate::field_error::aggregate;
use crate::go_text::{parse_int, quote};
use crate::validate_name::{label_value, qualified_name};
use crate::{BadValue, FieldError, FieldPath, Str};
use std::fmt;

/// A key, an operator, and as many values as the operator takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    key: Str,
    operator: Operator,
    values: Vec<Str>,
}

/// How a label is compared.
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

/// Why there is no such requirement; the words are upstream's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// A token in the wrong place.
    #[error("found '{found}', expected: {expected}")]
    Syntax {
        /// The token.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// `in` or `notin` without parenthesis.
    #[error("found '{found}' expected: '('")]
    NoParenthesis {
        /// The token that stands there.
        found: String,
    },
    /// A key or values that break rules.
    #[error("{}", aggregate(.0))]
    Invalid(Vec<FieldError>),
    /// An operator that is none of `In`, `NotIn`, `Exists`, `DoesNotExist`.
    #[error("{} is not a valid label selector operator", quote(.word))]
    UnknownOperator {
        /// What was given.
        word: String,
    },
}

impl Requirement {
    /// Checks key, values and their number.
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

    /// `key=value`, unchecked.
    pub(super) fn equals(key: &Str, value: &Str) -> Self {
        Self {
            key: key.clone(),
            operator: Operator::Equals,
            values: vec![value.clone()],
        }
    }

    /// The label's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The operator.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values, in the order given.
    pub fn values(&self) -> &[Str] {
        &self.values
    }

    /// Whether a label's value (none: the object has no such label) satisfies this.
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

/// The error of a key that is no qualified name.
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
    // An empty list is nil in Go wherever it can get here.
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
