//! `OwnerGraph`: owners and dependents by uid.
//!
//! It records what informers observe, and determines which objects to process and how. It does no
//! I/O, and never concludes by itself that an owner is absent: that requires a request to the
//! server.

use super::node::{Node, Phase, Uid};
use hashbrown::HashSet;
use kubist_apimachinery::{Object as _, OwnerReference, Str};
use std::collections::{BTreeMap, BTreeSet};

/// How to process an object.
#[derive(Debug, PartialEq)]
pub(super) enum Plan {
    Nothing,
    /// Its owners may be gone.
    CheckOwners,
    /// Remove it as an owner from its dependents, then remove its finalizer.
    Orphan {
        dependents: Vec<Str>,
    },
    /// Process these dependents, because it waits for some of them.
    Wait {
        dependents: Vec<Str>,
    },
    /// No dependent blocks it any more.
    Release,
}

/// The state of an owner for its dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerState {
    Present,
    /// It waits for its dependents to be deleted.
    Waiting,
    /// Not observed: absent, or not yet known.
    Unseen,
}

/// All objects and their dependents.
#[derive(Debug, Default)]
pub(super) struct OwnerGraph {
    nodes: HashSet<Node>,
    /// By the owner's uid, observed or not. Bounded by the references in `nodes`.
    dependents: BTreeMap<Str, BTreeSet<Str>>,
}

impl OwnerGraph {
    /// Records a new or changed object. Returns the objects to process.
    pub(super) fn observe(&mut self, node: Node) -> Vec<Str> {
        let before = self.nodes.replace(node.clone());
        if before.as_ref().is_some_and(|it| it.is_like(&node)) {
            return Vec::new();
        }
        let old_owners = before.as_ref().map_or(&[][..], Node::owners);
        let phase_before = before.as_ref().map_or(Phase::Alive, Node::phase);
        let uid = node.object.uid();
        for owner in old_owners {
            self.unlink(&owner.uid, uid);
        }
        for owner in node.owners() {
            let dependents = self.dependents.entry(owner.uid.clone()).or_default();
            dependents.insert(uid.into());
        }
        let mut look = self.waiting(old_owners.iter().chain(node.owners()));
        if node.phase() == Phase::Foreground && phase_before != Phase::Foreground {
            look.extend(self.dependents_of(uid));
        }
        if self.plan(uid) != Plan::Nothing {
            look.push(uid.into());
        }
        look
    }

    /// Records a deletion. Returns the objects to process.
    pub(super) fn remove(&mut self, uid: &str) -> Vec<Str> {
        let Some(node) = self.nodes.take(&Uid(uid)) else {
            return Vec::new();
        };
        for owner in node.owners() {
            self.unlink(&owner.uid, uid);
        }
        let mut look = self.waiting(node.owners());
        look.extend(self.dependents_of(uid));
        look
    }

    /// Returns how to process an object, as far as the graph determines it.
    pub(super) fn plan(&self, uid: &str) -> Plan {
        let Some(node) = self.node(uid) else {
            return Plan::Nothing;
        };
        match node.phase() {
            Phase::Terminating => Plan::Nothing,
            Phase::Orphaning => Plan::Orphan {
                dependents: self.dependents_of(uid).collect(),
            },
            Phase::Foreground if !self.is_blocked(uid) => Plan::Release,
            Phase::Foreground => Plan::Wait {
                dependents: self
                    .dependents_of(uid)
                    .filter(|it| self.node(it).is_some_and(|it| it.phase() == Phase::Alive))
                    .collect(),
            },
            Phase::Alive => {
                let mut owners = node.owners().iter();
                let namespace = node.object.namespace();
                let state = |it| self.owner_state(it, namespace);
                let settled = owners.all(|it| state(it) == OwnerState::Present);
                if settled {
                    Plan::Nothing
                } else {
                    Plan::CheckOwners
                }
            }
        }
    }

    /// Returns the state of an owner for a dependent in a namespace. An object in another
    /// namespace, or with another name or kind than the reference has, is not the owner; the server
    /// must be asked for the owner. The version does not matter: an object is the same in all
    /// versions.
    pub(super) fn owner_state(&self, owner: &OwnerReference, namespace: &str) -> OwnerState {
        let is_meant = |node: &Node| {
            let (of_node, name) = (node.object.namespace(), node.object.name());
            let elsewhere = !of_node.is_empty() && of_node != namespace;
            let renamed = !owner.name.is_empty() && *owner.name != *name;
            let is_other = !owner.kind.is_empty()
                && (owner.kind != node.resource.kind || group_of(owner) != &*node.resource.group);
            !renamed && !is_other && (namespace.is_empty() || !elsewhere)
        };
        match self.node(&owner.uid) {
            Some(node) if is_meant(node) => self.state(&owner.uid),
            _ => OwnerState::Unseen,
        }
    }

    fn state(&self, uid: &str) -> OwnerState {
        match self.node(uid).map(Node::phase) {
            None => OwnerState::Unseen,
            Some(Phase::Foreground) => OwnerState::Waiting,
            Some(_) => OwnerState::Present,
        }
    }

    pub(super) fn node(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(&Uid(uid))
    }

    pub(super) fn has_dependents(&self, uid: &str) -> bool {
        self.dependents.contains_key(uid)
    }

    /// Reports whether one of its dependents waits for dependents of its own: the two may wait for
    /// each other.
    pub(super) fn has_waiting_dependent(&self, uid: &str) -> bool {
        self.dependents_of(uid)
            .any(|it| self.state(&it) == OwnerState::Waiting)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn dependents_of(&self, uid: &str) -> impl Iterator<Item = Str> + '_ {
        self.dependents.get(uid).into_iter().flatten().cloned()
    }

    /// Reports whether a dependent blocks its owner.
    fn is_blocked(&self, uid: &str) -> bool {
        let blocks =
            |owner: &OwnerReference| *owner.uid == *uid && owner.block_owner_deletion == Some(true);
        self.dependents_of(uid)
            .filter_map(|it| self.node(&it))
            .any(|it| it.owners().iter().any(blocks))
    }

    fn waiting<'a>(&self, owners: impl IntoIterator<Item = &'a OwnerReference>) -> Vec<Str> {
        let uids = owners.into_iter().map(|it| &it.uid);
        let waiting = uids.filter(|it| self.state(it) == OwnerState::Waiting);
        waiting.cloned().collect()
    }

    fn unlink(&mut self, owner: &str, uid: &str) {
        if let Some(dependents) = self.dependents.get_mut(owner) {
            dependents.remove(uid);
            if dependents.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }
}

/// Returns the group of a reference.
pub(super) fn group_of(owner: &OwnerReference) -> &str {
    owner.api_version.rsplit_once('/').map_or("", |it| it.0)
}

#[cfg(test)]
mod tests;
