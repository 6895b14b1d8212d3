//! `Observer`: what assertions see of a server, and what they report.

use crate::clock::TestClock;
use crate::controllers::running::RunningSet;
use crate::journal::Journal;
use crate::pulse::Pulse;
use kubist::client::Client;
use kubist::storage::memory::MemoryKv;
use std::sync::Arc;

pub(crate) struct Observer {
    /// Its requests are not in the journal.
    pub(crate) client: Client,
    pub(crate) clock: TestClock,
    pub(crate) journal: Journal,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) running: Arc<RunningSet>,
    pub(crate) store: MemoryKv,
}

impl Observer {
    /// Returns the oldest revision whose state can be read.
    pub(crate) fn oldest_revision(&self) -> u64 {
        let stats = self.store.stats();
        stats
            .compacted
            .max(kubist::storage::Revision::EMPTY_STORE)
            .0
    }
}
