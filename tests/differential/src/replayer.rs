//! `Replayer`: performs the operations of a trace on one type.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// An operation that cannot be performed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// Its arguments are invalid.
    #[error("the line is not understood")]
    Input(#[from] serde_json::Error),
    /// The operation is unknown.
    #[error("there is no operation {0:?}")]
    UnknownOperation(String),
    /// The constructor is unknown.
    #[error("there is no {0:?}")]
    UnknownConfig(String),
}

/// An operation of the trace.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) op: String,
    pub(crate) input: Value,
    /// Upstream's result.
    pub(crate) theirs: Value,
}

impl Step {
    /// Its arguments.
    pub(crate) fn input<T: DeserializeOwned>(&self) -> Result<T, LineError> {
        Ok(T::deserialize(&self.input)?)
    }

    /// Returns an argument.
    pub(crate) fn member<T: DeserializeOwned>(&self, name: &str) -> Result<T, LineError> {
        Ok(T::deserialize(&self.input[name])?)
    }

    pub(crate) fn unknown<T>(&self) -> Result<T, LineError> {
        Err(LineError::UnknownOperation(self.op.clone()))
    }
}

/// Performs the operations of a sequence on one type.
pub(crate) trait Replayer {
    /// Performs an operation and returns its observable result, in the trace's format.
    fn perform(&mut self, step: &Step) -> Result<Value, LineError>;

    /// Returns the expected result: upstream's, except for documented differences.
    fn expected(&mut self, step: &Step, _ours: &Value) -> Value {
        step.theirs.clone()
    }
}

/// Returns an error in the trace's format.
pub(crate) fn error(message: impl ToString) -> Value {
    json!({ "error": message.to_string() })
}
