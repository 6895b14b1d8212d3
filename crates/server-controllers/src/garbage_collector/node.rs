//! `Node`: one object in the owner graph.

use kubist_apimachinery::{ApiResource, ObjectMeta, ObjectName, OwnerReference};
use std::sync::Arc;

/// The finalizer of an object that is deleted after its dependents.
pub(super) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object that is deleted without its dependents.
pub(super) const ORPHAN: &str = "orphan";

/// One object in the owner graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) resource: Arc<ApiResource>,
    pub(super) name: ObjectName,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) phase: Phase,
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
    pub(super) fn new(resource: &Arc<ApiResource>, metadata: &ObjectMeta) -> Self {
        Self {
            resource: Arc::clone(resource),
            name: ObjectName::new(metadata.namespace.clone(), metadata.name.clone()),
            owners: metadata.owner_references.clone(),
            phase: Phase::of(metadata),
        }
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
