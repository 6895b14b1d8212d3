//! `Timing`: the three durations of an election, and how they must relate.

use std::time::Duration;

/// The random share of the retry period that candidates add, as in client-go.
pub(crate) const JITTER_FACTOR: f64 = 1.2;

/// The durations of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    pub(crate) lease_duration: Duration,
    pub(crate) renew_deadline: Duration,
    pub(crate) retry_period: Duration,
}

/// Why an election cannot be held with these settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidConfig {
    /// The identity is empty, which in a record means that nobody holds it.
    #[error("the identity of the candidate is empty")]
    NoIdentity,
    /// A duration is zero.
    #[error("{name} is zero")]
    Zero {
        /// The field.
        name: &'static str,
    },
    /// The leader would not end its term before others may take the lease.
    #[error(
        "lease_duration ({lease_duration:?}) is not longer than renew_deadline \
         ({renew_deadline:?})"
    )]
    LeaseDurationTooShort {
        /// The lease duration.
        lease_duration: Duration,
        /// The renew deadline.
        renew_deadline: Duration,
    },
    /// The lease duration does not fit a record, which has whole seconds in 32 bits.
    #[error("lease_duration ({lease_duration:?}) is longer than {} s", i32::MAX)]
    LeaseDurationTooLong {
        /// The lease duration.
        lease_duration: Duration,
    },
    /// A single failed renewal would end the term.
    #[error(
        "renew_deadline ({renew_deadline:?}) is not longer than 1.2 times retry_period \
         ({retry_period:?})"
    )]
    RenewDeadlineTooShort {
        /// The renew deadline.
        renew_deadline: Duration,
        /// The retry period.
        retry_period: Duration,
    },
}

impl Timing {
    /// The numbers of controller-runtime and of Kubernetes' components.
    pub(crate) const DEFAULT: Self = Self {
        lease_duration: Duration::from_secs(15),
        renew_deadline: Duration::from_secs(10),
        retry_period: Duration::from_secs(2),
    };

    /// Checks client-go's conditions.
    pub(crate) fn check(&self) -> Result<(), InvalidConfig> {
        let durations = [
            ("lease_duration", self.lease_duration),
            ("renew_deadline", self.renew_deadline),
            ("retry_period", self.retry_period),
        ];
        if let Some(&(name, _)) = durations.iter().find(|(_, it)| it.is_zero()) {
            return Err(InvalidConfig::Zero { name });
        }
        let (lease_duration, renew_deadline) = (self.lease_duration, self.renew_deadline);
        if lease_duration <= renew_deadline {
            return Err(InvalidConfig::LeaseDurationTooShort {
                lease_duration,
                renew_deadline,
            });
        }
        if i32::try_from(lease_duration.as_secs()).map_or(true, |it| it == i32::MAX) {
            return Err(InvalidConfig::LeaseDurationTooLong { lease_duration });
        }
        // In nanoseconds, so that long durations cannot overflow.
        let retry_max = self.retry_period.as_nanos() * 12 / 10;
        if renew_deadline.as_nanos() <= retry_max {
            return Err(InvalidConfig::RenewDeadlineTooShort {
                renew_deadline,
                retry_period: self.retry_period,
            });
        }
        Ok(())
    }

    /// Returns the lease duration for the record: whole seconds, never shorter.
    pub(crate) fn lease_seconds(&self) -> i32 {
        let rounded = self.lease_duration + Duration::from_nanos(999_999_999);
        i32::try_from(rounded.as_secs()).unwrap_or(i32::MAX)
    }

    /// Returns how long to wait for one answer: half the renew deadline, at least 1 s, as
    /// client-go's clients for leases; a renewal that hangs leaves time for another.
    pub(crate) fn request_timeout(&self) -> Duration {
        let half = self.renew_deadline / 2;
        half.max(Duration::from_secs(1)).min(self.renew_deadline)
    }

    /// Returns the pause of a candidate; `share` is in [0, 1).
    pub(crate) fn candidate_pause(&self, share: f64) -> Duration {
        let jitter = self.retry_period.as_secs_f64() * JITTER_FACTOR * share;
        let jitter = Duration::try_from_secs_f64(jitter).unwrap_or_default();
        self.retry_period.saturating_add(jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lease: u64, renew: u64, retry: u64) -> Result<(), InvalidConfig> {
        let [lease_duration, renew_deadline, retry_period] =
            [lease, renew, retry].map(Duration::from_millis);
        let timing = Timing {
            lease_duration,
            renew_deadline,
            retry_period,
        };
        timing.check()
    }

    #[test]
    fn the_durations_must_relate_as_in_client_go() {
        assert_eq!(Timing::DEFAULT.check(), Ok(()));
        assert_eq!(check(15_000, 10_000, 8_333), Ok(()));
        let too_short = InvalidConfig::RenewDeadlineTooShort {
            renew_deadline: Duration::from_secs(12),
            retry_period: Duration::from_secs(10),
        };
        assert_eq!(check(15_000, 12_000, 10_000), Err(too_short));
        assert!(matches!(
            check(10_000, 10_000, 2_000),
            Err(InvalidConfig::LeaseDurationTooShort { .. })
        ));
        for (lease, renew, retry, name) in [
            (0, 1, 1, "lease_duration"),
            (3, 0, 1, "renew_deadline"),
            (3, 2, 0, "retry_period"),
        ] {
            assert_eq!(
                check(lease, renew, retry),
                Err(InvalidConfig::Zero { name })
            );
        }
        assert!(matches!(
            check(i32::MAX as u64 * 1000, 10_000, 2_000),
            Err(InvalidConfig::LeaseDurationTooLong { .. })
        ));
    }

    #[test]
    fn a_record_never_has_less_than_the_lease_duration() {
        for (milliseconds, seconds) in [(1, 1), (1_000, 1), (1_001, 2), (15_000, 15)] {
            let timing = Timing {
                lease_duration: Duration::from_millis(milliseconds),
                ..Timing::DEFAULT
            };
            assert_eq!(timing.lease_seconds(), seconds, "{milliseconds} ms");
        }
    }

    #[test]
    fn candidates_wait_between_one_and_two_point_two_periods() {
        let timing = Timing::DEFAULT;
        assert_eq!(timing.candidate_pause(0.0), Duration::from_secs(2));
        assert_eq!(timing.candidate_pause(0.5), Duration::from_millis(3_200));
    }
}
