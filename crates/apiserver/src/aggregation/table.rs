//! `Table`: the `APIService`s with a Service, by name and by group.

use crate::aggregation::remote::Remote;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The `APIService`s with a Service.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(BTreeMap<String, Arc<Remote>>);

impl Table {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<Remote>> {
        self.0.get(name)
    }

    /// Returns that of a group version. Its name alone does not say which it is: a version may have
    /// dots in a path.
    pub(super) fn version(&self, group: &str, version: &str) -> Option<&Arc<Remote>> {
        let found = self.0.get(&format!("{version}.{group}"))?;
        let spec = &found.spec;
        (spec.group == *group && spec.version == *version).then_some(found)
    }

    pub(super) fn put(&mut self, remote: Remote) {
        self.0.insert(remote.name.clone(), Arc::new(remote));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Remote>> {
        self.0.values()
    }

    /// Returns the versions of each group, those of the highest priority first; without core.
    pub(super) fn groups(&self) -> BTreeMap<&str, Vec<&Arc<Remote>>> {
        let mut groups: BTreeMap<&str, Vec<&Arc<Remote>>> = BTreeMap::new();
        for remote in self.all().filter(|it| !it.spec.group.is_empty()) {
            groups.entry(&remote.spec.group).or_default().push(remote);
        }
        for versions in groups.values_mut() {
            versions.sort_by_key(|it| {
                let rank = kubist_registry::version_rank(&it.spec.version);
                Reverse((it.spec.version_priority, rank))
            });
        }
        groups
    }
}
