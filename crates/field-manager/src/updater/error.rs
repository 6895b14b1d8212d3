//! The errors of updates and applies.

use crate::conflict::Conflicts;
use crate::typed::TypedErrors;
use std::fmt;

/// An object cannot be converted to a version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the updater must handle each")]
pub enum ConvertError {
    /// The version does not exist any more. Its managers lose their fields.
    NoVersion,
    /// Another reason.
    Failed(String),
}

/// An update or an apply failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateError {
    /// Other managers own fields that the apply changes.
    Conflicts(Conflicts),
    /// A value does not fit its type. With upstream's context.
    Typed(&'static str, TypedErrors),
    /// An object cannot be converted. With upstream's context, and the reason.
    Convert(&'static str, String),
    /// A field set would be nested more than [`FIELDS_DEPTH_MAX`](crate::FIELDS_DEPTH_MAX) deep.
    TooDeep,
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVersion => f.write_str("the API version does not exist"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ConvertError {}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflicts(conflicts) => write!(f, "{conflicts}"),
            Self::Typed(context, errors) => write!(f, "{context}: {errors}"),
            Self::TooDeep => f.write_str("fields are nested too deeply"),
            Self::Convert("", why) => f.write_str(why),
            Self::Convert(context, why) => write!(f, "{context}: {why}"),
        }
    }
}

impl std::error::Error for UpdateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Conflicts(conflicts) => Some(conflicts),
            Self::Typed(_, errors) => Some(errors),
            Self::Convert(..) | Self::TooDeep => None,
        }
    }
}
