//! Leases, each shared by many keys.
//!
//! A lease costs etcd a record, a timer and log writes, and expiring objects are numerous and live
//! equally long. So a lease is reused while its remaining lifetime is at least the requested one
//! and at most slightly longer.

use crate::engine::Shared;
use crate::method::{LEASE_GRANT, LEASE_REVOKE};
use crate::refusal::Refusal;
use kubist_etcd_api::{LeaseGrantRequest, LeaseRevokeRequest};
use kubist_storage::{LeaseError, LeaseId};
use std::time::Duration;
use tokio::time::Instant;

/// etcd's limit.
const TTL_MAX: Duration = Duration::from_secs(9_000_000_000);
/// Maximum extra lifetime, as a fraction of the requested one. Upstream's number.
const SLACK_PARTS: u64 = 20;
/// Maximum extra lifetime in seconds. Upstream's number.
const SLACK_SECONDS_MAX: u64 = 60;
/// Maximum number of keys per lease. Upstream's number.
const SHARED_BY_MAX: usize = 1000;

/// The last lease granted.
#[derive(Debug)]
pub(crate) struct Shareable {
    lease: LeaseId,
    /// Its earliest end.
    ends: Instant,
    handed_out: usize,
}

impl Shareable {
    /// Reports whether it lives for at least `ttl`, and not too much longer.
    fn serves(&self, seconds: u64, now: Instant) -> bool {
        let left = self.ends.saturating_duration_since(now);
        let longest = Duration::from_secs(seconds + slack(seconds));
        self.handed_out < SHARED_BY_MAX && left > Duration::from_secs(seconds) && left < longest
    }
}

fn slack(seconds: u64) -> u64 {
    (seconds / SLACK_PARTS).min(SLACK_SECONDS_MAX)
}

impl Shared {
    pub(crate) async fn grant(&self, ttl: Duration) -> Result<LeaseId, LeaseError> {
        if ttl.is_zero() || ttl > TTL_MAX {
            return Err(out_of_range(ttl));
        }
        let seconds = ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0);
        // Taken before the call: etcd counts from when it grants the lease.
        let now = Instant::now();
        if let Some(shared) = self.lease.lock().as_mut()
            && shared.serves(seconds, now)
        {
            shared.handed_out += 1;
            return Ok(shared.lease);
        }
        let granted = (seconds + slack(seconds)).min(TTL_MAX.as_secs());
        let message = LeaseGrantRequest {
            ttl: i64::try_from(granted).unwrap_or(i64::MAX),
            ..LeaseGrantRequest::default()
        };
        let answer = self.call(&LEASE_GRANT, message).await;
        let lease = match answer {
            Ok(answer) => LeaseId(answer.id),
            Err(None) => return Err(LeaseError::Closed),
            Err(Some(Refusal::TtlTooLarge)) => return Err(out_of_range(ttl)),
            Err(Some(other)) => return Err(other.into_fault().into()),
        };
        *self.lease.lock() = Some(Shareable {
            lease,
            ends: now + Duration::from_secs(granted),
            handed_out: 1,
        });
        Ok(lease)
    }

    pub(crate) async fn revoke(&self, lease: LeaseId) -> Result<(), LeaseError> {
        self.lease.lock().take_if(|shared| shared.lease == lease);
        let message = LeaseRevokeRequest { id: lease.0 };
        match self.call(&LEASE_REVOKE, message).await {
            Ok(_) => Ok(()),
            Err(None) => Err(LeaseError::Closed),
            Err(Some(Refusal::LeaseNotFound)) => Err(LeaseError::NotFound { lease }),
            Err(Some(other)) => Err(other.into_fault().into()),
        }
    }

    /// Forgets a lease that does not exist any more.
    pub(crate) fn forget_lease(&self, lease: LeaseId) {
        self.lease.lock().take_if(|shared| shared.lease == lease);
    }
}

fn out_of_range(ttl: Duration) -> LeaseError {
    LeaseError::TtlOutOfRange {
        ttl,
        ttl_max: TTL_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;

    fn granted(at: Instant, seconds: u64) -> Shareable {
        Shareable {
            lease: LeaseId(1),
            ends: at + Duration::from_secs(seconds + slack(seconds)),
            handed_out: 1,
        }
    }

    #[test]
    fn a_lease_serves_again_for_a_minute_or_a_twentieth_of_its_time() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let hour = granted(start, HOUR);
        assert!(hour.serves(HOUR, after(1)) && hour.serves(HOUR, after(59)));
        assert!(!hour.serves(HOUR, after(60)), "it would end too early");
        assert!(!hour.serves(HOUR / 2, after(1)), "it would end too late");
        let minute = granted(start, 60);
        assert!(minute.serves(60, after(2)) && !minute.serves(60, after(3)));
        assert!(
            !granted(start, 10).serves(10, after(0)),
            "too short to share"
        );
    }

    #[test]
    fn a_lease_is_shared_by_a_thousand_at_most() {
        let start = Instant::now();
        let mut hour = granted(start, HOUR);
        hour.handed_out = SHARED_BY_MAX;
        assert!(!hour.serves(HOUR, start + Duration::from_secs(1)));
    }
}
