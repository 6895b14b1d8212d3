//! `Term`: the time during which a leader leads, as a value that the leader's work can ask.

use kubist_apimachinery::Str;
use parking_lot::Mutex;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The time during which this process leads. Clones are the same term.
///
/// A term ends when its lease was not renewed within the renew deadline, counted on the monotonic
/// clock from the start of the last successful renewal: before another candidate may take the
/// lease. The clock is compared whenever the term is asked, so that a process that was stopped for
/// a while sees at once that its term is over. A term that was over never begins again; the next
/// one is another value with a higher [number](Self::transitions).
///
/// Between asking and acting there is always time: a request that was sent within the term may be
/// applied after it. Writes with a resource version are safe from that, or with a version check
/// against [`Self::transitions`], which is a fencing token, on the side that is written to.
///
/// The monotonic clock of most systems stands still while the machine is suspended. A suspended
/// machine may therefore take its term for held until its clock reaches the deadline.
#[derive(Clone)]
pub struct Term {
    shared: Arc<Shared>,
}

struct Shared {
    identity: Str,
    transitions: i32,
    resource_version: Str,
    until: Mutex<Until>,
    /// Cancelled when the work should end.
    token: CancellationToken,
    /// Cancelled when the term is over.
    over: CancellationToken,
}

#[derive(Debug)]
struct Until {
    at: Instant,
    is_over: bool,
}

/// The term ended before the future did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the term as leader has ended")]
#[non_exhaustive]
pub struct TermEnded;

impl Term {
    pub(crate) fn new(identity: Str, begun: &crate::machine::Begun) -> Self {
        Self {
            shared: Arc::new(Shared {
                identity,
                transitions: begun.transitions,
                resource_version: begun.resource_version.clone(),
                until: Mutex::new(Until {
                    at: Instant::from_std(begun.until),
                    is_over: false,
                }),
                token: CancellationToken::new(),
                over: CancellationToken::new(),
            }),
        }
    }

    /// Reports whether this process leads now, by its monotonic clock.
    pub fn is_held(&self) -> bool {
        self.is_held_at(Instant::now())
    }

    pub(crate) fn is_held_at(&self, now: Instant) -> bool {
        let is_held = {
            let mut until = self.shared.until.lock();
            until.is_over |= now >= until.at;
            !until.is_over
        };
        if !is_held {
            self.cancel();
        }
        is_held
    }

    /// Returns a token that is cancelled when the work should end: because the term is over, or
    /// because the elector was asked to stop. In the second case the term is
    /// [held](Self::is_held) until the work has ended, so that the work can clean up.
    pub fn token(&self) -> CancellationToken {
        self.shared.token.clone()
    }

    /// Returns the number of the term: the `leaseTransitions` of the record. A later term has a
    /// higher one, whoever holds it, as long as the lease is not deleted.
    pub fn transitions(&self) -> i32 {
        self.shared.transitions
    }

    /// Returns the resource version of the lease at the beginning of the term. It is higher for
    /// later terms even if the lease was deleted in between.
    pub fn resource_version(&self) -> &Str {
        &self.shared.resource_version
    }

    /// Returns the identity of the leader, which is this process.
    pub fn identity(&self) -> &Str {
        &self.shared.identity
    }

    /// Returns when the term ends unless it is renewed.
    pub fn until(&self) -> Instant {
        self.shared.until.lock().at
    }

    /// Completes when the term is over. It needs no running elector.
    ///
    /// # Cancel safety
    /// It can be dropped and called again.
    pub async fn ended(&self) {
        while self.is_held() {
            tokio::select! {
                biased;
                () = self.shared.over.cancelled() => return,
                () = sleep_until(self.until()) => {} // it may have been renewed
            }
        }
    }

    /// Runs a future as long as the term is held.
    ///
    /// ```
    /// # use kubist_api::coordination::v1::Lease;
    /// # use kubist_client::{Api, ApiError};
    /// # use kubist_leader_election::{Term, TermEnded};
    /// # async fn example(term: Term, leases: Api<Lease>) -> Result<(), TermEnded> {
    /// match term.run(leases.get("mine")).await? {
    ///     Ok(lease) => println!("{:?}", lease.spec.holder_identity),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The term ended first. The future is not polled after that, and is dropped.
    ///
    /// # Cancel safety
    /// Dropping it drops the future.
    pub async fn run<F: Future>(&self, future: F) -> Result<F::Output, TermEnded> {
        let mut future = pin!(future);
        let mut ended = pin!(self.ended());
        poll_fn(|cx| {
            if !self.is_held() || ended.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(TermEnded));
            }
            future.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// Ends the term for good.
    pub(crate) fn end(&self) {
        self.shared.until.lock().is_over = true;
        self.cancel();
    }

    /// Asks the work to end.
    pub(crate) fn stop_work(&self) {
        self.shared.token.cancel();
    }

    /// Prolongs the term, unless it is over.
    pub(crate) fn extend(&self, now: Instant, at: Instant) {
        if self.is_held_at(now) {
            let mut until = self.shared.until.lock();
            until.at = until.at.max(at);
        }
    }

    /// Returns for how long the lease has not been renewed.
    pub(crate) fn unrenewed_for(&self, now: Instant, renew_deadline: Duration) -> Duration {
        (now + renew_deadline).saturating_duration_since(self.until())
    }

    fn cancel(&self) {
        self.shared.over.cancel();
        self.shared.token.cancel();
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Term")
            .field("identity", &self.shared.identity)
            .field("transitions", &self.shared.transitions)
            .field("until", &*self.shared.until.lock())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Begun;
    use std::future::pending;
    use tokio::time::{advance, sleep, timeout};

    const DEADLINE: Duration = Duration::from_secs(10);

    fn term() -> Term {
        let begun = Begun {
            transitions: 3,
            resource_version: "17".into(),
            until: (Instant::now() + DEADLINE).into_std(),
        };
        Term::new("me".into(), &begun)
    }

    /// Contract LEAD-2.
    #[tokio::test(start_paused = true)]
    async fn a_process_that_slept_sees_at_once_that_its_term_is_over() {
        let term = term();
        assert!(term.is_held());
        advance(DEADLINE).await; // nothing else has run
        assert!(!term.is_held());
        assert!(term.token().is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_that_is_over_cannot_be_prolonged() {
        let term = term();
        advance(DEADLINE).await;
        term.extend(Instant::now(), Instant::now() + DEADLINE);
        assert!(!term.is_held());
        assert_eq!(term.run(async {}).await, Err(TermEnded));
    }

    #[tokio::test(start_paused = true)]
    async fn work_ends_with_the_term_and_not_before() {
        let term = term();
        let begin = Instant::now();
        let prolong = async {
            sleep(Duration::from_secs(9)).await;
            term.extend(Instant::now(), Instant::now() + DEADLINE);
            pending::<()>().await;
        };
        let run = async {
            tokio::select! {
                ended = term.run(pending::<()>()) => ended,
                () = prolong => Ok(()),
            }
        };
        assert_eq!(run.await, Err(TermEnded));
        assert_eq!(begin.elapsed().as_secs(), 19);
    }

    /// Contract LEAD-6.
    #[tokio::test(start_paused = true)]
    async fn work_is_not_polled_after_the_term() {
        let term = term();
        let mut polls = 0;
        let work = poll_fn(|_| {
            polls += 1;
            Poll::<()>::Pending
        });
        let mut run = Box::pin(term.run(work));
        assert!(timeout(Duration::ZERO, &mut run).await.is_err());
        term.end();
        assert_eq!(run.await, Err(TermEnded));
        assert_eq!(polls, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_is_asked_to_stop_still_has_its_term() {
        let term = term();
        term.stop_work();
        assert!(term.token().is_cancelled());
        assert_eq!(term.run(async { 7 }).await, Ok(7));
    }
}
