//! `AbsentOwners`: a cache of owners that the server does not have.
//!
//! A uid is never reused, so an entry is valid forever, but only for dependents in the same
//! namespace, in which the owner was looked up, and for references with the same kind and name:
//! another reference may mean an existing owner. Evicted entries are looked up again.

use super::graph::group_of;
use super::recent::Recent;
use kubist_apimachinery::{OwnerReference, Str};

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
pub(super) struct AbsentOwners(Recent<Owner>);

impl AbsentOwners {
    pub(super) fn contains(&self, namespace: &str, owner: &OwnerReference) -> bool {
        self.0.contains(&Owner::of(namespace, owner))
    }

    pub(super) fn insert(&mut self, namespace: &str, owner: &OwnerReference) {
        self.0.insert(Owner::of(namespace, owner));
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
    fn an_owner_is_absent_in_one_namespace() {
        let mut absent = AbsentOwners::default();
        absent.insert("a", &owner("Secret", "1"));
        assert!(absent.contains("a", &owner("Secret", "1")));
        assert!(
            !absent.contains("b", &owner("Secret", "1")),
            "it may be there"
        );
    }

    #[test]
    fn a_mistaken_reference_says_nothing_of_the_right_one() {
        let mut absent = AbsentOwners::default();
        absent.insert("a", &owner("ConfigMap", "1"));
        assert!(!absent.contains("a", &owner("Secret", "1")));
    }
}
