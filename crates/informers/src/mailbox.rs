//! `Mailbox`: the pending events of one handler. A pure data structure without locks.
//!
//! Events are kept in order, or merged by object, as the delivery mode says. As long as only one
//! batch is pending whose events need no merging, they stay in the batch, which all mailboxes
//! share.

use crate::batch::Batch;
use crate::name_hash::{NameHash, name_of, name_of_deleted};
use crate::{Delivery, Overflow};
use hashbrown::{HashTable, hash_table};
use kubist_apimachinery::Object;
use kubist_cache::{Deleted, ResourceEvent};
use std::collections::VecDeque;
use std::sync::Arc;

/// The maximum number of gaps, left by events that cancelled out, before they are closed.
const GAPS_MAX: usize = 64;

pub(crate) struct Mailbox<K> {
    delivery: Delivery,
    /// The only pending events, if there are any; the fields below are empty then.
    shared: Option<SharedEvents<K>>,
    /// A batch that is not needed any more, to be dropped outside the lock.
    spent: Option<Arc<Batch<K>>>,
    ordered: VecDeque<ResourceEvent<K>>,
    /// Merged events, in the order in which their objects became pending.
    merged: VecDeque<Option<Waiting<K>>>,
    /// The number of the first of them; the others are numbered consecutively.
    first: u64,
    /// The numbers by name. The name is that of the pending object, so no copy is kept.
    numbers: HashTable<u64>,
    /// Additions of the first list that the handler has not handled.
    initial: usize,
}

/// Events of a batch from a position on.
struct SharedEvents<K> {
    batch: Arc<Batch<K>>,
    position: usize,
}

struct Waiting<K> {
    hash: NameHash,
    pending: Pending<K>,
}

/// The merged pending events of one object.
enum Pending<K> {
    Added { object: Arc<K>, initial: bool },
    Updated { old: Arc<K>, new: Arc<K> },
    Deleted(Deleted<K>),
    Reborn { deleted: Deleted<K>, object: Arc<K> },
    Resynced(Arc<K>),
}

/// The registration must end because too many events are pending.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overflowed;

impl<K: Object> Mailbox<K> {
    pub(crate) fn new(delivery: Delivery) -> Self {
        Self {
            delivery,
            shared: None,
            spent: None,
            ordered: VecDeque::new(),
            merged: VecDeque::new(),
            first: 0,
            numbers: HashTable::new(),
            initial: 0,
        }
    }

    /// Reports whether additions of the first list are still to be handled.
    pub(crate) fn has_initial(&self) -> bool {
        self.initial > 0
    }

    /// Counts one addition of the first list as handled.
    pub(crate) fn initial_handled(&mut self) {
        self.initial = self.initial.saturating_sub(1);
    }

    pub(crate) fn len(&self) -> usize {
        let shared = self.shared.as_ref();
        let shared = shared.map_or(0, |it| it.batch.changes().len() - it.position);
        shared + self.ordered.len() + self.numbers.len()
    }

    /// Adds the events of a batch.
    pub(crate) fn push(&mut self, batch: &Arc<Batch<K>>) -> Result<(), Overflowed> {
        self.initial += batch.initial();
        if self.len() == 0 && self.fits_unmerged(batch) {
            self.shared = Some(SharedEvents {
                batch: Arc::clone(batch),
                position: 0,
            });
            return Ok(());
        }
        if let Some(SharedEvents { batch, position }) = self.shared.take() {
            let kept = self.keep(&batch, position);
            self.spent = Some(batch);
            kept?;
        }
        self.keep(batch, 0)
    }

    /// Reports whether the batch may be pending as it is, because none of its events would be
    /// merged if they came one by one.
    fn fits_unmerged(&self, batch: &Batch<K>) -> bool {
        match self.delivery {
            Delivery::Coalesced => batch.is_distinct(),
            Delivery::EveryEvent { .. } | Delivery::Bounded { .. } => {
                batch.changes().len() <= self.ordered_max()
            }
        }
    }

    /// How many events may be pending without being merged.
    fn ordered_max(&self) -> usize {
        match self.delivery {
            Delivery::Coalesced => 0,
            Delivery::EveryEvent { pending_max } | Delivery::Bounded { pending_max, .. } => {
                pending_max
            }
        }
    }

    /// Adds the events from this position on to the mailbox's own.
    fn keep(&mut self, batch: &Batch<K>, position: usize) -> Result<(), Overflowed> {
        let mut changes = batch.from(position);
        changes.try_for_each(|(hash, change)| self.keep_one(hash, change.clone()))
    }

    fn keep_one(&mut self, hash: NameHash, change: ResourceEvent<K>) -> Result<(), Overflowed> {
        if self.numbers.is_empty() && self.ordered.len() < self.ordered_max() {
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
                    self.merge(NameHash::of(&earlier), earlier);
                }
            }
            Delivery::EveryEvent { .. } | Delivery::Bounded { .. } => return Err(Overflowed),
        }
        self.merge(hash, change);
        Ok(())
    }

    fn merge(&mut self, hash: NameHash, change: ResourceEvent<K>) {
        let new = Pending::from(change);
        let Self {
            merged,
            first,
            numbers,
            ..
        } = self;
        let at = |number: &u64| merged.get(place(*first, *number))?.as_ref();
        let entry = numbers.entry(
            hash.get(),
            |number| at(number).is_some_and(|it| it.hash == hash && it.pending.is_of_name_of(&new)),
            |number| at(number).map_or(0, |it| it.hash.get()),
        );
        let found = match entry {
            hash_table::Entry::Vacant(vacant) => {
                vacant.insert(*first + merged.len() as u64);
                merged.push_back(Some(Waiting { hash, pending: new }));
                return;
            }
            hash_table::Entry::Occupied(found) => found,
        };
        let waiting = &mut merged[place(*first, *found.get())];
        let Some(Waiting { pending: old, .. }) = waiting.take() else {
            unreachable!("what is found by its name waits");
        };
        // An addition that is merged away, or becomes another event, need not be handled.
        let counted = usize::from(old.is_initial()) + usize::from(new.is_initial());
        let pending = old.and(new);
        let counts = usize::from(pending.as_ref().is_some_and(Pending::is_initial));
        self.initial = self.initial.saturating_sub(counted - counts);
        if let Some(pending) = pending {
            *waiting = Some(Waiting { hash, pending });
        } else {
            found.remove();
            self.close_gaps();
        }
    }

    /// Renumbers the pending events if there are too many gaps.
    fn close_gaps(&mut self) {
        if self.merged.len() <= 2 * self.numbers.len() + GAPS_MAX {
            return;
        }
        self.merged.retain(Option::is_some);
        self.numbers.clear();
        let hash = |number: &u64| {
            let waiting = self.merged.get(place(self.first, *number));
            waiting
                .and_then(Option::as_ref)
                .map_or(0, |it| it.hash.get())
        };
        for number in (self.first..).take(self.merged.len()) {
            self.numbers.insert_unique(hash(&number), number, hash);
        }
    }

    /// Takes the batch that is not needed any more, if there is one.
    pub(crate) fn take_spent(&mut self) -> Option<Arc<Batch<K>>> {
        self.spent.take()
    }

    /// Takes up to `limit` events in order.
    pub(crate) fn take(&mut self, limit: usize) -> Vec<ResourceEvent<K>> {
        if let Some(shared) = &mut self.shared {
            let pending = &shared.batch.changes()[shared.position..];
            let taken = pending[..limit.min(pending.len())].to_vec();
            shared.position += taken.len();
            if taken.len() == pending.len() {
                self.spent = self.shared.take().map(|it| it.batch);
            }
            return taken;
        }
        let mut taken = Vec::with_capacity(limit.min(self.len()));
        let ordered = limit.min(self.ordered.len());
        taken.extend(self.ordered.drain(..ordered));
        if limit - taken.len() >= self.numbers.len() {
            // All of them, so none has to be looked up.
            self.numbers.clear();
            self.first += self.merged.len() as u64;
            let waiting = self.merged.drain(..).flatten();
            waiting.for_each(|it| it.pending.notify(&mut taken));
            return taken;
        }
        while taken.len() < limit {
            let Some(waiting) = self.merged.pop_front() else {
                break;
            };
            let number = self.first;
            self.first += 1;
            if let Some(Waiting { hash, pending }) = waiting {
                let found = self.numbers.find_entry(hash.get(), |it| *it == number);
                if let Ok(found) = found {
                    found.remove();
                }
                pending.notify(&mut taken);
            }
        }
        taken
    }
}

/// Returns the position of a number, counted from the first.
fn place(first: u64, number: u64) -> usize {
    usize::try_from(number - first).expect("no more wait than there is memory for")
}

impl<K: Object> From<ResourceEvent<K>> for Pending<K> {
    fn from(change: ResourceEvent<K>) -> Self {
        match change {
            ResourceEvent::Added { object, initial } => Self::Added { object, initial },
            ResourceEvent::Updated { old, new } => Self::Updated { old, new },
            ResourceEvent::Deleted(deleted) => Self::Deleted(deleted),
            ResourceEvent::Resynced(object) => Self::Resynced(object),
        }
    }
}

impl<K: Object> Pending<K> {
    fn is_initial(&self) -> bool {
        matches!(self, Self::Added { initial: true, .. })
    }

    fn name(&self) -> (&str, &str) {
        match self {
            Self::Added { object, .. } | Self::Resynced(object) => name_of(&**object),
            Self::Updated { new, .. } => name_of(&**new),
            Self::Deleted(deleted) | Self::Reborn { deleted, .. } => name_of_deleted(deleted),
        }
    }

    fn is_of_name_of(&self, other: &Self) -> bool {
        self.name() == other.name()
    }

    /// Merges with a later event; `None` if they cancel out.
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
            // Even with equal uids (an object that was deselected and selected again) the handler
            // receives both: the state that it received last is not known here.
            (
                Deleted(deleted) | Reborn { deleted, .. },
                Added { object, .. } | Updated { new: object, .. },
            ) => Reborn { deleted, object },
            (Updated { old, .. }, Deleted(deleted)) => Deleted(known_as(old, deleted)),
            (Deleted(deleted) | Reborn { deleted, .. }, Deleted(_)) => Deleted(deleted),
            (_, reborn @ Reborn { .. }) => reborn,
        })
    }

    fn notify(self, into: &mut Vec<ResourceEvent<K>>) {
        let change = match self {
            Self::Added { object, initial } => ResourceEvent::Added { object, initial },
            Self::Updated { old, new } => ResourceEvent::Updated { old, new },
            Self::Deleted(deleted) => ResourceEvent::Deleted(deleted),
            Self::Resynced(object) => ResourceEvent::Resynced(object),
            Self::Reborn { deleted, object } => {
                into.push(ResourceEvent::Deleted(deleted));
                ResourceEvent::Added {
                    object,
                    initial: false,
                }
            }
        };
        into.push(change);
    }
}

/// Converts the deletion for a handler that knows `old`. If another object of the name was added
/// after it and deleted too, the handler never received that one.
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
