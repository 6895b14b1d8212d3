//! [`CompileError`] and [`EvalError`]: what can be wrong with an expression.

use crate::source::{Location, Source};
use std::borrow::Cow;
use std::fmt;

/// The number of issues that an error displays.
const MAX_ISSUES: usize = 100;

/// Why an expression does not compile: one or more issues, with upstream's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    issues: Vec<Issue>,
    displayed: String,
}

/// One thing that is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Where it is.
    pub location: Location,
    /// What it is.
    pub message: String,
}

impl CompileError {
    /// Collects issues of a source.
    pub(crate) fn new(mut issues: Vec<Issue>, source: &Source<'_>) -> Self {
        let more = issues.len().saturating_sub(MAX_ISSUES);
        issues.truncate(MAX_ISSUES);
        issues.sort_by_key(|issue| issue.location);
        let mut texts: Vec<String> = issues.iter().map(|issue| source.display(issue)).collect();
        if more > 0 {
            texts.push(format!("{more} more errors were truncated"));
        }
        Self {
            displayed: texts.join("\n"),
            issues,
        }
    }

    /// A constant of the expression has no value.
    pub(crate) const fn instantiation(message: String) -> Self {
        Self {
            issues: Vec::new(),
            displayed: message,
        }
    }

    /// Reports whether the expression is well-formed, but a constant in it has no value. Upstream
    /// introduces such errors with other words.
    pub const fn is_instantiation(&self) -> bool {
        self.issues.is_empty()
    }

    /// Returns the issues, in the order of their locations.
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.displayed)
    }
}

impl std::error::Error for CompileError {}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A function or an operator failed. `&&`, `||` and macros may absorb it.
    #[error("{0}")]
    Failed(Cow<'static, str>),
    /// The evaluation costs more than its limit.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimitExceeded,
    /// The evaluation was interrupted.
    #[error("operation interrupted")]
    Interrupted,
}

impl EvalError {
    /// A function failed.
    pub fn failed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Failed(message.into())
    }

    /// No overload fits the arguments.
    pub const fn no_such_overload() -> Self {
        Self::Failed(Cow::Borrowed("no such overload"))
    }

    /// Reports whether `&&` and `||` may absorb the error.
    pub(crate) const fn is_absorbed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}
