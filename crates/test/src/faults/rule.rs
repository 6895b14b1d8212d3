//! `Rule`: a fault, the requests that it is about, and how often and how long it acts.

use super::effect::Effect;
use super::requests::Requests;
use crate::clock::after;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How often and how long a rule acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) skip: u64,
    pub(crate) times: Option<u64>,
    pub(crate) lasting: Option<Duration>,
    pub(crate) must_match: bool,
}

/// A rule that was added. Clones are the same rule.
///
/// Dropping it changes nothing; [`lift`](Self::lift) ends it.
#[derive(Clone, Debug)]
pub struct Rule {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    requests: Requests,
    effect: Effect,
    bounds: Bounds,
    until: Option<Instant>,
    /// Matching requests, or events, so far.
    seen: AtomicU64,
    acted: AtomicU64,
    lifted: CancellationToken,
}

impl Rule {
    pub(crate) fn new(requests: Requests, effect: Effect, bounds: Bounds) -> Self {
        let until = bounds.lasting.map(after);
        let shared = Shared {
            requests,
            effect,
            bounds,
            until,
            seen: AtomicU64::new(0),
            acted: AtomicU64::new(0),
            lifted: CancellationToken::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Ends it: requests that it holds go on.
    pub fn lift(&self) {
        self.shared.lifted.cancel();
    }

    /// Returns how often it has acted, on a request or on an event.
    pub fn acted(&self) -> u64 {
        self.shared.acted.load(Ordering::Relaxed)
    }

    pub(crate) fn effect(&self) -> &Effect {
        &self.shared.effect
    }

    pub(crate) fn requests(&self) -> &Requests {
        &self.shared.requests
    }

    /// Reports whether it has to act at least once, and has not.
    pub(crate) fn is_missed(&self) -> bool {
        self.shared.bounds.must_match && self.acted() == 0
    }

    /// Reports whether it may still act.
    pub(crate) fn is_live(&self) -> bool {
        let Shared {
            bounds,
            until,
            acted,
            lifted,
            ..
        } = &*self.shared;
        !lifted.is_cancelled()
            && until.is_none_or(|it| Instant::now() < it)
            && bounds
                .times
                .is_none_or(|it| acted.load(Ordering::Relaxed) < it)
    }

    /// Counts a matching request, and decides whether the rule acts on it.
    pub(crate) fn strike(&self) -> bool {
        if !self.is_live() {
            return false;
        }
        let seen = self.shared.seen.fetch_add(1, Ordering::Relaxed);
        let acts = seen >= self.shared.bounds.skip;
        if acts {
            self.shared.acted.fetch_add(1, Ordering::Relaxed);
        }
        acts
    }

    /// Completes when its time is over, or it is lifted.
    pub(crate) async fn over(&self) {
        match self.shared.until {
            Some(until) => tokio::select! {
                biased;
                () = self.shared.lifted.cancelled() => {}
                () = sleep_until(until) => {}
            },
            None => self.shared.lifted.cancelled().await,
        }
    }
}

/// `create pods by operator is answered 409`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.shared.requests, self.shared.effect)
    }
}

/// Rules that were to act and did not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} rules never acted: {}", .rules.len(), .rules.join("; "))]
#[non_exhaustive]
pub struct MissedRules {
    /// Their descriptions.
    pub rules: Vec<String>,
}
