//! `LeaderStats`: the figures of an elector, for metrics.

use kubist_apimachinery::Str;

/// The figures of an elector. client-go's metrics `leader_election_master_status` and
/// `leader_election_slowpath_total` are [`Self::is_leader`] and [`Self::slow_paths`], with the
/// label `name`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaderStats {
    /// Namespace and name of the lease.
    pub name: Str,
    /// Whether this process leads.
    pub is_leader: bool,
    /// Terms that have begun.
    pub terms: u64,
    /// Successful renewals.
    pub renewals: u64,
    /// Renewals that failed without a read before them, so that the lease was read.
    pub slow_paths: u64,
    /// Requests that failed, conflicts not included.
    pub failures: u64,
}
