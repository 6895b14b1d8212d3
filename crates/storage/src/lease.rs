//! `LeaseId` and `LeaseStatus`: the id of a lease, and what an engine knows of it.

use bytes::Bytes;
use std::fmt;
use std::time::Duration;

/// A lease. Keys attached to it are deleted when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub i64);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The state of an active lease.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a lease has no other parts")]
pub struct LeaseStatus {
    /// The lifetime that it was granted, and gets again when it is kept alive.
    pub ttl: Duration,
    /// The rest of its lifetime.
    pub remaining: Duration,
    /// The keys that are attached to it, in byte order.
    pub keys: Vec<Bytes>,
}
