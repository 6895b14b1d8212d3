//! `LeaderElector`: takes part in an election, and runs work while it leads.

use crate::driver::{self, Driver};
use crate::leader_watch::LeaderPublisher;
use crate::machine::{Candidate, LostReason, Machine};
use crate::{InvalidConfig, LeaderElectionConfig, LeaderWatch, Lock, Term};
use kubist_apimachinery::Str;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A candidate in one election. client-go's type of that name, with a future in place of callbacks.
#[derive(Debug)]
pub struct LeaderElector {
    machine: Arc<Mutex<Machine>>,
    lock: OpaqueLock,
    publisher: Arc<LeaderPublisher>,
    release_on_cancel: bool,
}

struct OpaqueLock(Arc<dyn Lock>);

impl std::fmt::Debug for OpaqueLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.describe())
    }
}

/// Why an elector stopped by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderElectionError {
    /// The term ended while the work ran. The work was dropped.
    #[error("lost the leader lease {lock}")]
    Lost {
        /// Namespace and name of the lease.
        lock: Str,
        /// Why.
        #[source]
        reason: LostReason,
    },
    /// The lock panicked.
    #[error("the lock {lock} panicked")]
    Panicked {
        /// Namespace and name of the lease.
        lock: Str,
    },
}

/// Ends the term when a run ends or is dropped.
struct EndTerm<'a> {
    publisher: &'a LeaderPublisher,
    run: u64,
}

impl Drop for EndTerm<'_> {
    fn drop(&mut self) {
        self.publisher.end(self.run);
    }
}

impl LeaderElector {
    /// Creates a candidate. It does nothing until it [runs](Self::run).
    ///
    /// # Errors
    /// The durations do not relate as they must, or the identity is empty.
    pub fn new(config: LeaderElectionConfig) -> Result<Self, InvalidConfig> {
        let timing = config.timing()?;
        let seed = config.seed;
        let candidate = Candidate {
            identity: config.identity.clone(),
            timing,
            labels: config.labels,
            seed: seed.unwrap_or_else(|| config.lock.ambient().number()),
        };
        let machine = Machine::new(candidate, driver::instant());
        let publisher = LeaderPublisher::new(config.lock.describe(), config.identity, timing);
        Ok(Self {
            machine: Arc::new(Mutex::new(machine)),
            lock: OpaqueLock(config.lock),
            publisher: Arc::new(publisher),
            release_on_cancel: config.release_on_cancel,
        })
    }

    /// Returns a view of who leads, for use before, during and after runs.
    pub fn watch(&self) -> LeaderWatch {
        self.publisher.watch()
    }

    /// Waits until this process is the leader, then runs `work`, and renews the lease until the
    /// work has ended. Returns what the work returned; none if `token` was cancelled first.
    ///
    /// When `token` is cancelled, [`Term::token`] is cancelled, too, and the work should end. The
    /// lease is renewed until it has, and then given up (unless
    /// [`release_on_cancel`](LeaderElectionConfig::release_on_cancel) is false), which takes at
    /// most the renew deadline. Work that ends by itself ends the run in the same way.
    ///
    /// Renewals run in a task of their own, which ends with this future; so work that does not
    /// yield for a while does not delay them.
    ///
    /// After an error it can be called again: this process is then a candidate like any other.
    ///
    /// # Errors
    /// The term ended before the work did. The work is not polled after the end of the term, and is
    /// dropped.
    ///
    /// # Cancel safety
    /// Dropping the future drops the work and ends the term. The lease is not given up then: others
    /// wait for its end.
    pub async fn run<F, W>(
        &mut self,
        token: CancellationToken,
        work: F,
    ) -> Result<Option<W::Output>, LeaderElectionError>
    where
        F: FnOnce(Term) -> W,
        W: Future,
    {
        let stop = CancellationToken::new();
        let mut watch = self.watch();
        let run = self.machine.lock().restart(driver::instant());
        self.publisher.open(run);
        let end_term = EndTerm {
            publisher: &self.publisher,
            run,
        };
        let mut driver = self.start(run, &stop);
        let began = tokio::select! {
            biased;
            () = token.cancelled() => None,
            ended = self.ended(&mut driver) => return ended.map(|()| None),
            term = watch.leading() => term,
        };
        let output = match began {
            None => None,
            Some(term) => Some(self.lead(&token, term, &mut driver, work).await?),
        };
        drop(end_term);
        stop.cancel();
        match self.ended(&mut driver).await {
            // A term that ended after the work is not lost.
            Ok(()) | Err(LeaderElectionError::Lost { .. }) => Ok(output),
            Err(error) => Err(error),
        }
    }

    fn start(&self, run: u64, stop: &CancellationToken) -> JoinSet<Result<(), LostReason>> {
        let driver = Driver {
            machine: Arc::clone(&self.machine),
            lock: Arc::clone(&self.lock.0),
            ambient: self.lock.0.ambient(),
            publisher: Arc::clone(&self.publisher),
            run,
            stop: stop.clone(),
            release: self.release_on_cancel,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(driver.run());
        tasks
    }

    async fn lead<F, W>(
        &self,
        token: &CancellationToken,
        term: Term,
        driver: &mut JoinSet<Result<(), LostReason>>,
        work: F,
    ) -> Result<W::Output, LeaderElectionError>
    where
        F: FnOnce(Term) -> W,
        W: Future,
    {
        // Boxed once, so that the future of a run is small whatever the work is.
        let mut work = Box::pin(term.run(work(term.clone())));
        let mut is_stopping = false;
        let ended = loop {
            tokio::select! {
                biased;
                ended = self.ended(driver) => ended?,
                ended = &mut work => break ended,
                () = token.cancelled(), if !is_stopping => {
                    term.stop_work();
                    is_stopping = true;
                }
            }
        };
        if let Ok(output) = ended {
            return Ok(output);
        }
        self.ended(driver).await?; // it sees the same on the same clock, and says why
        let renew_deadline = self.publisher.timing().renew_deadline;
        Err(self.lost(LostReason::DeadlineExceeded {
            renew_deadline,
            problem: None,
        }))
    }

    /// Waits for the end of the driver.
    async fn ended(
        &self,
        driver: &mut JoinSet<Result<(), LostReason>>,
    ) -> Result<(), LeaderElectionError> {
        match driver.join_next().await {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(reason))) => Err(self.lost(reason)),
            Some(Err(_)) => Err(LeaderElectionError::Panicked {
                lock: self.publisher.lock().clone(),
            }),
        }
    }

    fn lost(&self, reason: LostReason) -> LeaderElectionError {
        LeaderElectionError::Lost {
            lock: self.publisher.lock().clone(),
            reason,
        }
    }
}
