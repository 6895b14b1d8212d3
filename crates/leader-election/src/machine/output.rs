//! What goes into a machine and what comes out of it.

use crate::timing::Timing;
use kubist_api::coordination::v1::Lease;
use kubist_apimachinery::{MicroTime, Str};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A moment: on the monotonic clock, by which the machine decides, and on the wall clock, which it
/// only writes down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) time: MicroTime,
}

/// What is fixed about a candidate.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) identity: Str,
    pub(crate) timing: Timing,
    pub(crate) labels: BTreeMap<Str, Str>,
    pub(crate) seed: u64,
}

/// What to do, or what has happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// Read the lease and report the answer.
    Read,
    /// Create the lease and report the answer.
    Create(Box<Lease>),
    /// Replace the lease, which has a resource version, and report the answer.
    Update(Box<Lease>),
    /// Poll again at this time, or when the answer of the request under way is reported. A request
    /// that is still under way when the machine sends another is dropped.
    SleepUntil(Instant),
    /// A term has begun.
    BecameLeader(Begun),
    /// The term lasts longer.
    Renewed {
        /// Until when.
        until: Instant,
    },
    /// The term is over; the machine goes on as a candidate.
    Lost(LostReason),
    /// Somebody else holds the lease than before; none: nobody.
    NewLeader(Option<Str>),
    /// After [`Machine::stop`]: there is nothing left to do.
    Finished {
        /// Whether the lease was given up.
        released: bool,
    },
}

/// The beginning of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) transitions: i32,
    pub(crate) resource_version: Str,
    pub(crate) until: Instant,
}

/// Why a term ended without being asked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LostReason {
    /// No renewal was confirmed in time.
    #[error("the lease was not renewed within {renew_deadline:?}{}", because(.problem.as_ref()))]
    DeadlineExceeded {
        /// The renew deadline.
        renew_deadline: Duration,
        /// Why the last renewal failed, if it did.
        problem: Option<Str>,
    },
    /// The record names another holder, or another term.
    #[error("the lease is held by {holder:?}")]
    Superseded {
        /// The holder; empty if nobody holds it.
        holder: Str,
    },
}

fn because(problem: Option<&Str>) -> String {
    problem.map_or_else(String::new, |problem| format!(": {problem}"))
}

/// How a request ended.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The lease, as read or as written.
    Lease(Box<Lease>),
    /// There is no lease.
    NotFound,
    /// Somebody else wrote first.
    Conflict,
    /// Anything else. If it was a write, it may have been applied.
    Failed(Str),
}

/// The counts of a machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) terms: u64,
    pub(crate) renewals: u64,
    pub(crate) slow_paths: u64,
    pub(crate) failures: u64,
}
