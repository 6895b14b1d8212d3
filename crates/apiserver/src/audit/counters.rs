//! `AuditCounters`: what is counted of audit, under upstream's names.

use kubist_audit::Level;
use kubist_registry::metrics::Count;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The errors of what drops events because a buffer is full, as upstream.
pub(super) const BUFFERED: &str = "buffered";
/// The errors of what drops events because they are too large, as upstream.
pub(super) const TRUNCATE: &str = "truncate";

/// The counters of a server.
#[derive(Debug, Default)]
pub(crate) struct AuditCounters {
    events: Count,
    rejected: Count,
    levels: [Count; Level::ALL.len()],
    /// Lost events, by what lost them: few names, and nothing is counted while all is well.
    errors: Mutex<BTreeMap<&'static str, u64>>,
}

impl AuditCounters {
    /// A stage of a request is recorded.
    pub(super) fn recorded(&self) {
        self.events.add(1);
    }

    /// A request is recorded at this level, or is not.
    pub(super) fn treated(&self, level: Level) {
        self.levels[level as usize].add(1);
    }

    /// A request was refused because its event could not be written.
    pub(super) fn rejected(&self) {
        self.rejected.add(1);
    }

    /// Events are lost.
    pub(super) fn lost(&self, plugin: &'static str, events: usize) {
        *self.errors.lock().entry(plugin).or_default() += events as u64;
    }

    pub(crate) fn events(&self) -> u64 {
        self.events.value()
    }

    pub(crate) fn rejected_requests(&self) -> u64 {
        self.rejected.value()
    }

    pub(crate) fn levels(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let named = Level::ALL.iter().zip(&self.levels);
        named.map(|(level, count)| (level.name(), count.value()))
    }

    pub(crate) fn errors(&self) -> Vec<(&'static str, u64)> {
        let errors = self.errors.lock();
        errors
            .iter()
            .map(|(plugin, lost)| (*plugin, *lost))
            .collect()
    }
}
