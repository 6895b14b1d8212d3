//! `Cluster`: selects the member for each call, and retries.
//!
//! One member is used until it fails, then the next in the order of the configuration. Every
//! operation has a deadline for all its attempts.

use crate::config::{Config, ConfigError};
use crate::member::Member;
use crate::method::{Method, STATUS};
use crate::refusal::Refusal;
use crate::version::Version;
use kubist_etcd_api::StatusRequest;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// Pause before the first retry; it doubles with each.
const PAUSE_MIN: Duration = Duration::from_millis(25);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// The least time that an attempt needs: one that is cut by the deadline would only hide why those
/// before it failed, and a write that it sent may have happened.
const ATTEMPT_MIN: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Cluster {
    members: Vec<Arc<Member>>,
    /// Index of the current member.
    current: AtomicUsize,
    request_timeout: Duration,
}

/// Pauses between attempts, each twice as long as the previous one.
#[derive(Debug)]
pub(crate) struct Pauses {
    next: Duration,
    deadline: Instant,
}

impl Pauses {
    pub(crate) fn until(deadline: Instant) -> Self {
        Self {
            next: PAUSE_MIN,
            deadline,
        }
    }

    /// Waits for the next pause. False if no time for an attempt is left; at once if the pause
    /// would take it.
    pub(crate) async fn wait(&mut self) -> bool {
        let pause = self.next;
        if !self.leaves_an_attempt(Instant::now() + pause) {
            return false;
        }
        self.next = (pause * 2).min(PAUSE_MAX);
        sleep(pause).await;
        // A busy machine wakes late.
        self.leaves_an_attempt(Instant::now())
    }

    fn leaves_an_attempt(&self, begin: Instant) -> bool {
        begin + ATTEMPT_MIN <= self.deadline
    }
}

impl Cluster {
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        if config.servers.is_empty() {
            return Err(ConfigError::NoServers);
        }
        let members = config.servers.iter();
        let members: Result<_, _> = members
            .map(|server| Member::new(server, config).map(Arc::new))
            .collect();
        Ok(Self {
            members: members?,
            current: AtomicUsize::new(0),
            request_timeout: config.request_timeout,
        })
    }

    /// Returns the deadline of an operation that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.request_timeout
    }

    /// Returns the current member.
    pub(crate) fn member(&self) -> Arc<Member> {
        let current = self.current.load(Ordering::Relaxed);
        Arc::clone(&self.members[current % self.members.len()])
    }

    /// Switches to the next member, unless another task already has.
    pub(crate) fn leave(&self, failed: &Arc<Member>) {
        failed.set_version(None);
        let found = self.members.iter().position(|it| Arc::ptr_eq(it, failed));
        if let Some(at) = found {
            let next = (at + 1) % self.members.len();
            let order = Ordering::Relaxed;
            // Another task has.
            self.current.compare_exchange(at, next, order, order).ok();
        }
    }

    /// Runs one operation.
    pub(crate) async fn call<Q, A>(&self, method: &Method<Q, A>, message: Q) -> Result<A, Refusal>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let deadline = self.deadline();
        let mut pauses = Pauses::until(deadline);
        let mut before = None;
        loop {
            let member = self.member();
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = member.call(method, message.clone(), left);
            let refusal = match timeout_at(deadline, answer).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(status)) => Refusal::of(status),
                Err(_) => Refusal::deadline(),
            };
            if let Refusal::Fault { .. } = &refusal {
                tracing::debug!(server = member.server(), ?refusal, "a call failed");
            }
            if refusal.blames_member() {
                self.leave(&member);
            }
            if deadline <= Instant::now() {
                return Err(refusal.cut_after(before));
            }
            if !refusal.may_repeat(method.repeatable) || !pauses.wait().await {
                return Err(refusal);
            }
            before = Some(refusal.into_fault());
        }
    }

    /// Reports whether this member answers progress requests correctly. Queries its version if that
    /// is unknown; a member that does not respond is not trusted.
    pub(crate) async fn progress_is_safe(&self, member: &Member) -> bool {
        let version = match member.version() {
            Some(version) => Some(version),
            None => self.query_version(member).await,
        };
        version.is_some_and(Version::progress_is_safe)
    }

    /// Reports whether all members are known to do so.
    pub(crate) fn progress_is_safe_everywhere(&self) -> bool {
        let safe = |member: &Arc<Member>| member.version().is_some_and(Version::progress_is_safe);
        self.members.iter().all(safe)
    }

    /// Reports whether the version of every member is known.
    pub(crate) fn versions_are_known(&self) -> bool {
        self.members.iter().all(|member| member.version().is_some())
    }

    /// Queries the members whose version is unknown.
    pub(crate) async fn query_versions(&self) {
        for member in &self.members {
            if member.version().is_none() {
                self.query_version(member).await;
            }
        }
    }

    async fn query_version(&self, member: &Member) -> Option<Version> {
        let timeout = self.request_timeout;
        let status = member.call(&STATUS, StatusRequest {}, timeout);
        let status = timeout_at(self.deadline(), status).await.ok()?.ok()?;
        let version = Version::parse(&status.version);
        member.set_version(version);
        version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_attempt_begins_that_the_deadline_would_cut() {
        for took in (0..500).step_by(7).map(Duration::from_millis) {
            let deadline = Instant::now() + Duration::from_secs(15);
            let mut pauses = Pauses::until(deadline);
            let mut attempts = 0;
            while pauses.wait().await {
                attempts += 1;
                let left = deadline.saturating_duration_since(Instant::now());
                assert!(
                    left >= ATTEMPT_MIN,
                    "{took:?}: attempt {attempts} has {left:?}"
                );
                sleep(took).await;
            }
            assert!(attempts > 10, "{took:?}: {attempts}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_from_which_a_task_wakes_late_is_the_last() {
        let deadline = Instant::now() + Duration::from_millis(200);
        let mut pauses = Pauses::until(deadline);
        let late = async {
            // Time passes while the pause waits.
            tokio::task::yield_now().await;
            tokio::time::advance(Duration::from_millis(150)).await;
        };
        assert!(!tokio::join!(pauses.wait(), late).0);
    }
}
