//! `AbsentOwners`: owners that the server was found not to have.
//!
//! A uid never comes back, so the answer holds for ever; but only for dependents in the same
//! namespace, as that is where an owner is looked for. It is a cache: what falls out is asked
//! again.

use std::collections::{BTreeSet, VecDeque};

use kubist_apimachinery::Str;

/// Owners that are remembered; upstream's number.
const OWNERS_MAX: usize = 500;

/// The namespaces and uids found absent last.
#[derive(Debug, Default)]
pub(super) struct AbsentOwners {
    known: BTreeSet<(Str, Str)>,
    order: VecDeque<(Str, Str)>,
}

impl AbsentOwners {
    pub(super) fn contains(&self, namespace: &str, uid: &Str) -> bool {
        self.known.contains(&(namespace.into(), uid.clone()))
    }

    pub(super) fn insert(&mut self, namespace: &str, uid: Str) {
        let owner = (Str::from(namespace), uid);
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

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut absent = AbsentOwners::default();
        for number in 0..=OWNERS_MAX {
            absent.insert("a", number.to_string().into());
            absent.insert("a", number.to_string().into());
        }
        assert!(!absent.contains("a", &"0".into()) && absent.contains("a", &"1".into()));
        assert!(!absent.contains("b", &"1".into()), "it may be there");
        assert_eq!(absent.known.len(), OWNERS_MAX);
    }
}
