//! `WireError`: decoding errors.

use std::fmt;

/// A decoding (rarely, encoding) failure and its field path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct WireError {
    /// The field path from the root, as in `spec.containers[0].name`; empty at the root.
    pub path: String,
    /// The problem.
    pub kind: WireErrorKind,
}

/// The problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The nesting exceeds [`Limits::depth_max`](super::Limits::depth_max).
    TooDeep,
    /// The length exceeds [`Limits::bytes_max`](super::Limits::bytes_max).
    TooLong {
        /// The length in bytes.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// The bytes end inside a field.
    Truncated,
    /// The protobuf wire type does not fit the field.
    WireType {
        /// The field number.
        number: u32,
        /// The wire type.
        found: u8,
    },
    /// A varint has more than ten bytes, or the field number is 0.
    BadVarint,
    /// The text is not UTF-8.
    NotUtf8,
    /// The JSON type does not fit the field.
    TypeMismatch {
        /// The JSON type: `string`, `number`, `bool`, `array`, `object`.
        found: String,
        /// The Go type of the field.
        expected: String,
        /// The Go struct with the field.
        message: &'static str,
    },
    /// The field's type does not accept the value.
    Invalid {
        /// The reason, in upstream's words.
        reason: String,
    },
    /// The text is not JSON.
    Syntax {
        /// The parser's reason.
        reason: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// Only the metadata is available: the cache dropped the rest to keep within a memory limit.
    BodyDropped,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for WireErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep => f.write_str("nested too deeply"),
            Self::TooLong { length, max } => write!(f, "{length} bytes, more than {max}"),
            Self::Truncated => f.write_str("the bytes end inside a field"),
            Self::WireType { number, found } => {
                write!(
                    f,
                    "field {number} has wire type {found}, which does not fit"
                )
            }
            Self::BadVarint => f.write_str("malformed varint or field number"),
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::TypeMismatch {
                found, expected, ..
            } => {
                write!(f, "expected {expected}, found {found}")
            }
            Self::Invalid { reason } => f.write_str(reason),
            Self::Syntax {
                reason,
                line,
                column,
            } => {
                write!(f, "{reason} at line {line} column {column}")
            }
            Self::BodyDropped => f.write_str("the body was dropped, only the metadata is held"),
        }
    }
}

impl From<WireErrorKind> for WireError {
    fn from(kind: WireErrorKind) -> Self {
        Self {
            path: String::new(),
            kind,
        }
    }
}
