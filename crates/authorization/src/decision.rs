//! `Decision`: what an authorizer says.

/// The decision of an authorizer. Each has a reason, which may be empty: that of a refusal is told
/// to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is one of these")]
pub enum Decision {
    /// The action is allowed.
    Allow(String),
    /// The action is refused, whatever others would say.
    Deny(String),
    /// The next authorizer decides; if there is none, the action is refused.
    NoOpinion(String),
    /// It cannot be decided, for example because whoever decides is out of reach. If nobody allows
    /// the action, the request fails with the error, which its client sees.
    Failed {
        /// Whether the action is refused, whatever others would say; else the next authorizer is
        /// asked.
        denies: bool,
        /// The reasons of those who had no opinion; may be empty.
        reason: String,
        /// What failed.
        error: String,
    },
}

impl Decision {
    /// Reports whether the action is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow(reason)
            | Self::Deny(reason)
            | Self::NoOpinion(reason)
            | Self::Failed { reason, .. } => reason,
        }
    }

    /// Reports whether the action is refused, whatever others would say.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Deny(_) | Self::Failed { denies: true, .. })
    }

    /// Returns what failed; empty for nothing.
    pub fn error(&self) -> &str {
        match self {
            Self::Failed { error, .. } => error,
            _ => "",
        }
    }
}
