//! Why bytes were not the message that they claimed to be.

use std::fmt;

/// A decode (or, rarely, encode) failure: what was wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct WireError {
    /// The field path from the root, as in `spec.containers[0].name`; empty at the root.
    pub path: String,
    /// What was wrong.
    pub kind: WireErrorKind,
}

/// What was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// Nested deeper than [`Limits::depth_max`](super::Limits::depth_max).
    TooDeep,
    /// Longer than [`Limits::bytes_max`](super::Limits::bytes_max).
    TooLong {
        /// The length in bytes.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// The bytes end inside a field.
    Truncated,
    /// A protobuf wire type that does not fit the field.
    WireType {
        /// The field number.
        number: u32,
        /// The wire type found.
        found: u8,
    },
    /// A varint of more than ten bytes, or field number 0.
    BadVarint,
    /// Not UTF-8.
    NotUtf8,
    /// JSON of another type than the field's.
    TypeMismatch {
        /// What was found: `string`, `number`, `bool`, `array`, `object`.
        found: String,
        /// The Go type that the field has.
        expected: String,
        /// The Go struct that has the field.
        message: &'static str,
    },
    /// A value of the right JSON type that the field's type does not accept.
    Invalid {
        /// The reason, in upstream's words.
        reason: String,
    },
    /// Not JSON.
    Syntax {
        /// The parser's reason.
        reason: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// Only the metadata is there: whoever held the object dropped the rest, to keep within a
    /// limit on memory.
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
