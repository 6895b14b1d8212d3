//! `Unserved`: an informer's word that its resource is not served, until it is known what to make
//! of that.
//!
//! A watch of custom resources ends, and the next list is told 404, before anybody hears that their
//! definition was deleted: that is no problem, and discovery will tell. Where discovery goes on to
//! have the resource, it is one.

use std::time::Duration;

use kubist_informers::Problem;
use parking_lot::Mutex;
use tokio::time::Instant;

/// An informer has asked again by then, and was told the same.
const PERSISTS: Duration = Duration::from_secs(60);

/// What one informer was told, and when.
#[derive(Debug, Default)]
pub(super) struct Unserved(Mutex<Option<(Problem, Instant)>>);

impl Unserved {
    /// The server said that it does not serve the resource.
    pub(super) fn note(&self, problem: &Problem, now: Instant) {
        *self.0.lock() = Some((problem.clone(), now));
    }

    /// Discovery has the resource. What is to be told, once, if that has been a contradiction for
    /// too long; `refused` is whether the informer still finds nothing.
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
    use kubist_cache::FetchError;
    use kubist_reflector::Report;

    use super::*;

    fn problem() -> Problem {
        Problem::Fetch(Report::NotServed(FetchError::NotServed {
            message: "no".into(),
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_resource_that_is_in_discovery_and_not_served_is_told_once_and_later() {
        let unserved = Unserved::default();
        let told = |refused| unserved.contradiction(refused, Instant::now()).is_some();
        assert!(!told(true), "nobody said so");
        unserved.note(&problem(), Instant::now());
        assert!(!told(true), "it may be a definition that came anew");
        tokio::time::advance(PERSISTS).await;
        assert!(told(true));
        assert!(!told(true), "it was told");
    }

    #[tokio::test(start_paused = true)]
    async fn a_resource_that_is_served_again_is_not_told() {
        let unserved = Unserved::default();
        unserved.note(&problem(), Instant::now());
        tokio::time::advance(PERSISTS).await;
        assert!(unserved.contradiction(false, Instant::now()).is_none());
        assert!(unserved.contradiction(true, Instant::now()).is_none());
    }
}
