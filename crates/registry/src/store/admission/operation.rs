//! `Operation`: what a request does, as admission names it.

use std::fmt;

/// What a request does. A patch is an update, or a create where it creates the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "admission has no other operations")]
pub enum Operation {
    /// Creates an object, or acts on one through a subresource such as `pods/eviction`.
    Create,
    /// Changes an object.
    Update,
    /// Deletes an object, alone or in a collection.
    Delete,
    /// Connects to a Pod, Node or Service.
    Connect,
}

impl Operation {
    /// Returns the word on the wire, such as `CREATE`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
