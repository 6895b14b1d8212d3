//! `Trace`: what happened in a world, in order; and a digest of it.
//!
//! While many seeds run, only the digest is kept. A seed that failed runs again with everything.

use crate::story::{Entry, What};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// The most entries of a trace; a run with more is cut.
const ENTRIES_MAX: usize = 100_000;

/// The signs of life of a world, for who watches it from another thread.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: AtomicU64,
    last: Mutex<String>,
    /// What is being asked now, on the thread of the world.
    asked: Mutex<Option<String>>,
}

impl Pulse {
    /// Something happened.
    pub(crate) fn beat(&self, what: impl FnOnce(&mut String)) {
        self.beats.fetch_add(1, Ordering::Relaxed);
        let mut last = self.last.lock();
        last.clear();
        what(&mut last);
    }

    /// Returns how much has happened.
    pub(crate) fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }

    /// Asks something that may block, and says so meanwhile.
    fn ask<T>(&self, whom: String, ask: impl FnOnce() -> T) -> T {
        *self.asked.lock() = Some(whom);
        let answer = ask();
        *self.asked.lock() = None;
        answer
    }

    /// Returns what happened last, or is being asked.
    pub(crate) fn last(&self) -> String {
        let asked = self.asked.lock().clone();
        asked.unwrap_or_else(|| self.last.lock().clone())
    }
}

/// What happened in a world. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    began: Instant,
    /// `None`: only the digest is kept.
    entries: Option<Mutex<Vec<Entry>>>,
    digest: AtomicU64,
    pulse: Arc<Pulse>,
}

impl Trace {
    /// Begins now, on tokio's clock.
    pub(crate) fn begin(in_full: bool, pulse: Arc<Pulse>) -> Self {
        let shared = Shared {
            began: Instant::now(),
            entries: in_full.then(Mutex::default),
            digest: AtomicU64::new(0xcbf2_9ce4_8422_2325),
            pulse,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns the time since the world began.
    pub(crate) fn time(&self) -> Duration {
        self.shared.began.elapsed()
    }

    /// Notes what happened now, if everything is kept.
    pub(crate) fn note(&self, what: impl FnOnce() -> What) {
        let Some(entries) = &self.shared.entries else {
            return;
        };
        let (time, what) = (self.time(), what());
        let mut entries = entries.lock();
        if entries.len() < ENTRIES_MAX {
            entries.push(Entry { time, what });
        }
    }

    /// Adds to the digest, which is kept in any case.
    pub(crate) fn mark(&self, bytes: &[u8]) {
        let time = u64::try_from(self.time().as_millis()).unwrap_or(u64::MAX);
        let mut digest = self.shared.digest.load(Ordering::Relaxed);
        for byte in bytes.iter().copied().chain(time.to_le_bytes()) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.shared.digest.store(digest, Ordering::Relaxed);
    }

    /// Tells who watches from outside that something happens.
    pub(crate) fn beat(&self, what: impl FnOnce(&mut String)) {
        self.shared.pulse.beat(what);
    }

    /// Asks something that may block, and tells who watches from outside whom.
    pub(crate) fn ask<T>(&self, whom: String, ask: impl FnOnce() -> T) -> T {
        self.shared.pulse.ask(whom, ask)
    }

    /// Returns the digest: equal for runs in which the same happened at the same time.
    pub(crate) fn digest(&self) -> u64 {
        self.shared.digest.load(Ordering::Relaxed)
    }

    /// Returns a copy of all entries.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entries = self.shared.entries.as_ref();
        entries.map(|it| it.lock().clone()).unwrap_or_default()
    }
}
