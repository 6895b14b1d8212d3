//! The specification: a list of all versions.

use super::HISTORY_EVENTS_MAX;
use bytes::Bytes;
use kubist_storage::LeaseId;
use std::collections::BTreeMap;
use std::time::Duration;

/// A write in the specification.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) revision: u64,
    pub(super) key: Bytes,
    pub(super) value: Option<Bytes>,
    pub(super) lease: Option<LeaseId>,
}

/// The specification: every version ever written, in order.
#[derive(Default)]
pub(super) struct Model {
    pub(super) versions: Vec<Version>,
    pub(super) compacted: u64,
    pub(super) leases: Vec<(LeaseId, Duration)>,
}

impl Model {
    pub(super) fn revision(&self) -> u64 {
        self.versions.last().map_or(1, |it| it.revision)
    }

    pub(super) fn state(&self, at: u64) -> BTreeMap<Bytes, &Version> {
        let mut state = BTreeMap::new();
        for version in self.versions.iter().filter(|it| it.revision <= at) {
            match version.value {
                Some(_) => state.insert(version.key.clone(), version),
                None => state.remove(&version.key),
            };
        }
        state
    }

    pub(super) fn write(&mut self, key: Bytes, value: Option<Bytes>, lease: Option<LeaseId>) {
        let revision = self.revision() + 1;
        self.versions.push(Version {
            revision,
            key,
            value,
            lease,
        });
        let oldest = (revision + 1).saturating_sub(HISTORY_EVENTS_MAX as u64);
        if oldest > 2 {
            self.compacted = self.compacted.max(oldest);
        }
    }
}
