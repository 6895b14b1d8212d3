//! `LeaderElectionConfig`: the lock, the identity and the times of an election.

use crate::timing::{InvalidConfig, Timing};
use crate::{Lock, identity};
use kubist_apimachinery::Str;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The settings of a [`LeaderElector`](crate::LeaderElector).
///
/// ```
/// # use kubist_leader_election::{LeaderElectionConfig, LeaseLock};
/// # use std::time::Duration;
/// # fn example(client: kubist_client::Client) {
/// let lock = LeaseLock::new(client, "kube-system", "my-operator");
/// let config = LeaderElectionConfig {
///     lease_duration: Duration::from_secs(60), // tolerates clocks of which one
///     renew_deadline: Duration::from_secs(30), // is twice as fast as the other
///     ..LeaderElectionConfig::new(lock)
/// };
/// # drop(config);
/// # }
/// ```
#[derive(Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct LeaderElectionConfig {
    /// Where the record is: usually a [`LeaseLock`](crate::LeaseLock).
    pub lock: Arc<dyn Lock>,
    /// This candidate's name in the record. No other process may use it. Default: the host's name
    /// and a random UUID, as in controller-runtime.
    pub identity: Str,
    /// How long other candidates wait after they last saw the record change; written to the record
    /// in whole seconds, rounded up. Default: 15 s, as in controller-runtime and Kubernetes'
    /// components.
    pub lease_duration: Duration,
    /// How long after the start of its last successful renewal a leader's term ends. Default: 10 s.
    /// `lease_duration / renew_deadline` is the ratio of clock rates that is tolerated.
    pub renew_deadline: Duration,
    /// The pause between renewals, and, lengthened by a random share of up to 1.2 of itself,
    /// between attempts to become the leader. Default: 2 s.
    pub retry_period: Duration,
    /// Whether a leader that stops gives the lease up, after its work has ended, so that another
    /// candidate need not wait for its end. Default: true. (client-go's default is false, because
    /// there the work may still run.)
    pub release_on_cancel: bool,
    /// Labels that are set on the lease. Default: none.
    pub labels: BTreeMap<Str, Str>,
    /// The seed of the random shares of pauses, for tests. Default: random.
    pub seed: Option<u64>,
}

impl LeaderElectionConfig {
    /// Returns the default settings for a lock.
    pub fn new(lock: impl Lock) -> Self {
        let timing = Timing::DEFAULT;
        Self {
            identity: identity::unique(&lock.ambient()),
            lock: Arc::new(lock),
            lease_duration: timing.lease_duration,
            renew_deadline: timing.renew_deadline,
            retry_period: timing.retry_period,
            release_on_cancel: true,
            labels: BTreeMap::new(),
            seed: None,
        }
    }

    pub(crate) fn timing(&self) -> Result<Timing, InvalidConfig> {
        if self.identity.is_empty() {
            return Err(InvalidConfig::NoIdentity);
        }
        let timing = Timing {
            lease_duration: self.lease_duration,
            renew_deadline: self.renew_deadline,
            retry_period: self.retry_period,
        };
        timing.check().map(|()| timing)
    }
}

impl fmt::Debug for LeaderElectionConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderElectionConfig")
            .field("lock", &self.lock.describe())
            .field("identity", &self.identity)
            .field("lease_duration", &self.lease_duration)
            .field("renew_deadline", &self.renew_deadline)
            .field("retry_period", &self.retry_period)
            .field("release_on_cancel", &self.release_on_cancel)
            .finish_non_exhaustive()
    }
}
