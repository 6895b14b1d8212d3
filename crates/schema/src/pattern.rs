//! `Pattern`: a regular expression in Go's syntax.
//!
//! The expression is parsed by Go's rules, with Go's errors, and translated for the `regex` crate,
//! which has the same linear time. It is compiled when it is first used, so that a definition whose
//! objects nobody writes costs its text only.
//!
//! Two limits differ from Go's: an expression may nest [`DEPTH_MAX`] levels, and its compiled size
//! is limited to [`SIZE_MAX`] bytes.

mod class;
mod escape;
mod parser;
mod unicode_name;

use kubist_apimachinery::Str;
use regex::{Regex, RegexBuilder};
use std::sync::OnceLock;

/// The maximum size of a compiled expression, in bytes.
const SIZE_MAX: usize = 10 << 20;
/// The maximum size of the cache of a compiled expression, in bytes.
const CACHE_SIZE_MAX: usize = 1 << 20;
/// The maximum nesting of an expression.
const DEPTH_MAX: usize = 200;

/// Why Go does not accept an expression. Displays as Go's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {problem}: `{expression}`")]
pub(crate) struct PatternError {
    problem: &'static str,
    expression: String,
}

impl PatternError {
    fn new(problem: &'static str, expression: &str) -> Self {
        Self {
            problem,
            expression: expression.to_owned(),
        }
    }
}

/// A regular expression, compiled when it is first used.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: Str,
    compiled: OnceLock<Result<Regex, PatternError>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    pub(crate) fn new(text: Str) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Reports whether a part of `text` matches.
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, &PatternError> {
        let compiled = self.compiled.get_or_init(|| compile(&self.text));
        compiled.as_ref().map(|it| it.is_match(text))
    }
}

/// Compiles an expression.
pub(crate) fn compile(text: &str) -> Result<Regex, PatternError> {
    let translated = parser::translate(text)?;
    RegexBuilder::new(&translated)
        .size_limit(SIZE_MAX)
        .dfa_size_limit(CACHE_SIZE_MAX)
        .nest_limit(u32::try_from(3 * DEPTH_MAX).unwrap_or(u32::MAX))
        .build()
        .map_err(|_| PatternError::new("expression too large", text))
}

#[cfg(test)]
mod tests;
