//! How long a Job waits before it replaces a failed Pod.

use super::pods;
use crate::pod_state::condition;
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Time;
use std::time::Duration;

/// The delay after the first failure, which each further one doubles, and its limit, as upstream.
const FIRST: u64 = 10;
const LONGEST: u64 = 600;

/// The failures since the last success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Backoff {
    failures: i32,
    last: Option<Time>,
}

impl Backoff {
    /// Returns the failures after further Pods finished.
    pub(super) fn after(self, succeeded: &[&Pod], failed: &[&Pod]) -> Self {
        let success = succeeded.iter().map(|it| finished_at(it)).max();
        let base = if success.is_some() {
            Self::default()
        } else {
            self
        };
        let times = failed.iter().map(|it| finished_at(it));
        let later = times.filter(|it| success.is_none_or(|success| *it > success));
        later.fold(base, |sum, at| Self {
            failures: sum.failures.saturating_add(1),
            last: sum.last.max(Some(at)),
        })
    }

    /// Returns how long to wait yet.
    pub(super) fn left(self, now: Time) -> Option<Duration> {
        let last = self.last.filter(|_| self.failures > 0)?;
        let doublings = u32::try_from(self.failures - 1).unwrap_or(0).min(16);
        let delay = FIRST.saturating_mul(1 << doublings).min(LONGEST);
        let elapsed = u64::try_from(now.unix() - last.unix()).unwrap_or(0);
        let left = delay.saturating_sub(elapsed);
        (left > 0).then(|| Duration::from_secs(left))
    }

    /// Returns how long to wait before this Pod's index is tried again.
    pub(super) fn of_index(failed: &Pod, now: Time) -> Option<Duration> {
        let failures = pods::index_failures(failed).saturating_add(pods::ignored_failures(failed));
        let backoff = Self {
            failures: failures.saturating_add(1),
            last: Some(finished_at(failed)),
        };
        backoff.left(now)
    }
}

/// When the Pod finished: its last container; else since when it is not ready, was deleted, or was
/// created.
pub(super) fn finished_at(pod: &Pod) -> Time {
    let containers = &pod.status.container_statuses;
    let ends = containers
        .iter()
        .map(|it| it.state.terminated.as_ref().and_then(|it| it.finished_at));
    let ends: Option<Vec<Time>> = ends.collect();
    let last = ends.and_then(|it| it.into_iter().max());
    let unready = || {
        let ready = condition(pod, "Ready").filter(|it| it.status == "False")?;
        ready.last_transition_time
    };
    let deleted = || {
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        let at = pod.metadata.deletion_timestamp?.unix();
        Some(Time::from_unix(at.saturating_sub(grace)))
    };
    last.or_else(unready)
        .or_else(deleted)
        .or(pod.metadata.creation_timestamp)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(at: i64) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.creation_timestamp = Some(Time::from_unix(at));
        pod
    }

    #[test]
    fn delays_double_up_to_ten_minutes_and_a_success_ends_them() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.left(Time::from_unix(0)), None);
        let mut delays = Vec::new();
        for at in 0..8 {
            backoff = backoff.after(&[], &[&ended(at)]);
            delays.push(
                backoff
                    .left(Time::from_unix(at))
                    .map_or(0, |it| it.as_secs()),
            );
        }
        assert_eq!(delays, [10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(backoff.left(Time::from_unix(607)), None);
        let after = backoff.after(&[&ended(20)], &[&ended(15), &ended(25)]);
        let left = after.left(Time::from_unix(26));
        assert_eq!(left, Some(Duration::from_secs(9)), "one failure was later");
        assert_eq!(backoff.after(&[&ended(20)], &[]), Backoff::default());
    }
}
