//! `Node`: one object in the owner graph.

use super::observed::Observed;
use hashbrown::Equivalent;
use kubist_apimachinery::{ApiResource, Object as _, ObjectMeta, OwnerReference};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The finalizer of an object that is deleted after its dependents.
pub(super) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object that is deleted without its dependents.
pub(super) const ORPHAN: &str = "orphan";

/// One object in the owner graph.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) resource: Arc<ApiResource>,
    pub(super) object: Arc<Observed>,
}

/// The phase of an object's deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Alive,
    /// Being deleted, and waiting for finalizers of others.
    Terminating,
    /// Being deleted after its dependents.
    Foreground,
    /// Being deleted without its dependents.
    Orphaning,
}

impl Phase {
    pub(super) fn of(metadata: &ObjectMeta) -> Self {
        let has = |finalizer: &str| metadata.finalizers.iter().any(|it| *it == *finalizer);
        if !metadata.is_terminating() {
            Self::Alive
        } else if has(ORPHAN) {
            Self::Orphaning
        } else if has(FOREGROUND) {
            Self::Foreground
        } else {
            Self::Terminating
        }
    }
}

impl Node {
    pub(super) fn new(resource: &Arc<ApiResource>, object: &Arc<Observed>) -> Self {
        Self {
            resource: Arc::clone(resource),
            object: Arc::clone(object),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.object.phase()
    }

    pub(super) fn owners(&self) -> &[OwnerReference] {
        self.object.owner_references()
    }

    /// Reports whether nothing has changed that the graph depends on.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (&self.object, &other.object);
        self.resource == other.resource
            && (one.namespace(), one.name()) == (two.namespace(), two.name())
            && self.owners() == other.owners()
            && self.phase() == other.phase()
    }
}

/// Nodes are found by their uid.
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.object.uid().hash(state);
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.object.uid() == other.object.uid()
    }
}

impl Eq for Node {}

/// A uid to find a node by.
#[derive(Hash)]
pub(super) struct Uid<'a>(pub(super) &'a str);

impl Equivalent<Node> for Uid<'_> {
    fn equivalent(&self, node: &Node) -> bool {
        self.0 == node.object.uid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_follows_from_the_metadata() {
        let mut metadata = ObjectMeta {
            finalizers: vec![FOREGROUND.into(), "example.com/x".into()],
            ..ObjectMeta::default()
        };
        assert_eq!(Phase::of(&metadata), Phase::Alive);
        metadata.deletion_timestamp = Some(kubist_apimachinery::Time::from_unix(1));
        assert_eq!(Phase::of(&metadata), Phase::Foreground);
        metadata.finalizers.push(ORPHAN.into());
        assert_eq!(Phase::of(&metadata), Phase::Orphaning);
        metadata.finalizers.clear();
        assert_eq!(Phase::of(&metadata), Phase::Terminating);
    }
}
