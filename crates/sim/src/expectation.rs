//! `Expectation`: the expected contents and events of an informer, derived from what its source
//! delivered. It is a second, simple and slow implementation of reflector, queue and store.

use crate::ledger::Stamp;
use kubist_apimachinery::ObjectName;
use kubist_cache::{InvalidEvent, InvalidItem};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One change, as a handler of every event receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    Added(Stamp),
    Updated { old: Stamp, new: Stamp },
    Deleted(Stamp),
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(stamp) => write!(f, "+{stamp}"),
            Self::Updated { old, new } => write!(f, "{old}->{new}"),
            Self::Deleted(stamp) => write!(f, "-{stamp}"),
        }
    }
}

/// What the source delivered, and the expected results.
#[derive(Debug, Default)]
pub(crate) struct Expectation {
    store: BTreeMap<ObjectName, Stamp>,
    history: BTreeMap<ObjectName, Vec<Observed>>,
    /// The names of the first complete list, without those deleted since.
    first_list: Option<BTreeSet<ObjectName>>,
    /// A list that is not complete yet.
    gathered: Option<BTreeMap<ObjectName, Stamp>>,
    /// Names that this list contains in undecodable states.
    gathered_unread: BTreeSet<ObjectName>,
    /// Names whose latest state could not be decoded.
    unread: BTreeSet<ObjectName>,
    /// Whether an event since the last list could not be decoded at all.
    lost: bool,
    /// Whether the incomplete list had such an event.
    gathered_lost: bool,
}

impl Expectation {
    /// Starts a list, paged or streaming; an earlier one is discarded.
    pub(crate) fn list_begins(&mut self) {
        self.gathered = Some(BTreeMap::new());
        self.gathered_unread.clear();
        self.gathered_lost = false;
    }

    /// Starts a watch that continues the last one.
    pub(crate) fn watch_resumes(&mut self) {
        self.gathered = None;
    }

    /// Records that an object exists in this state.
    pub(crate) fn put(&mut self, name: ObjectName, stamp: Stamp) {
        if let Some(gathered) = &mut self.gathered {
            self.gathered_unread.remove(&name);
            gathered.insert(name, stamp);
        } else {
            self.unread.remove(&name);
            self.apply_put(name, stamp);
        }
    }

    /// Records that an object was deleted.
    pub(crate) fn delete(&mut self, name: &ObjectName, stamp: Stamp) {
        if let Some(gathered) = &mut self.gathered {
            gathered.remove(name);
            self.gathered_unread.remove(name);
            return;
        }
        let is_behind = self.unread.remove(name) || self.lost;
        if let Some(held) = self.store.remove(name) {
            // After states that were not seen, the last state seen is reported.
            let observed = if is_behind { held } else { stamp };
            self.tell(name, Observed::Deleted(observed));
        }
    }

    /// Records an event whose object cannot be decoded.
    pub(crate) fn unread(&mut self, event: &InvalidEvent) {
        if let Some(name) = event.deleted() {
            if let Some(gathered) = &mut self.gathered {
                gathered.remove(name);
                self.gathered_unread.remove(name);
            } else {
                self.unread.remove(name);
                if let Some(held) = self.store.remove(name) {
                    self.tell(name, Observed::Deleted(held));
                }
            }
        } else if let Some(name) = event.saved() {
            self.note_unread(name);
        } else if event.event.is_none() {
            let in_list = self.gathered.is_some();
            self.gathered_lost |= in_list;
            self.lost |= !in_list;
        }
    }

    /// Records a list item that cannot be decoded.
    pub(crate) fn unread_item(&mut self, item: &InvalidItem) {
        if let Some(name) = &item.name {
            self.note_unread(name);
        }
    }

    fn note_unread(&mut self, name: &ObjectName) {
        let names = if self.gathered.is_some() {
            &mut self.gathered_unread
        } else {
            &mut self.unread
        };
        names.insert(name.clone());
    }

    /// Completes the list.
    pub(crate) fn list_ends(&mut self) {
        let Some(listed) = self.gathered.take() else {
            return;
        };
        self.first_list
            .get_or_insert_with(|| listed.keys().cloned().collect());
        self.unread = std::mem::take(&mut self.gathered_unread);
        self.lost = std::mem::take(&mut self.gathered_lost);
        let unread = &self.unread;
        let gone = |(name, _): &(&ObjectName, &Stamp)| {
            !listed.contains_key(*name) && !unread.contains(*name)
        };
        let gone: Vec<_> = self.store.iter().filter(gone).map(owned).collect();
        for (name, stamp) in gone {
            self.store.remove(&name);
            self.tell(&name, Observed::Deleted(stamp));
        }
        for (name, stamp) in listed {
            self.apply_put(name, stamp);
        }
    }

    /// Returns the changes of each object.
    pub(crate) fn history(&self) -> &BTreeMap<ObjectName, Vec<Observed>> {
        &self.history
    }

    /// Returns the names of the first complete list that still exist, if there was one.
    pub(crate) fn first_list(&self) -> Option<&BTreeSet<ObjectName>> {
        self.first_list.as_ref()
    }

    fn apply_put(&mut self, name: ObjectName, stamp: Stamp) {
        let old = self.store.insert(name.clone(), stamp.clone());
        match old {
            None => self.tell(&name, Observed::Added(stamp)),
            Some(old) if old != stamp => self.tell(&name, Observed::Updated { old, new: stamp }),
            Some(_) => {}
        }
    }

    fn tell(&mut self, name: &ObjectName, observed: Observed) {
        if let (Observed::Deleted(_), Some(first)) = (&observed, &mut self.first_list) {
            first.remove(name);
        }
        self.history.entry(name.clone()).or_default().push(observed);
    }
}

fn owned((name, stamp): (&ObjectName, &Stamp)) -> (ObjectName, Stamp) {
    (name.clone(), stamp.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(version: u64) -> Stamp {
        Stamp {
            uid: "abcd".into(),
            version,
        }
    }

    #[test]
    fn a_list_counts_once_it_is_whole_and_an_unchanged_object_is_not_reported() {
        let name = |name: &str| ObjectName::new("default", name);
        let mut expectation = Expectation::default();
        expectation.list_begins();
        expectation.put(name("a"), at(1));
        expectation.list_begins();
        assert!(expectation.history().is_empty(), "the first was cut");
        expectation.put(name("a"), at(1));
        expectation.put(name("b"), at(2));
        expectation.list_ends();
        expectation.put(name("a"), at(3));
        expectation.put(name("a"), at(3));
        expectation.list_begins();
        expectation.put(name("a"), at(3));
        expectation.list_ends();
        let observed = |name: &ObjectName| {
            let observed = &expectation.history()[name];
            observed.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(observed(&name("a")), ["+abcd@1", "abcd@1->abcd@3"]);
        assert_eq!(observed(&name("b")), ["+abcd@2", "-abcd@2"]);
        assert_eq!(
            expectation.first_list().map(BTreeSet::len),
            Some(1),
            "b is gone"
        );
    }
}
