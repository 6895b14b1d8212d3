//! `LeaderWatch`: what an elector knows, for readiness, metrics and everybody who asks.

use crate::machine::Counts;
use crate::timing::Timing;
use crate::{LeaderStats, Term};
use kubist_apimachinery::Str;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Shows who leads. Clones show the same. It remains usable after the elector is dropped.
#[derive(Clone, Debug)]
pub struct LeaderWatch {
    facts: Arc<Facts>,
    state: watch::Receiver<State>,
}

#[derive(Debug)]
struct Facts {
    lock: Str,
    identity: Str,
    timing: Timing,
    counts: Mutex<Counts>,
}

/// What changes, and wakes those who wait.
#[derive(Clone, Debug, Default)]
struct State {
    leader: Option<Str>,
    term: Option<Term>,
    /// The run of the elector that may begin a term.
    run: Option<u64>,
}

/// A leader's lease has not been renewed for too long, and the leader has not noticed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lease {lock} was not renewed for {unrenewed_for:?}")]
#[non_exhaustive]
pub struct LeaseOverdue {
    /// Namespace and name of the lease.
    pub lock: Str,
    /// How long ago the last successful renewal began.
    pub unrenewed_for: Duration,
}

impl LeaderWatch {
    /// Reports whether this process leads now, by its monotonic clock.
    pub fn is_leader(&self) -> bool {
        self.term().is_some()
    }

    /// Returns the term of this process, if it leads now.
    pub fn term(&self) -> Option<Term> {
        let term = self.state.borrow().term.clone();
        term.filter(Term::is_held)
    }

    /// Returns the identity in the record as it was last seen; none if nobody held the lease, or
    /// before the first read.
    pub fn leader(&self) -> Option<Str> {
        self.state.borrow().leader.clone()
    }

    /// Returns the identity of this candidate.
    pub fn identity(&self) -> &Str {
        &self.facts.identity
    }

    /// Waits until this process leads, and returns its term; none if the elector was dropped.
    ///
    /// # Cancel safety
    /// It can be dropped and called again.
    pub async fn leading(&mut self) -> Option<Term> {
        loop {
            if let Some(term) = self.term() {
                return Some(term);
            }
            self.state.changed().await.ok()?;
        }
    }

    /// Waits until another holder is seen, or a term of this process begins or ends. It returns
    /// false if the elector was dropped, after which nothing changes. A term that has ended
    /// although its elector does not run is seen by [`Self::is_leader`] and [`Term::ended`] only.
    ///
    /// # Cancel safety
    /// It can be dropped and called again.
    pub async fn changed(&mut self) -> bool {
        self.state.changed().await.is_ok()
    }

    /// Fails if this process became the leader and its elector has not run for so long that the
    /// lease was not renewed for the lease duration and `tolerance`. client-go's `HealthzAdaptor`,
    /// for a liveness probe; its usual tolerance is 20 s.
    ///
    /// # Errors
    /// The lease is overdue: the process should be restarted.
    pub fn check(&self, tolerance: Duration) -> Result<(), LeaseOverdue> {
        let timing = self.facts.timing;
        let Some(term) = self.state.borrow().term.clone() else {
            return Ok(());
        };
        let unrenewed_for = term.unrenewed_for(Instant::now(), timing.renew_deadline);
        if unrenewed_for <= timing.lease_duration.saturating_add(tolerance) {
            return Ok(());
        }
        Err(LeaseOverdue {
            lock: self.facts.lock.clone(),
            unrenewed_for,
        })
    }

    /// Returns the figures for metrics.
    pub fn stats(&self) -> LeaderStats {
        let counts = *self.facts.counts.lock();
        LeaderStats {
            name: self.facts.lock.clone(),
            is_leader: self.is_leader(),
            terms: counts.terms,
            renewals: counts.renewals,
            slow_paths: counts.slow_paths,
            failures: counts.failures,
        }
    }
}

/// The writing half.
#[derive(Debug)]
pub(crate) struct LeaderPublisher {
    facts: Arc<Facts>,
    state: watch::Sender<State>,
}

impl LeaderPublisher {
    pub(crate) fn new(lock: Str, identity: Str, timing: Timing) -> Self {
        let facts = Facts {
            lock,
            identity,
            timing,
            counts: Mutex::default(),
        };
        Self {
            facts: Arc::new(facts),
            state: watch::Sender::default(),
        }
    }

    pub(crate) fn lock(&self) -> &Str {
        &self.facts.lock
    }

    pub(crate) fn identity(&self) -> &Str {
        &self.facts.identity
    }

    pub(crate) fn timing(&self) -> Timing {
        self.facts.timing
    }

    pub(crate) fn watch(&self) -> LeaderWatch {
        LeaderWatch {
            facts: Arc::clone(&self.facts),
            state: self.state.subscribe(),
        }
    }

    pub(crate) fn count(&self, counts: Counts) {
        *self.facts.counts.lock() = counts;
    }

    pub(crate) fn leader(&self, leader: Option<Str>) {
        self.state.send_modify(|it| it.leader = leader);
    }

    /// Lets a run of the elector begin a term.
    pub(crate) fn open(&self, run: u64) {
        self.state.send_if_modified(|it| {
            it.run = Some(run);
            false
        });
    }

    /// Begins a term, unless the run has ended: its driver may notice that later.
    pub(crate) fn begin(&self, run: u64, term: Term) {
        self.state.send_if_modified(|it| {
            let is_open = it.run == Some(run);
            if is_open {
                it.term = Some(term);
            } else {
                term.end();
            }
            is_open
        });
    }

    /// Prolongs the term of a run. Nobody is woken.
    pub(crate) fn extend(&self, run: u64, now: Instant, until: Instant) {
        let state = self.state.borrow();
        if let Some(term) = state.term.as_ref().filter(|_| state.run == Some(run)) {
            term.extend(now, until);
        }
    }

    /// Ends a run, and its term, if there is one.
    pub(crate) fn end(&self, run: u64) {
        self.state.send_if_modified(|it| {
            if it.run != Some(run) {
                return false;
            }
            it.run = None;
            let ended = it.term.take().inspect(Term::end);
            ended.is_some()
        });
    }
}
