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
}

impl Decision {
    /// Reports whether the action is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow(reason) | Self::Deny(reason) | Self::NoOpinion(reason) => reason,
        }
    }
}
