//! The loop of one worker: takes a key, reconciles it, and reports the result to the queue.

use crate::blocked::{BLOCKED, longest_step};
use crate::own_writes::PendingKeys;
use crate::stats::Shared;
use crate::{Action, Error, Key, Reconciler};
use futures_util::FutureExt as _;
use kubist_apimachinery::{Retry, with_causes};
use kubist_informers::CoopBudget;
use kubist_workqueue::Work;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

pub(crate) struct Worker<Q, R> {
    pub(crate) shared: Arc<Shared<Q>>,
    pub(crate) reconciler: Arc<R>,
    pub(crate) pending: Arc<PendingKeys<Q>>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) token: CancellationToken,
}

/// How one reconcile ended.
enum Outcome {
    Answer(Result<Action, Error>),
    /// With the panic message.
    Panicked(String),
    TimedOut,
}

/// Counts a reconcile as abandoned unless it completes.
struct Running<'a, Q> {
    shared: &'a Shared<Q>,
    over: bool,
}

impl<Q> Drop for Running<'_, Q> {
    fn drop(&mut self) {
        let mut counts = self.shared.counts.lock();
        counts.active -= 1;
        counts.abandoned += u64::from(!self.over);
    }
}

impl<Q: Key, R: Reconciler<Q>> Worker<Q, R> {
    /// Works until the stop; the current reconcile is finished first.
    pub(crate) async fn run(self) {
        // The queue's own budget counts items, not their time.
        let mut budget = CoopBudget::start();
        loop {
            budget.yield_if_due().await;
            let next = async {
                tokio::select! {
                    biased;
                    () = self.token.cancelled() => None,
                    work = self.next() => work,
                }
            };
            let Some(work) = budget.track(next).await else {
                return;
            };
            if let Some(work) = self.pending.admit(&self.shared, work) {
                self.reconcile(work).await;
            }
        }
    }

    /// Takes the next key, unless the controller is paused.
    async fn next(&self) -> Option<Work<Q>> {
        if self.shared.is_paused() {
            self.shared.resumed().await;
        }
        self.shared.queue().next().await
    }

    async fn reconcile(&self, work: Work<Q>) {
        let (begin, queued) = self.shared.begin(&work);
        let mut running = Running {
            shared: &self.shared,
            over: false,
        };
        // The reconciler is responsible for its state across a panic; it cannot reach the queue's
        // item.
        let (controller, key) = (&self.shared.name, work.item());
        let span = tracing::info_span!(
            "reconcile",
            %controller,
            %key,
            attempt = work.attempt(),
            queued = queued.map(tracing::field::debug),
            duration = tracing::field::Empty,
        );
        let run = async { self.reconciler.reconcile(work.item().clone()).await };
        let run = run.instrument(span.clone());
        let run = AssertUnwindSafe(run).catch_unwind();
        let timed = async {
            match self.timeout {
                None => Ok(run.await),
                Some(limit) => timeout(limit, run).await,
            }
        };
        let (outcome, longest) = longest_step(timed).await;
        let outcome = match outcome {
            Ok(Ok(answer)) => Outcome::Answer(answer),
            Ok(Err(panic)) => Outcome::Panicked(text_of(&*panic)),
            Err(_) => Outcome::TimedOut,
        };
        running.over = true;
        let took = begin.elapsed();
        span.record("duration", tracing::field::debug(took));
        self.count(&outcome, took);
        span.in_scope(|| {
            if longest >= BLOCKED {
                self.tell_blocked(&work, longest);
            }
            self.finish(work, outcome);
        });
    }

    /// Tells once that reconciles block, whichever does so first.
    fn tell_blocked(&self, key: &Q, longest: Duration) {
        if self.shared.told_blocked.swap(true, Ordering::Relaxed) {
            return;
        }
        tracing::warn!(
            controller = %self.shared.name, %key,
            "the reconcile did not give way for {longest:?}, and all that shares its thread stood \
             still: call what blocks with tokio::task::spawn_blocking, and await what can be \
             awaited"
        );
    }

    fn count(&self, outcome: &Outcome, took: Duration) {
        let mut counts = self.shared.counts.lock();
        counts.duration.record(took);
        let retry = match outcome {
            Outcome::Answer(Ok(action)) => {
                counts.requeues += u64::from(action.wait().is_some());
                return;
            }
            Outcome::Answer(Err(error)) => error.retry(),
            Outcome::Panicked(_) => {
                counts.panics += 1;
                Retry::Backoff
            }
            Outcome::TimedOut => {
                counts.timeouts += 1;
                Retry::Backoff
            }
        };
        counts.errors += 1;
        if retry == Retry::Never {
            counts.terminal_errors += 1;
        } else {
            counts.retries += 1;
        }
    }

    fn finish(&self, work: Work<Q>, outcome: Outcome) {
        let (controller, key, attempt) = (&self.shared.name, work.item().clone(), work.attempt());
        match outcome {
            Outcome::Answer(Ok(action)) => match action.wait() {
                Some(wait) => work.requeue_after(wait),
                None => work.succeed(),
            },
            Outcome::Answer(Err(error)) => {
                match error.retry() {
                    Retry::Never => work.succeed(),
                    Retry::After(wait) => work.fail_retry_after(wait),
                    Retry::Backoff | Retry::Relist => work.fail(),
                }
                let (cause, advice) = (with_causes(&error), error.advice());
                tracing::warn!(%controller, %key, attempt, error = %format_args!("{cause}{advice}"), "reconcile failed");
            }
            Outcome::Panicked(panic) => {
                work.fail();
                tracing::error!(%controller, %key, attempt, %panic, "reconcile panicked");
            }
            Outcome::TimedOut => {
                work.fail();
                tracing::warn!(%controller, %key, attempt, "reconcile took too long");
            }
        }
    }
}

/// Returns the panic message; `panic!` creates a text.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic that says nothing".to_owned())
}
