//! `EventType`: `Normal` or `Warning`.

use std::fmt;

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the API has these two")]
pub enum EventType {
    /// Information, no problem.
    Normal,
    /// Something that may need attention.
    Warning,
}

impl EventType {
    /// Returns the text in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
