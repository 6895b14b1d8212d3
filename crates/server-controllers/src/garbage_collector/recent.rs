//! `Recent`: what was inserted last, up to a number.

use std::collections::{BTreeSet, VecDeque};

/// The maximum number, as that of upstream's absent owners.
const RECENT_MAX: usize = 500;

/// The oldest is forgotten first.
#[derive(Debug)]
pub(super) struct Recent<T> {
    known: BTreeSet<T>,
    order: VecDeque<T>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            known: BTreeSet::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Clone + Ord> Recent<T> {
    pub(super) fn contains(&self, item: &T) -> bool {
        self.known.contains(item)
    }

    pub(super) fn insert(&mut self, item: T) {
        if !self.known.insert(item.clone()) {
            return;
        }
        self.order.push_back(item);
        if self.order.len() > RECENT_MAX {
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
        let mut recent = Recent::default();
        for number in 0..=RECENT_MAX {
            recent.insert(number);
            recent.insert(number);
        }
        assert!(!recent.contains(&0) && recent.contains(&1));
        assert_eq!(recent.known.len(), RECENT_MAX);
    }
}
