//! `Mailbox`: the changes that wait for one handler. Pure: no lock, no waiting.
//!
//! In order as long as the delivery says so, merged by object otherwise.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{Change, Deleted};

use crate::{Delivery, Overflow};

/// Entries of the order that may be out of date before it is cleaned.
const STALE_MAX: usize = 64;

pub(crate) struct Mailbox<K> {
    delivery: Delivery,
    ordered: VecDeque<Change<K>>,
    merged: HashMap<ObjectName, Waiting<K>>,
    /// Names in the order in which they began to wait; the number tells whether it still counts.
    order: VecDeque<(u64, ObjectName)>,
    next_number: u64,
    /// Additions of the first list that the handler has not handled.
    initial: usize,
}

struct Waiting<K> {
    number: u64,
    pending: Pending<K>,
}

/// What one object's waiting changes amount to.
enum Pending<K> {
    Added { object: Arc<K>, initial: bool },
    Updated { old: Arc<K>, new: Arc<K> },
    Deleted(Deleted<K>),
    Reborn { deleted: Deleted<K>, object: Arc<K> },
    Resynced(Arc<K>),
}

/// The registration must end: more waits than may.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overflowed;

impl<K: Object> Mailbox<K> {
    pub(crate) fn new(delivery: Delivery) -> Self {
        Self {
            delivery,
            ordered: VecDeque::new(),
            merged: HashMap::new(),
            order: VecDeque::new(),
            next_number: 0,
            initial: 0,
        }
    }

    /// Whether additions of the first list are still to be handled.
    pub(crate) fn has_initial(&self) -> bool {
        self.initial > 0
    }

    /// One addition of the first list was handled.
    pub(crate) fn initial_handled(&mut self) {
        self.initial = self.initial.saturating_sub(1);
    }

    pub(crate) fn len(&self) -> usize {
        self.ordered.len() + self.merged.len()
    }

    pub(crate) fn push(&mut self, name: &ObjectName, change: Change<K>) -> Result<(), Overflowed> {
        self.initial += usize::from(matches!(change, Change::Added { initial: true, .. }));
        let pending_max = match self.delivery {
            Delivery::Coalesced => 0,
            Delivery::EveryEvent { pending_max } | Delivery::Bounded { pending_max, .. } => {
                pending_max
            }
        };
        if self.merged.is_empty() && self.ordered.len() < pending_max {
            self.ordered.push_back(change);
            return Ok(());
        }
        match self.delivery {
            Delivery::Coalesced => {}
            Delivery::Bounded {
                on_overflow: Overflow::Snapshot,
                ..
            } => {
                for earlier in std::mem::take(&mut self.ordered) {
                    self.merge(&earlier.object_name(), earlier);
                }
            }
            Delivery::EveryEvent { .. } | Delivery::Bounded { .. } => return Err(Overflowed),
        }
        self.merge(name, change);
        Ok(())
    }

    fn merge(&mut self, name: &ObjectName, change: Change<K>) {
        let new = Pending::from(change);
        let Some(waiting) = self.merged.remove(name) else {
            self.next_number += 1;
            let number = self.next_number;
            self.order.push_back((number, name.clone()));
            self.merged.insert(
                name.clone(),
                Waiting {
                    number,
                    pending: new,
                },
            );
            return;
        };
        // What is merged away, or is no longer told as an addition, need not be handled.
        let counted = usize::from(waiting.pending.is_initial()) + usize::from(new.is_initial());
        let pending = waiting.pending.and(new);
        let counts = usize::from(pending.as_ref().is_some_and(Pending::is_initial));
        self.initial = self.initial.saturating_sub(counted - counts);
        if let Some(pending) = pending {
            let number = waiting.number;
            self.merged
                .insert(name.clone(), Waiting { number, pending });
        } else if self.order.len() > 2 * self.merged.len() + STALE_MAX {
            let merged = &self.merged;
            self.order.retain(|(number, name)| {
                merged
                    .get(name)
                    .is_some_and(|waiting| waiting.number == *number)
            });
        }
    }

    /// Takes up to `limit` changes out, in order.
    pub(crate) fn take(&mut self, limit: usize) -> Vec<Change<K>> {
        let mut taken = Vec::with_capacity(limit.min(self.len()));
        while taken.len() < limit {
            if let Some(change) = self.ordered.pop_front() {
                taken.push(change);
                continue;
            }
            let Some((number, name)) = self.order.pop_front() else {
                break;
            };
            let counts = self
                .merged
                .get(&name)
                .is_some_and(|waiting| waiting.number == number);
            if let Some(waiting) = counts.then(|| self.merged.remove(&name)).flatten() {
                waiting.pending.tell(&mut taken);
            }
        }
        taken
    }
}

impl<K: Object> From<Change<K>> for Pending<K> {
    fn from(change: Change<K>) -> Self {
        match change {
            Change::Added { object, initial } => Self::Added { object, initial },
            Change::Updated { old, new } => Self::Updated { old, new },
            Change::Deleted(deleted) => Self::Deleted(deleted),
            Change::Resynced(object) => Self::Resynced(object),
        }
    }
}

impl<K: Object> Pending<K> {
    fn is_initial(&self) -> bool {
        matches!(self, Self::Added { initial: true, .. })
    }

    /// What this and a later change amount to; none if they cancel out.
    fn and(self, later: Self) -> Option<Self> {
        use Pending::{Added, Deleted, Reborn, Resynced, Updated};
        Some(match (self, later) {
            (waiting, Resynced(_)) => match waiting {
                Resynced(object) => Resynced(object),
                waiting => waiting,
            },
            (Resynced(_), later) => later,
            (Added { initial, .. }, Added { object, .. } | Updated { new: object, .. }) => {
                Added { object, initial }
            }
            (Added { .. }, Deleted(_)) => return None,
            (Updated { old, .. }, Added { object: new, .. } | Updated { new, .. }) => {
                Updated { old, new }
            }
            // Even of one uid (it left a selection and came back) the handler hears both: what it
            // was told last is not known here.
            (
                Deleted(deleted) | Reborn { deleted, .. },
                Added { object, .. } | Updated { new: object, .. },
            ) => Reborn { deleted, object },
            (Updated { old, .. }, Deleted(deleted)) => Deleted(known_as(old, deleted)),
            (Deleted(deleted) | Reborn { deleted, .. }, Deleted(_)) => Deleted(deleted),
            (_, reborn @ Reborn { .. }) => reborn,
        })
    }

    fn tell(self, into: &mut Vec<Change<K>>) {
        let change = match self {
            Self::Added { object, initial } => Change::Added { object, initial },
            Self::Updated { old, new } => Change::Updated { old, new },
            Self::Deleted(deleted) => Change::Deleted(deleted),
            Self::Resynced(object) => Change::Resynced(object),
            Self::Reborn { deleted, object } => {
                into.push(Change::Deleted(deleted));
                Change::Added {
                    object,
                    initial: false,
                }
            }
        };
        into.push(change);
    }
}

/// The deletion as it is to a handler that knows `old`: of another object of the name, which came
/// after it and is gone too, it never heard.
fn known_as<K: Object>(old: Arc<K>, deleted: Deleted<K>) -> Deleted<K> {
    match deleted.object() {
        Some(last) if last.uid() != old.uid() => Deleted::FinalStateUnknown {
            name: old.object_name(),
            last_known: Some(old),
        },
        _ => deleted,
    }
}

#[cfg(test)]
mod tests;
