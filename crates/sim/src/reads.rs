//! `Reads`: what each reconcile read of other objects.
//!
//! A reconciler that read an object is called again after it changed. So at the end the last
//! reconcile of every key has read the final state.

use crate::ledger::{Kind, Ledger, OWNER, Stamp};
use kubist_apimachinery::ObjectName;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The objects that name an owner, with their states.
type Owned = BTreeMap<ObjectName, Stamp>;

/// What the last reconcile of each key read.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    last: Mutex<BTreeMap<ObjectName, Owned>>,
}

impl Reads {
    /// Records what a reconcile of this key read.
    pub(crate) fn note(&self, key: &ObjectName, owned: Owned) {
        self.last.lock().insert(key.clone(), owned);
    }

    /// Returns a key whose last reconcile read something other than the final state, or that was
    /// not reconciled although an object names it.
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
