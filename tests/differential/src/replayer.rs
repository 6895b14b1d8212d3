//! `Replayer`: one of our types, told by a trace what to do.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A line of a trace that cannot be performed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It is not what the operation takes.
    #[error("the line is not understood")]
    Input(#[from] serde_json::Error),
    /// No such operation.
    #[error("there is no operation {0:?}")]
    UnknownOperation(String),
    /// No such way to make the type.
    #[error("there is no {0:?}")]
    UnknownConfig(String),
}

/// An operation as the trace has it.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) op: String,
    pub(crate) input: Value,
    /// What upstream's type answered.
    pub(crate) theirs: Value,
}

impl Step {
    /// What the operation was given.
    pub(crate) fn input<T: DeserializeOwned>(&self) -> Result<T, LineError> {
        Ok(T::deserialize(&self.input)?)
    }

    /// One member of what the operation was given.
    pub(crate) fn member<T: DeserializeOwned>(&self, name: &str) -> Result<T, LineError> {
        Ok(T::deserialize(&self.input[name])?)
    }

    pub(crate) fn unknown<T>(&self) -> Result<T, LineError> {
        Err(LineError::UnknownOperation(self.op.clone()))
    }
}

/// Performs the operations of a sequence on a type of ours.
pub(crate) trait Replayer {
    /// Performs an operation. The answer is what can be observed, in the words of the trace.
    fn perform(&mut self, step: &Step) -> Result<Value, LineError>;

    /// What ours is to answer. This is what upstream answered, except for documented differences.
    fn expected(&mut self, step: &Step, _ours: &Value) -> Value {
        step.theirs.clone()
    }
}

/// An error as traces have it.
pub(crate) fn error(message: impl ToString) -> Value {
    json!({ "error": message.to_string() })
}
