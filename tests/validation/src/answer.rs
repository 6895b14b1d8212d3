//! `Answer`: the result of a case, from Kubist or upstream.

use serde::Deserialize;
use serde_json::Value;

/// The result of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The object with its defaults.
    pub defaulted: Option<Value>,
    /// The object as stored, if it is valid.
    pub prepared: Option<Value>,
    /// The validation errors.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// Why it was not validated: the reason of a status, or `Decode`.
    pub fault: Option<String>,
    /// The message of the fault.
    pub message: Option<String>,
}

/// A validation error.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Cause {
    /// The path of the field.
    #[serde(default)]
    pub field: String,
    /// The reason, as in the causes of a status.
    #[serde(default)]
    pub reason: String,
    /// The message.
    #[serde(default)]
    pub message: String,
}
