//! `AbsentOwners`: a cache of owners that the server does not have.
//!
//! A uid is never reused, so an entry is valid forever, but only for dependents in the same
//! namespace, in which the owner was looked up, and for references with the same kind and name:
//! another reference may mean an existing owner. Evicted entries are looked up again.

use super::graph::group_of;
use kubist_apimachinery::{OwnerReference, Str};
use std::collections::{BTreeSet, VecDeque};

/// The maximum number of owners, as upstream.
const OWNERS_MAX: usize = 500;

/// An owner as a reference in a namespace names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    namespace: Str,
    uid: Str,
    group: Str,
    kind: Str,
    name: Str,
}

impl Owner {
    fn of(namespace: &str, owner: &OwnerReference) -> Self {
        Self {
            namespace: namespace.into(),
            uid: owner.uid.clone(),
            group: group_of(owner).into(),
            kind: owner.kind.clone(),
            name: owner.name.clone(),
        }
    }
}

/// The most recent absent owners.
#[derive(Debug, Default)]
pub(super) struct AbsentOwners {
    known: BTreeSet<Owner>,
    order: VecDeque<Owner>,
}

impl AbsentOwners {
    pub(super) fn contains(&self, namespace: &str, owner: &OwnerReference) -> bool {
        self.known.contains(&Owner::of(namespace, owner))
    }

    pub(super) fn insert(&mut self, namespace: &str, owner: &OwnerReference) {
        let owner = Owner::of(namespace, owner);
        if !self.known.insert(owner.clone()) {
            return;
        }
        self.order.push_back(owner);
        if self.order.len() > OWNERS_MAX {
            let oldest = self.order.pop_front();
            oldest.map(|it| self.known.remove(&it));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(kind: &str, uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: "v1".into(),
            kind: kind.into(),
            uid: uid.into(),
            ..OwnerReference::default()
        }
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut absent = AbsentOwners::default();
        for number in 0..=OWNERS_MAX {
            let owner = owner("Secret", &number.to_string());
            absent.insert("a", &owner);
            absent.insert("a", &owner);
        }
        let [first, second] = ["0", "1"].map(|uid| owner("Secret", uid));
        assert!(!absent.contains("a", &first) && absent.contains("a", &second));
        assert!(!absent.contains("b", &second), "it may be there");
        assert_eq!(absent.known.len(), OWNERS_MAX);
    }

    #[test]
    fn a_mistaken_reference_says_nothing_of_the_right_one() {
        let mut absent = AbsentOwners::default();
        absent.insert("a", &owner("ConfigMap", "1"));
        assert!(!absent.contains("a", &owner("Secret", "1")));
    }
}
