//! `ApplySetError`: why a set could not be applied.

use super::Member;
use kubist_apimachinery::{ObjectName, with_causes};
use kubist_client::{ApiError, MappingError};

/// Why a set could not be applied.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplySetError {
    /// An object cannot be a member.
    #[error("{name} cannot be a member of the set: {reason}")]
    Object {
        /// The object.
        name: ObjectName,
        /// The reason.
        reason: String,
    },
    /// A member could not be applied or deleted.
    #[error("{} {}: {}", .member.kind, .member.name, with_causes(&**.source))]
    Member {
        /// The member.
        member: Box<Member>,
        /// The error.
        source: Box<ApiError>,
    },
    /// The set belongs to another tool, which alone may change it.
    #[error("the set of {parent} is managed by {theirs:?}, and this is {ours:?}")]
    OtherTool {
        /// The parent.
        parent: ObjectName,
        /// What the parent says.
        theirs: String,
        /// This tool.
        ours: String,
    },
    /// The parent cannot be one, or what it says of its members cannot be read.
    #[error("the parent of the set: {reason}")]
    Parent {
        /// The reason.
        reason: String,
    },
    /// A kind is not served.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The parent could not be read or written, or members could not be listed.
    #[error(transparent)]
    Api(#[from] ApiError),
}
