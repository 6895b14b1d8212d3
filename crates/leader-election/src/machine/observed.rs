//! `Observed`: the record as it was last seen, and since when it has been so.

use super::record;
use kubist_api::coordination::v1::Lease;
use std::time::{Duration, Instant};

/// A lease, and when its record was first seen to be as it is, on the own clock.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) lease: Lease,
    since: Instant,
}

impl Observed {
    pub(super) fn new(now: Instant, lease: Lease) -> Self {
        Self { lease, since: now }
    }

    /// Takes a lease that was read or written. Only a change of the record counts, not one of the
    /// metadata, so that somebody who labels the lease does not prolong it.
    pub(super) fn update(&mut self, now: Instant, lease: Lease) {
        if self.lease.spec != lease.spec {
            self.since = now;
        }
        self.lease = lease;
    }

    pub(super) fn holder(&self) -> Option<&str> {
        record::holder(&self.lease)
    }

    pub(super) fn transitions(&self) -> i32 {
        record::transitions(&self.lease)
    }

    /// Reports whether somebody holds the lease for all that can be known here.
    pub(super) fn is_held_at(&self, now: Instant) -> bool {
        let seconds = self.lease.spec.lease_duration_seconds.unwrap_or_default();
        let duration = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        self.holder().is_some() && now.saturating_duration_since(self.since) < duration
    }
}
