//! `Level` and `Stage`: how much of a request is recorded, and when.

use serde::{Deserialize, Serialize};

/// How much of a request is recorded. Each level has what the one before has.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[expect(clippy::exhaustive_enums, reason = "upstream's API has no other")]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// Who asked for what, and the status of the response.
    Metadata,
    /// The body of the request, too, if it is about a resource.
    Request,
    /// The body of the response, too, if it is about a resource.
    RequestResponse,
}

/// A moment of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "upstream's API has no other")]
pub enum Stage {
    /// It was received, and is not handled yet.
    RequestReceived,
    /// The response has begun, and goes on for long, such as that of a watch.
    ResponseStarted,
    /// The response was sent.
    ResponseComplete,
    /// Its handler panicked.
    Panic,
}

impl Level {
    /// All levels, in their order.
    pub const ALL: [Self; 4] = [
        Self::None,
        Self::Metadata,
        Self::Request,
        Self::RequestResponse,
    ];

    /// The name in policies, events and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
            Self::RequestResponse => "RequestResponse",
        }
    }

    /// The names, for messages.
    pub(crate) const NAMES: [&'static str; 4] = ["None", "Metadata", "Request", "RequestResponse"];
}

impl Stage {
    pub(crate) const ALL: [Self; 4] = [
        Self::RequestReceived,
        Self::ResponseStarted,
        Self::ResponseComplete,
        Self::Panic,
    ];

    /// The name in policies and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestReceived => "RequestReceived",
            Self::ResponseStarted => "ResponseStarted",
            Self::ResponseComplete => "ResponseComplete",
            Self::Panic => "Panic",
        }
    }
}
