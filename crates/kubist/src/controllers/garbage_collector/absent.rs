//! `AbsentOwners`: owners that the server was found not to have.
//!
//! A uid never comes back, so the answer holds for ever. It is a cache: what falls out is asked
//! again.

use std::collections::{BTreeSet, VecDeque};

use kubist_apimachinery::Str;

/// Owners that are remembered; upstream's number.
const OWNERS_MAX: usize = 500;

/// The uids found absent last.
#[derive(Debug, Default)]
pub(super) struct AbsentOwners {
    known: BTreeSet<Str>,
    order: VecDeque<Str>,
}

impl AbsentOwners {
    pub(super) fn contains(&self, uid: &str) -> bool {
        self.known.contains(uid)
    }

    pub(super) fn insert(&mut self, uid: Str) {
        if !self.known.insert(uid.clone()) {
            return;
        }
        self.order.push_back(uid);
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
            absent.insert(number.to_string().into());
            absent.insert(number.to_string().into());
        }
        assert!(!absent.contains("0") && absent.contains("1"));
        assert_eq!(absent.known.len(), OWNERS_MAX);
    }
}
