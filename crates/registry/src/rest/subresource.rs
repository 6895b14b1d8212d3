//! The subresources that the registry serves, and their body kinds.
//!
//! Not here: connections to a node (logs, exec, proxies), and tokens, which need keys.

use crate::store::action::Action;
use crate::store::kinds::Kinds;
use kubist_api::{Kind, ResourceFacts, find_kind};

/// The subresource of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subresource {
    /// The object itself.
    None,
    /// `status`, and `approval` of certificate signing requests.
    Status(&'static str),
    /// `scale`.
    Scale,
    /// `namespaces/finalize`.
    Finalize,
    /// A subresource whose creation acts on the object; without a name, a resource that does.
    Action(&'static str, &'static dyn Action),
    /// A path for changes that the object's own path rejects (upstream: `pods/ephemeralcontainers`,
    /// `pods/resize`).
    Other(&'static str),
}

impl Subresource {
    /// Returns the subresource of that name, if the resource has it and the registry serves it.
    pub(crate) fn find(facts: &ResourceFacts, name: &str, kinds: &dyn Kinds) -> Option<Self> {
        let name = facts.subresources.iter().find(|it| it.name == name)?.name;
        if let Some(action) = kinds.action(facts, name) {
            return Some(Self::Action(name, action));
        }
        match name {
            "status" | "approval" => Some(Self::Status(name)),
            "scale" => Some(Self::Scale),
            "finalize" => Some(Self::Finalize),
            _ if kinds.updates_through(facts, name) => Some(Self::Other(name)),
            _ => None,
        }
    }

    /// Returns the name in URLs; empty for the object itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status(name) | Self::Other(name) | Self::Action(name, _) => name,
            Self::Scale => "scale",
            Self::Finalize => "finalize",
        }
    }

    /// Returns the body kind, if it is not that of the resource.
    pub(crate) fn kind(self) -> Option<&'static Kind> {
        match self {
            Self::Scale => find_kind("autoscaling", "v1", "Scale"),
            Self::Action(_, action) => action.kind(),
            _ => None,
        }
    }

    /// Returns the verbs.
    pub(crate) fn verbs(self, facts: &ResourceFacts) -> &'static [&'static str] {
        let name = self.name();
        if name.is_empty() {
            return facts.verbs;
        }
        let found = facts.subresources.iter().find(|it| it.name == name);
        found.map_or(&[], |it| it.verbs)
    }
}
