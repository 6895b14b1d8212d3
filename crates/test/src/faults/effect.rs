//! `Failure` and `Effect`: what a rule does with a request.

use super::answers;
use super::call::Call;
use kubist::apimachinery::Status;
use std::fmt;
use std::time::Duration;

/// A failure that a client gets, as the `Status` that an API server sends in that case.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// 409: somebody else has written the object; for creates, it exists already.
    Conflict,
    /// 429, to be sent again after this time, in whole seconds and at least one.
    TooManyRequests(Duration),
    /// 500: storage failed.
    InternalError,
    /// 503: the server is starting or stopping.
    Unavailable,
    /// 504: the deadline of the request passed.
    Timeout,
    /// 410: the requested version is too old.
    Gone,
    /// Another status.
    Status(Box<Status>),
}

impl Failure {
    pub(crate) fn status(&self, call: &Call) -> Status {
        match self {
            Self::Conflict => answers::conflict(call),
            Self::TooManyRequests(after) => answers::too_many_requests(*after),
            Self::InternalError => answers::internal_error(),
            Self::Unavailable => answers::unavailable(),
            Self::Timeout => answers::timeout(),
            Self::Gone => answers::gone(),
            Self::Status(status) => (**status).clone(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("409"),
            Self::TooManyRequests(after) => write!(f, "429, retry after {after:?}"),
            Self::InternalError => f.write_str("500"),
            Self::Unavailable => f.write_str("503"),
            Self::Timeout => f.write_str("504"),
            Self::Gone => f.write_str("410"),
            Self::Status(status) => write!(f, "{}", status.code),
        }
    }
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Fail(Failure),
    FailAfter(Failure),
    Break,
    BreakAfter,
    Hang,
    Delay(Duration),
    /// The watch ends at its next event, which is not delivered.
    EndWatch(Option<Failure>),
    /// Events wait until the rule is lifted.
    HoldWatch,
    DropBookmarks,
    /// Reads and watches are this many revisions behind.
    LagBy {
        revisions: u64,
        gets: bool,
    },
    /// Reads see this revision, and watches nothing later.
    StandAt {
        revision: u64,
        gets: bool,
    },
}

impl Effect {
    /// Reports whether it is about the events of watches.
    pub(crate) fn is_of_events(&self) -> bool {
        matches!(
            self,
            Self::EndWatch(_)
                | Self::HoldWatch
                | Self::DropBookmarks
                | Self::LagBy { .. }
                | Self::StandAt { .. }
        )
    }

    /// Reports whether it is about requests.
    pub(crate) fn is_of_requests(&self) -> bool {
        !matches!(
            self,
            Self::EndWatch(_) | Self::HoldWatch | Self::DropBookmarks
        )
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail(failure) => write!(f, "is answered {failure}"),
            Self::FailAfter(failure) => write!(f, "is done, and answered {failure}"),
            Self::Break => f.write_str("is not done, and its connection breaks"),
            Self::BreakAfter => f.write_str("is done, and its connection breaks"),
            Self::Hang => f.write_str("is never answered"),
            Self::Delay(time) => write!(f, "takes {time:?}"),
            Self::EndWatch(None) => f.write_str("is cut at its next event"),
            Self::EndWatch(Some(failure)) => write!(f, "ends with {failure} at its next event"),
            Self::HoldWatch => f.write_str("gets no events"),
            Self::DropBookmarks => f.write_str("gets no bookmarks"),
            Self::LagBy { revisions, .. } => write!(f, "is {revisions} revisions behind"),
            Self::StandAt { revision, .. } => write!(f, "sees revision {revision}"),
        }
    }
}
