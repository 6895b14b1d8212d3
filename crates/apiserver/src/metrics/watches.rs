//! Watch metrics: events and their bytes.
//!
//! A thousand watches of the same event would contend for the same counters. So each watch has its
//! own, and adds them to the totals now and then, at each scrape, and when it ends. Scrapes always
//! see the exact totals.

use super::exposition;
use parking_lot::Mutex;
use prometheus::local::{LocalHistogram, LocalIntCounter};
use prometheus::{Histogram, IntCounter};
use std::fmt;
use std::sync::{Arc, Weak};

/// Events after which a watch adds its counts.
const UNADDED_MAX: u32 = 256;
/// Number of watches at which ended ones are first removed.
const SWEPT_AT_MIN: usize = 64;

/// The counters of one watch.
pub(crate) struct WatchMetrics(Arc<Mutex<Counts>>);

struct Counts {
    events: LocalIntCounter,
    bytes: LocalHistogram,
    unadded: u32,
}

/// The watches with counts that are not added yet.
#[derive(Default)]
pub(super) struct Watches(Mutex<Open>);

#[derive(Default)]
struct Open {
    watches: Vec<Weak<Mutex<Counts>>>,
    swept_at: usize,
}

impl WatchMetrics {
    /// Counts an event.
    pub(crate) fn sent(&self, bytes: usize) {
        let mut counts = self.0.lock();
        counts.events.inc();
        counts.bytes.observe(exposition::number(bytes as u64));
        counts.unadded += 1;
        if counts.unadded == UNADDED_MAX {
            counts.add();
        }
    }
}

impl Drop for WatchMetrics {
    fn drop(&mut self) {
        self.0.lock().add();
    }
}

impl fmt::Debug for WatchMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WatchMetrics")
    }
}

impl Counts {
    fn add(&mut self) {
        self.events.flush();
        self.bytes.flush();
        self.unadded = 0;
    }
}

impl Watches {
    /// Creates the counters of a watch that add up to these.
    pub(super) fn open(&self, events: &IntCounter, bytes: &Histogram) -> WatchMetrics {
        let counts = Arc::new(Mutex::new(Counts {
            events: events.local(),
            bytes: bytes.local(),
            unadded: 0,
        }));
        let mut open = self.0.lock();
        if open.watches.len() >= open.swept_at {
            open.watches.retain(|it| it.strong_count() > 0);
            open.swept_at = (2 * open.watches.len()).max(SWEPT_AT_MIN);
        }
        open.watches.push(Arc::downgrade(&counts));
        WatchMetrics(counts)
    }

    /// Adds the counts of all watches.
    pub(super) fn add(&self) {
        for counts in self.0.lock().watches.iter().filter_map(Weak::upgrade) {
            counts.lock().add();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus::{HistogramOpts, IntCounter};

    #[test]
    fn scrapes_have_exact_totals_also_after_watches_end() {
        let events = IntCounter::new("events", "events").unwrap();
        let bytes = Histogram::with_opts(HistogramOpts::new("bytes", "bytes")).unwrap();
        let watches = Watches::default();
        let all: Vec<_> = (0..200).map(|_| watches.open(&events, &bytes)).collect();
        all[7].sent(10);
        all[9].sent(20);
        assert_eq!(events.get(), 0);
        watches.add();
        watches.add();
        assert_eq!((events.get(), bytes.get_sample_count()), (2, 2));
        assert!((bytes.get_sample_sum() - 30.0).abs() < 1e-9);
        (0..UNADDED_MAX).for_each(|_| all[0].sent(1));
        assert_eq!(events.get(), 2 + u64::from(UNADDED_MAX));
        all[1].sent(1);
        drop(all);
        assert_eq!(events.get(), 3 + u64::from(UNADDED_MAX));
        (0..100).for_each(|_| drop(watches.open(&events, &bytes)));
        assert!(watches.0.lock().watches.len() <= 2 * SWEPT_AT_MIN);
    }
}
