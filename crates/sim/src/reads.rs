//! `Reads`: what each run of the reconciler had read of other objects.
//!
//! Whoever read something is run again after that changed: so in the end the last run of every name
//! has read what there is.

use crate::ledger::{Kind, Ledger, OWNER, Stamp};
use kubist_apimachinery::ObjectName;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The objects that name an owner, each in its state.
type Owned = BTreeMap<ObjectName, Stamp>;

/// What the last run of each name read.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    last: Mutex<BTreeMap<ObjectName, Owned>>,
}

impl Reads {
    /// A run of this name has read this.
    pub(crate) fn note(&self, key: &ObjectName, owned: Owned) {
        self.last.lock().insert(key.clone(), owned);
    }

    /// A name whose last run read something else than there is, or that was not run although
    /// somebody names it.
    pub(crate) fn outdated(&self, ledger: &Ledger) -> Option<String> {
        let mut truth: BTreeMap<ObjectName, Owned> = BTreeMap::new();
        for (name, stored) in ledger.all(Kind::Original) {
            if let Some(owner) = stored.labels.get(OWNER) {
                let owner = ObjectName::new(name.namespace.clone(), owner.clone());
                let owned = truth.entry(owner).or_default();
                owned.insert(name.clone(), stored.stamp.clone());
            }
        }
        let last = self.last.lock();
        let nothing = Owned::new();
        let keys = last.keys().chain(truth.keys());
        for key in keys {
            let (read, is) = (last.get(key), truth.get(key).unwrap_or(&nothing));
            if read.unwrap_or(&nothing) != is {
                let shown = |owned: &Owned| {
                    let pairs = owned.iter().map(|(name, stamp)| format!("{name} {stamp}"));
                    pairs.collect::<Vec<_>>().join(", ")
                };
                let read = read.map_or_else(|| "nothing".to_owned(), shown);
                return Some(format!(
                    "{key} last read [{read}], there is [{}]",
                    shown(is)
                ));
            }
        }
        None
    }
}
