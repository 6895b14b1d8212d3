//! `Slots`: how many connections to backends are open, and how many may be, in all and for a user.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A limited number of slots. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    taken: Arc<Mutex<Taken>>,
    max: usize,
    /// How many of them a user may have.
    share: usize,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// Of users who have any.
    by_user: BTreeMap<String, usize>,
}

/// One slot, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    taken: Arc<Mutex<Taken>>,
    user: String,
}

impl Slots {
    pub(super) fn new(max: usize, share: usize) -> Self {
        Self {
            taken: Arc::default(),
            max,
            share,
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.lock().all
    }

    /// Takes a slot for a user, if one is free and the user has not taken the whole share.
    pub(super) fn take(&self, user: &str) -> Option<Slot> {
        let mut taken = self.taken.lock();
        let own = taken.by_user.get(user).copied().unwrap_or_default();
        if taken.all >= self.max || own >= self.share {
            return None;
        }
        taken.all += 1;
        taken.by_user.insert(user.to_owned(), own + 1);
        Some(Slot {
            taken: Arc::clone(&self.taken),
            user: user.to_owned(),
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.taken.lock();
        taken.all -= 1;
        if let Some(own) = taken.by_user.get_mut(&self.user) {
            *own -= 1;
            if *own == 0 {
                taken.by_user.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_limited_and_free_again_when_dropped() {
        let slots = Slots::new(2, 2);
        let (one, two) = (slots.take("a"), slots.take("a"));
        assert!(one.is_some() && two.is_some() && slots.take("a").is_none());
        assert_eq!(slots.taken(), 2);
        drop(one);
        assert!(slots.take("b").is_some());
        assert_eq!(slots.taken(), 1);
        drop(two);
        assert!(slots.taken.lock().by_user.is_empty());
    }

    #[test]
    fn one_user_does_not_take_all() {
        let slots = Slots::new(4, 2);
        let greedy: Vec<_> = (0..4).filter_map(|_| slots.take("greedy")).collect();
        assert_eq!(greedy.len(), 2);
        assert!(slots.take("other").is_some());
    }
}
