//! Watch metrics: events and their bytes.
//!
//! A thousand watches of the same event would contend for the same counters. So each watch has its
//! own, and adds them to the totals now and then, at each scrape, and when it ends. Scrapes always
//! see the exact totals. A watch without events has no counters.

use super::distribution::{Distribution, Unadded};
use super::table::{Labels, Table};
use parking_lot::Mutex;
use prometheus::proto::MetricFamily;
use std::fmt;
use std::sync::{Arc, Weak};

/// Buckets of watch event bytes, as upstream: 1 KiB to 128 KiB.
static EVENT_BYTES: [f64; 8] = [
    1024.0, 2048.0, 4096.0, 8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0,
];
const RESOURCE: &[&str] = &["group", "resource", "version"];

/// Events after which a watch adds its counts.
const UNADDED_MAX: u32 = 256;
/// Number of watches at which ended ones are first removed.
const SWEPT_AT_MIN: usize = 64;

/// The counters of one watch.
pub(crate) struct WatchMetrics(Arc<Mutex<Counts>>);

struct Counts {
    totals: Arc<Totals>,
    labels: Labels,
    bytes: Unadded,
    unadded: u32,
}

/// The bytes of events; each event is one observation.
type Totals = Table<Distribution>;

/// The totals, and the watches with counts that are not added yet.
pub(super) struct Watches {
    totals: Arc<Totals>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    watches: Vec<Weak<Mutex<Counts>>>,
    swept_at: usize,
}

impl WatchMetrics {
    /// Counts an event.
    pub(crate) fn sent(&self, bytes: usize) {
        let mut counts = self.0.lock();
        counts.bytes.sized(&EVENT_BYTES, bytes as u64);
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
        if self.unadded > 0 {
            let (totals, bytes) = (&self.totals, &mut self.bytes);
            totals.with(self.labels, |total| total.add_all(bytes));
            self.unadded = 0;
        }
    }
}

impl Default for Watches {
    fn default() -> Self {
        let totals = Table::new(
            "apiserver_watch_events_sizes",
            "Bytes of events sent to watches",
            RESOURCE,
            || Distribution::of_bytes(&EVENT_BYTES),
        );
        Self {
            totals: Arc::new(totals),
            open: Mutex::default(),
        }
    }
}

impl Watches {
    /// Creates the counters of a watch that add up to those with these labels.
    pub(super) fn open(&self, labels: Labels) -> WatchMetrics {
        let counts = Arc::new(Mutex::new(Counts {
            totals: Arc::clone(&self.totals),
            labels,
            bytes: Unadded::default(),
            unadded: 0,
        }));
        let mut open = self.open.lock();
        if open.watches.len() >= open.swept_at {
            open.watches.retain(|it| it.strong_count() > 0);
            open.swept_at = (2 * open.watches.len()).max(SWEPT_AT_MIN);
        }
        open.watches.push(Arc::downgrade(&counts));
        WatchMetrics(counts)
    }

    /// Adds the counts of all watches.
    pub(super) fn add(&self) {
        for counts in self.open.lock().watches.iter().filter_map(Weak::upgrade) {
            counts.lock().add();
        }
    }

    /// Drops the totals of resources that are not served, and what is left of watches that have
    /// ended. Returns whether there are watches of such resources.
    pub(super) fn retain(&self, is_served: &dyn Fn(&Labels) -> bool) -> bool {
        let mut remain = self.totals.retain(is_served);
        let mut open = self.open.lock();
        open.watches.retain(|it| it.strong_count() > 0);
        open.watches.shrink_to_fit();
        for counts in open.watches.iter().filter_map(Weak::upgrade) {
            remain |= !is_served(&counts.lock().labels);
        }
        remain
    }

    /// Returns the totals.
    pub(super) fn families(&self) -> impl Iterator<Item = MetricFamily> {
        let events = self
            .totals
            .counts("apiserver_watch_events_total", "Events sent to watches");
        events.into_iter().chain(self.totals.family())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrapes_have_exact_totals_also_after_watches_end() {
        let watches = Watches::default();
        let labels = Labels::default();
        let total = || watches.totals.get(labels).state();
        let all: Vec<_> = (0..200).map(|_| watches.open(labels)).collect();
        all[7].sent(10);
        all[9].sent(20);
        assert_eq!(total().count(), 0);
        watches.add();
        watches.add();
        assert_eq!(total().count(), 2);
        assert!((total().seconds - 30.0).abs() < 1e-9);
        (0..UNADDED_MAX).for_each(|_| all[0].sent(1));
        assert_eq!(total().count(), 2 + u64::from(UNADDED_MAX));
        all[1].sent(1);
        drop(all);
        assert_eq!(total().count(), 3 + u64::from(UNADDED_MAX));
        (0..100).for_each(|_| drop(watches.open(labels)));
        assert!(watches.open.lock().watches.len() <= 2 * SWEPT_AT_MIN);
    }

    #[test]
    fn a_watch_of_a_resource_that_is_gone_is_waited_for() {
        let watches = Watches::default();
        let labels = Labels {
            resource: "widgets",
            ..Labels::default()
        };
        let watch = watches.open(labels);
        watch.sent(1);
        assert!(watches.retain(&|_| false));
        drop(watch);
        assert!(!watches.retain(&|_| false));
        assert_eq!(watches.families().count(), 0);
    }
}
