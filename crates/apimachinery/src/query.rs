//! Options in URL queries: the first value of each key counts, as in upstream.

use crate::Str;
use crate::go_text::{ParseIntError, parse_int};

/// The decoded pairs of a query, read by key. Unknown keys are ignored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pairs: Vec<(Str, Str)>,
}

impl Query {
    pub(crate) fn new<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let pair = |(key, value): (K, V)| (Str::from(key.as_ref()), Str::from(value.as_ref()));
        Self {
            pairs: pairs.into_iter().map(pair).collect(),
        }
    }

    /// Returns the first value.
    pub(crate) fn first(&self, key: &str) -> Option<&Str> {
        self.pairs
            .iter()
            .find(|(found, _)| found == key)
            .map(|(_, value)| value)
    }

    /// Returns the first value, or an empty text.
    pub(crate) fn text(&self, key: &str) -> Str {
        self.first(key).cloned().unwrap_or_default()
    }

    /// Iterates over all values.
    pub(crate) fn all(&self, key: &str) -> Vec<Str> {
        let values = self.pairs.iter().filter(|(found, _)| found == key);
        values.map(|(_, value)| value.clone()).collect()
    }

    /// Parses a flag: false for `0` and `false`, true for any other value, including an empty one.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.first(key)
            .map(|value| *value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// Parses a number; an empty value is an error.
    pub(crate) fn number(&self, key: &str) -> Result<Option<i64>, ParseIntError> {
        self.first(key).map(|value| parse_int(value)).transpose()
    }
}

/// A query to send: pairs that are not percent-encoded yet.
pub type QueryPairs = Vec<(&'static str, String)>;

/// Adds a pair unless the value is empty.
pub(crate) fn push_text(pairs: &mut QueryPairs, key: &'static str, value: &str) {
    if !value.is_empty() {
        pairs.push((key, value.to_owned()));
    }
}

/// Adds a pair if there is a value.
pub(crate) fn push_some(
    pairs: &mut QueryPairs,
    key: &'static str,
    value: Option<impl std::fmt::Display>,
) {
    if let Some(value) = value {
        pairs.push((key, value.to_string()));
    }
}

/// Why query options are invalid; converts to upstream's Status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A number is malformed: 400.
    #[error(transparent)]
    Number(#[from] ParseIntError),
    /// A label selector is malformed: 400.
    #[error(transparent)]
    LabelSelector(#[from] crate::ParseSelectorError),
    /// A field selector is malformed: 400.
    #[error(transparent)]
    FieldSelector(#[from] crate::ParseFieldSelectorError),
    /// A continue token is combined with a resource version: 400.
    #[error("specifying resource version is not allowed when using continue")]
    ContinueWithVersion,
    /// The options are invalid or exclude each other: 422.
    #[error("{kind} {}", crate::field_error::aggregate(.errors))]
    Invalid {
        /// The kind of the options: `ListOptions`.
        kind: &'static str,
        /// The validation errors.
        errors: Vec<crate::FieldError>,
    },
}

impl OptionsError {
    /// Converts to the Status that upstream returns.
    pub fn to_status(&self) -> crate::Status {
        match self {
            Self::Invalid { kind, errors } => {
                crate::Status::invalid(&crate::GroupKind::new("meta.k8s.io", *kind), "", errors)
            }
            other => crate::Status::bad_request(other.to_string()),
        }
    }

    /// Fails if there are errors.
    pub(crate) fn check(kind: &'static str, errors: Vec<crate::FieldError>) -> Result<(), Self> {
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Self::Invalid { kind, errors })
        }
    }
}
