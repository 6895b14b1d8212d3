//! The watchers of a cache, indexed so that an event goes only to watchers that may match.
//!
//! Watchers are grouped by scope (one object, a namespace, a name in all namespaces, everything)
//! and, within a group, by the value that their selector requires for the indexed field, if any. So
//! an event goes to at most four groups, and in each to the watchers without a value and to those
//! of its old and its new value.

use crate::storage::reader::Interest;
use crate::stored::key::KeyLayout;
use bytes::Bytes;
use hashbrown::HashMap;
use kubist_apimachinery::Str;
use kubist_storage::Event;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::mpsc;

/// All events of one revision, shared by their watchers.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) events: Vec<Arc<Event>>,
}

/// The channel to one watcher. The watch ends, after the pending events, when the last handle is
/// dropped.
#[derive(Debug)]
pub(crate) struct Outlet {
    pub(crate) place: Place,
    pub(crate) buffer: mpsc::Sender<Arc<Dispatch>>,
}

/// The registration of a watcher.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    scope: Scope,
    /// The value that its selector requires for the indexed field.
    value: Option<Str>,
    id: u64,
}

#[derive(Clone, Debug)]
enum Scope {
    /// An object's key, or the prefix of the keys of a namespace or of all.
    Keys(Bytes),
    /// A name in all namespaces.
    Name(Str),
}

#[derive(Debug, Default)]
struct Group {
    plain: Outlets,
    by_value: HashMap<Str, Outlets>,
}

type Outlets = BTreeMap<u64, Arc<Outlet>>;

/// All watchers of a cache.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    next: u64,
    by_keys: HashMap<Bytes, Group>,
    by_name: HashMap<Str, Group>,
    /// The number of watchers.
    count: usize,
    /// The number of watchers with a value of the indexed field.
    with_value: usize,
}

impl Watchers {
    /// Returns the number of watchers.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Reports whether any watcher selects by the indexed field.
    pub(crate) fn have_values(&self) -> bool {
        self.with_value > 0
    }

    /// Returns all values of the indexed field that watchers require.
    pub(crate) fn values(&self) -> Vec<Str> {
        let groups = self.by_keys.values().chain(self.by_name.values());
        let values: BTreeSet<&Str> = groups.flat_map(|it| it.by_value.keys()).collect();
        values.into_iter().cloned().collect()
    }

    /// Returns the registration for a watcher. `indexed`: the indexed field of the resource.
    pub(crate) fn place(&mut self, interest: &Interest, indexed: Option<&str>) -> Place {
        self.next += 1;
        let predicate = &interest.predicate;
        let name = predicate
            .name()
            .filter(|_| interest.range.as_key().is_none());
        let prefix = || {
            let range = &interest.range;
            let keys = range.as_key().or_else(|| range.as_prefix());
            // No event has the empty key: a watcher with an empty range receives nothing.
            keys.cloned().unwrap_or_default()
        };
        Place {
            scope: name.map_or_else(|| Scope::Keys(prefix()), |name| Scope::Name(name.into())),
            value: indexed
                .and_then(|field| predicate.exact(field))
                .map(Str::from),
            id: self.next,
        }
    }

    /// Registers a watcher.
    pub(crate) fn add(&mut self, outlet: Arc<Outlet>) {
        let Place { scope, value, id } = outlet.place.clone();
        let group = match scope {
            Scope::Keys(keys) => self.by_keys.entry(keys).or_default(),
            Scope::Name(name) => self.by_name.entry(name).or_default(),
        };
        self.count += 1;
        match value {
            None => group.plain.insert(id, outlet),
            Some(value) => {
                self.with_value += 1;
                group.by_value.entry(value).or_default().insert(id, outlet)
            }
        };
    }

    /// Removes a watcher. No effect if it is already removed.
    pub(crate) fn remove(&mut self, place: &Place) -> Option<Arc<Outlet>> {
        let removed = match &place.scope {
            Scope::Keys(keys) => {
                let group = self.by_keys.get_mut(keys)?;
                let removed = group.remove(place);
                if group.is_empty() {
                    self.by_keys.remove(keys);
                }
                removed
            }
            Scope::Name(name) => {
                let group = self.by_name.get_mut(name)?;
                let removed = group.remove(place);
                if group.is_empty() {
                    self.by_name.remove(name);
                }
                removed
            }
        };
        if removed.is_some() {
            self.count -= 1;
            self.with_value -= usize::from(place.value.is_some());
        }
        removed
    }

    /// Removes all watchers.
    pub(crate) fn clear(&mut self) -> Self {
        let next = self.next;
        std::mem::replace(
            self,
            Self {
                next,
                ..Self::default()
            },
        )
    }

    /// Adds the watchers that may match an event of `key`. `values`: the old and new values of the
    /// indexed field.
    pub(crate) fn interested(
        &self,
        key: &[u8],
        keys: &KeyLayout,
        values: &[Str],
        found: &mut Vec<Arc<Outlet>>,
    ) {
        let (namespace, name) = keys.names(key);
        let all = keys.range_prefix("");
        let in_namespace = key.len() - name.len();
        let mut groups = [
            self.by_keys.get(key),
            self.by_keys.get(all.as_bytes()),
            None,
            self.by_name.get(name),
        ];
        if !namespace.is_empty() {
            groups[2] = self.by_keys.get(&key[..in_namespace]);
        }
        for group in groups.into_iter().flatten() {
            found.extend(group.plain.values().cloned());
            for value in values {
                if let Some(outlets) = group.by_value.get(value) {
                    found.extend(outlets.values().cloned());
                }
            }
        }
    }
}

impl Group {
    fn remove(&mut self, place: &Place) -> Option<Arc<Outlet>> {
        let Some(value) = &place.value else {
            return self.plain.remove(&place.id);
        };
        let outlets = self.by_value.get_mut(value)?;
        let removed = outlets.remove(&place.id);
        if outlets.is_empty() {
            self.by_value.remove(value);
        }
        removed
    }

    fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.by_value.is_empty()
    }
}

#[cfg(test)]
mod tests;
