//! Reading of the tables in `testdata/`, for tests.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The upstream result for an input.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Ok(String),
    Error(String),
}

impl Outcome {
    /// The actual result in the same form.
    pub(crate) fn of<T: ToString, E: ToString>(result: &Result<T, E>) -> Self {
        match result {
            Ok(value) => Self::Ok(value.to_string()),
            Err(error) => Self::Error(error.to_string()),
        }
    }
}

/// Iterates over the rows of a table.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("the table has the form that the test gives")
}
