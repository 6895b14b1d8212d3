//! `DecodeContext`: the limits and the state of a decoder.

use super::{Interner, SerdeFieldError, WireError, WireErrorKind};
use crate::Str;

/// The limits of one decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum nesting of messages. Default 100.
    pub depth_max: usize,
    /// The most bytes of one message. Default 64 MiB.
    pub bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth_max: 100,
            bytes_max: 64 << 20,
        }
    }
}

/// A step of a field path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no other steps")]
pub enum Segment {
    /// A field, by JSON name.
    Field(&'static str),
    /// An item of a list.
    Index(usize),
    /// A value of a map.
    Key(Str),
}

/// A problem that strict decoding reports and lax decoding ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictProblem {
    /// A field is unknown; its path.
    Unknown(String),
    /// A field is repeated; its path.
    Duplicate(String),
}

impl std::fmt::Display for StrictProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(path) => write!(f, "unknown field \"{path}\""),
            Self::Duplicate(path) => write!(f, "duplicate field \"{path}\""),
        }
    }
}

/// The state of a decoder: interner, limits, strictness. Reuse it for many objects.
#[derive(Debug, Default)]
pub struct DecodeContext {
    interner: Option<Interner>,
    limits: Limits,
    strict: bool,
    pub(super) depth: usize,
    pub(super) path: Vec<Segment>,
    pub(super) problems: Vec<StrictProblem>,
    pub(super) error: Option<WireError>,
    /// The plan of the kind that was scanned last.
    pub(super) plan: Option<super::structure_plan::StructurePlan>,
}

impl DecodeContext {
    /// The most strict problems that are collected.
    pub const PROBLEMS_MAX: usize = 100;

    /// Creates a context with default limits, without an interner, not strict.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an interner for repeated strings.
    #[must_use]
    pub fn with_interner(mut self, interner: Interner) -> Self {
        self.interner = Some(interner);
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Collects unknown and repeated JSON fields, for [`Self::take_problems`].
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Returns the limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the strict problems since the last call.
    pub fn take_problems(&mut self) -> Vec<StrictProblem> {
        std::mem::take(&mut self.problems)
    }

    /// Returns the string, shared if there is an interner.
    #[inline]
    pub fn str(&mut self, text: &str) -> Str {
        match &mut self.interner {
            Some(interner) if text.len() > Str::IN_PLACE_MAX => interner.intern(text),
            _ => Str::from(text),
        }
    }

    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    pub(super) fn enter(&mut self) -> Result<(), WireError> {
        if self.depth >= self.limits.depth_max {
            return Err(self.fail(WireErrorKind::TooDeep));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Returns an error at the current path.
    pub(super) fn fail(&self, kind: WireErrorKind) -> WireError {
        WireError {
            path: self.path_string(),
            kind,
        }
    }

    /// Returns an error of a field below the current path.
    pub(super) fn fail_within(&self, error: SerdeFieldError) -> WireError {
        self.at_path(Self::within_field(error))
    }

    /// Returns an error of a field, at its path within the field.
    pub(super) fn within_field(error: SerdeFieldError) -> WireError {
        WireError {
            path: error.path,
            kind: WireErrorKind::Invalid {
                reason: error.reason,
            },
        }
    }

    /// Prefixes the path of an error with the current path.
    pub(super) fn at_path(&self, mut error: WireError) -> WireError {
        let mut path = self.path_string();
        if !error.path.is_empty() {
            if !path.is_empty() && !error.path.starts_with('[') {
                path.push('.');
            }
            path.push_str(&error.path);
        }
        error.path = path;
        error
    }

    pub(super) fn check_length(&self, length: usize) -> Result<(), WireError> {
        let max = self.limits.bytes_max;
        if length > max {
            return Err(WireErrorKind::TooLong { length, max }.into());
        }
        Ok(())
    }

    pub(super) fn reset(&mut self) {
        self.depth = 0;
        self.path.clear();
        self.error = None;
    }

    pub(super) fn note(&mut self, make: fn(String) -> StrictProblem, name: &str) {
        if self.strict && self.problems.len() < Self::PROBLEMS_MAX {
            let mut path = self.path_string();
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            let problem = make(path);
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    pub(super) fn path_string(&self) -> String {
        let mut text = String::new();
        for segment in &self.path {
            match segment {
                Segment::Field(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                Segment::Index(index) => {
                    text.push('[');
                    text.push_str(&index.to_string());
                    text.push(']');
                }
                Segment::Key(key) => {
                    text.push('.');
                    text.push_str(key);
                }
            }
        }
        text
    }
}
