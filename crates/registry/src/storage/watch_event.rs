//! `WatchEvent`: one event of a watch.

use crate::stored::Stored;
use kubist_apimachinery::Status;

/// One event of a watch.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the API has no other events")]
pub enum WatchEvent {
    /// The object was created, or now matches the selectors.
    Added(Stored),
    /// The object was changed.
    Modified(Stored),
    /// The object was removed, or no longer matches. The content is the last that matched; the
    /// resource version is that of the write that removed it or ended the match.
    Deleted(Stored),
    /// Everything up to this resource version has been delivered. The object has no other fields,
    /// except for the annotation that ends the initial events.
    Bookmark(Stored),
    /// The watch has ended. Nothing follows.
    Error(Box<Status>),
}

/// The annotation of the bookmark after the initial events; its value is `true`.
pub const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

impl WatchEvent {
    /// Returns the event type as on the wire.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Added(_) => "ADDED",
            Self::Modified(_) => "MODIFIED",
            Self::Deleted(_) => "DELETED",
            Self::Bookmark(_) => "BOOKMARK",
            Self::Error(_) => "ERROR",
        }
    }

    /// Reports whether this is the bookmark that ends the initial events.
    pub fn ends_initial(&self) -> bool {
        let Self::Bookmark(stored) = self else {
            return false;
        };
        let object = stored.object();
        object.is_ok_and(|it| it.meta().annotations.contains_key(INITIAL_EVENTS_END))
    }

    /// Returns the object; `None` for an error.
    pub fn object(&self) -> Option<&Stored> {
        match self {
            Self::Added(object)
            | Self::Modified(object)
            | Self::Deleted(object)
            | Self::Bookmark(object) => Some(object),
            Self::Error(_) => None,
        }
    }
}
