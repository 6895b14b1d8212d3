//! `Trace`: the events of a run in order, each with its virtual time.
//!
//! Two runs of one seed are compared by their traces, so a trace must contain nothing that the seed
//! does not determine: no addresses, no message sizes, no real time.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The number of lines kept; later ones count for the hash only.
const LINES_MAX: usize = 100_000;

/// The trace of a run. Clones write to the same one.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    started: Instant,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    hash: Fnv,
    events: u64,
    lines: Vec<String>,
    counts: BTreeMap<&'static str, u64>,
}

/// The 64-bit hash of Fowler, Noll and Vo (1a).
#[derive(Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

impl Trace {
    /// Creates an empty trace, whose time begins now.
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
            inner: Arc::default(),
        }
    }

    /// Returns the virtual time since the start.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns when the trace began.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Records an event of a kind; kinds are counted.
    pub(crate) fn note(&self, kind: &'static str, what: fmt::Arguments<'_>) {
        let now = self.now();
        let mut inner = self.inner.lock();
        inner.events += 1;
        *inner.counts.entry(kind).or_default() += 1;
        let (seconds, millis) = (now.as_secs(), now.subsec_millis());
        let mut line = String::new();
        // Writing to memory does not fail.
        let _ = write!(line, "{seconds:>5}.{millis:03} {kind:<12} {what}");
        let _ = writeln!(inner.hash, "{line}");
        if inner.lines.len() < LINES_MAX {
            inner.lines.push(line);
        }
    }

    /// Returns the hash that all runs of one seed have in common.
    pub(crate) fn hash(&self) -> u64 {
        self.inner.lock().hash.0
    }

    /// Returns the number of events.
    pub(crate) fn events(&self) -> u64 {
        self.inner.lock().events
    }

    /// Returns the number of events of each kind.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.inner.lock().counts.clone()
    }

    /// Returns the lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.inner.lock().lines.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_hash_tells_traces_apart_by_text_and_by_time() {
        let (one, two, late) = (Trace::start(), Trace::start(), Trace::start());
        one.note("write", format_args!("a"));
        two.note("write", format_args!("b"));
        tokio::time::advance(Duration::from_millis(1)).await;
        late.note("write", format_args!("a"));
        assert_ne!(one.hash(), two.hash());
        assert_ne!(one.hash(), late.hash());
        assert_eq!(one.lines(), ["    0.000 write        a"]);
        assert_eq!((late.events(), late.counts()["write"]), (1, 1));
    }
}
