//! `Answer`: what becomes of a case, ours or theirs.

use serde::Deserialize;
use serde_json::Value;

/// What becomes of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The object with its defaults.
    pub defaulted: Option<Value>,
    /// What would be stored, if it is valid.
    pub prepared: Option<Value>,
    /// What is wrong with it.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// Why it was not even checked: the reason of a status, or `Decode`.
    pub fault: Option<String>,
    /// What explains the fault.
    pub message: Option<String>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Cause {
    /// The path of the field.
    #[serde(default)]
    pub field: String,
    /// The reason, as causes of a status have it.
    #[serde(default)]
    pub reason: String,
    /// The words.
    #[serde(default)]
    pub message: String,
}
