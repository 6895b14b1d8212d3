//! Options in a URL query: the first value of each key counts, as upstream reads them.

use crate::Str;
use crate::go_text::{ParseIntError, parse_int};

/// Decoded pairs of a query, read by key. Unknown keys are never looked at.
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

    /// The first value.
    pub(crate) fn first(&self, key: &str) -> Option<&Str> {
        self.pairs
            .iter()
            .find(|(found, _)| found == key)
            .map(|(_, value)| value)
    }

    /// The first value, or the empty text.
    pub(crate) fn text(&self, key: &str) -> Str {
        self.first(key).cloned().unwrap_or_default()
    }

    /// All values.
    pub(crate) fn all(&self, key: &str) -> Vec<Str> {
        let values = self.pairs.iter().filter(|(found, _)| found == key);
        values.map(|(_, value)| value.clone()).collect()
    }

    /// False for `0` and `false`, true for any other value, the empty one included.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.first(key)
            .map(|value| *value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// A number; an empty value is an error.
    pub(crate) fn number(&self, key: &str) -> Result<Option<i64>, ParseIntError> {
        self.first(key).map(|value| parse_int(value)).transpose()
    }
}

/// A query to be sent: pairs not yet percent-encoded.
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

/// Why query options are not those of a request; converts to the status that upstream answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A number that is none. Answered by 400.
    #[error(transparent)]
    Number(#[from] ParseIntError),
    /// A label selector that is none. Answered by 400.
    #[error(transparent)]
    LabelSelector(#[from] crate::ParseSelectorError),
    /// A field selector that is none. Answered by 400.
    #[error(transparent)]
    FieldSelector(#[from] crate::ParseFieldSelectorError),
    /// A continue token together with a resource version. Answered by 400.
    #[error("specifying resource version is not allowed when using continue")]
    ContinueWithVersion,
    /// Options that break rules or exclude each other. Answered by 422.
    #[error("{kind} {}", crate::field_error::aggregate(.errors))]
    Invalid {
        /// The kind of the options: `ListOptions`.
        kind: &'static str,
        /// What is wrong.
        errors: Vec<crate::FieldError>,
    },
}

impl OptionsError {
    /// The answer.
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
