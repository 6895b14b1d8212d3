//! `Unserved`: an informer's report that its resource is not served, until discovery confirms it.
//!
//! After the definition of a custom resource is deleted, the watch ends and the next list returns
//! 404 before discovery no longer has the resource. That is no problem. It is one if discovery
//! keeps having the resource.

use kubist_informers::Problem;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// By then the informer has retried with the same result.
const PERSISTS: Duration = Duration::from_secs(60);

/// What one informer reported, and when.
#[derive(Debug, Default)]
pub(super) struct Unserved(Mutex<Option<(Problem, Instant)>>);

impl Unserved {
    /// Records that the server does not serve the resource.
    pub(super) fn note(&self, problem: &Problem, now: Instant) {
        *self.0.lock() = Some((problem.clone(), now));
    }

    /// Called when discovery has the resource. Returns the problem to report, once, if the
    /// contradiction has lasted too long; `refused` is whether the informer still gets 404.
    pub(super) fn contradiction(&self, refused: bool, now: Instant) -> Option<Problem> {
        let mut noted = self.0.lock();
        let since = noted.as_ref().map(|(_, at)| *at)?;
        if refused && now.saturating_duration_since(since) < PERSISTS {
            return None;
        }
        let (problem, _) = noted.take()?;
        refused.then_some(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_cache::FetchError;
    use kubist_reflector::Report;

    fn problem() -> Problem {
        Problem::Fetch(Report::NotServed(FetchError::NotServed {
            message: "no".into(),
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_resource_that_is_in_discovery_and_not_served_is_reported_once_and_later() {
        let unserved = Unserved::default();
        let reported = |refused| unserved.contradiction(refused, Instant::now()).is_some();
        assert!(!reported(true), "no report yet");
        unserved.note(&problem(), Instant::now());
        assert!(!reported(true), "the definition may have been recreated");
        tokio::time::advance(PERSISTS).await;
        assert!(reported(true));
        assert!(!reported(true), "it was reported");
    }

    #[tokio::test(start_paused = true)]
    async fn a_resource_that_is_served_again_is_not_reported() {
        let unserved = Unserved::default();
        unserved.note(&problem(), Instant::now());
        tokio::time::advance(PERSISTS).await;
        assert!(unserved.contradiction(false, Instant::now()).is_none());
        assert!(unserved.contradiction(true, Instant::now()).is_none());
    }
}
