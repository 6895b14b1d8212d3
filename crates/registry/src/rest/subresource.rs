//! The subresources that the registry serves, and which kind their bodies have.
//!
//! What connects to a node (logs, exec, proxies) and tokens, which need keys, are not here.

use kubist_api::{Kind, ResourceFacts, find_kind};

/// Which part of a resource a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subresource {
    /// The object itself.
    None,
    /// `status`, and `approval` of certificate signing requests.
    Status(&'static str),
    /// `scale`.
    Scale,
    /// `namespaces/finalize`.
    Finalize,
    /// `pods/binding`.
    Binding,
    /// `pods/eviction`.
    Eviction,
    /// `pods/ephemeralcontainers` and `pods/resize`: changes of the spec that the object's own
    /// path refuses.
    PodSpec(&'static str),
}

impl Subresource {
    /// The subresource of that name, if the resource has it and the registry serves it.
    pub(crate) fn find(facts: &ResourceFacts, name: &str) -> Option<Self> {
        let name = facts.subresources.iter().find(|it| it.name == name)?.name;
        match (name, facts.plural) {
            ("status" | "approval", _) => Some(Self::Status(name)),
            ("scale", _) => Some(Self::Scale),
            ("finalize", _) => Some(Self::Finalize),
            ("binding", "pods") => Some(Self::Binding),
            ("eviction", "pods") => Some(Self::Eviction),
            ("ephemeralcontainers" | "resize", "pods") => Some(Self::PodSpec(name)),
            _ => None,
        }
    }

    /// The name in URLs; empty for the object itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status(name) | Self::PodSpec(name) => name,
            Self::Scale => "scale",
            Self::Finalize => "finalize",
            Self::Binding => "binding",
            Self::Eviction => "eviction",
        }
    }

    /// The kind of bodies, if it is not that of the resource.
    pub(crate) fn kind(self) -> Option<&'static Kind> {
        match self {
            Self::Scale => find_kind("autoscaling", "v1", "Scale"),
            Self::Binding => find_kind("", "v1", "Binding"),
            Self::Eviction => find_kind("policy", "v1", "Eviction"),
            _ => None,
        }
    }

    /// What can be done.
    pub(crate) fn verbs(self, facts: &ResourceFacts) -> &'static [&'static str] {
        if self == Self::None {
            return facts.verbs;
        }
        let name = self.name();
        let found = facts.subresources.iter().find(|it| it.name == name);
        found.map_or(&[], |it| it.verbs)
    }
}
