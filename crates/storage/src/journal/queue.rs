//! The requests that wait for the writer. Knows how many it hands out at once, not what they do.

use crate::{CompactError, DeleteRequest, Fault, LeaseError, LeaseId, PutRequest, Revision};
use crate::{ReadError, WatchError, WriteError, WriteOutcome};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::oneshot;

/// Requests evaluated for one batch. What is published at once holds up readers for as long.
const BATCH_REQUESTS_MAX: usize = 1024;
/// Bytes of keys and values of those requests, except that one always fits.
const BATCH_BYTES_MAX: usize = 16 << 20;

/// Where an answer goes.
pub(super) type Answerer<T, E> = oneshot::Sender<Result<T, E>>;

#[derive(Debug)]
pub(super) enum Request {
    Put(PutRequest, Answerer<WriteOutcome, WriteError>),
    Delete(DeleteRequest, Answerer<WriteOutcome, WriteError>),
    Grant {
        now: Duration,
        ttl: Duration,
        answer: Answerer<LeaseId, LeaseError>,
    },
    Revoke {
        now: Duration,
        lease: LeaseId,
        answer: Answerer<(), LeaseError>,
    },
    Compact {
        revision: Revision,
        answer: Answerer<(), CompactError>,
    },
    /// Ends leases and gives up history, as time demands.
    Tick {
        now: Duration,
    },
    /// Tries a journal again that could not write.
    Reopen {
        now: Duration,
    },
    /// Lets go of the journal.
    Close {
        answer: oneshot::Sender<()>,
    },
}

/// How long after a commit that failed the journal is tried again; each time in vain, twice as
/// long.
const REOPEN_AFTER_MIN: Duration = Duration::from_secs(1);
/// The longest pause: each try may cost as much as opening the store.
const REOPEN_AFTER_MAX: Duration = Duration::from_secs(1 * 60);

/// Why nothing can be written at the moment.
#[derive(Clone, Debug)]
pub(super) struct Stall {
    pub(super) fault: Fault,
    /// When to try again; `None` while that is being done.
    pub(super) retry_at: Option<Duration>,
}

impl Request {
    fn weight(&self) -> usize {
        match self {
            Self::Put(put, _) => put.key.len() + put.value.len(),
            Self::Delete(delete, _) => delete.key.len(),
            _ => 0,
        }
    }
}

/// Requests in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Request>,
    /// Whether somebody works, and will look here again before they stop.
    pub(super) working: bool,
    /// Whether no more requests are taken, but for one to close.
    pub(super) closed: bool,
    /// Why the engine closed itself.
    pub(super) failed: Option<Fault>,
    /// Why no request is taken now.
    pub(super) stalled: Option<Stall>,
    /// The last pause before the journal was tried again; zero if it has worked since.
    pause: Duration,
}

impl Queue {
    pub(super) fn push(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    pub(super) fn has_tick(&self) -> bool {
        let mut newest = self.waiting.iter().rev();
        newest.any(|request| matches!(request, Request::Tick { .. }))
    }

    /// Takes no request but one to close or to reopen, and forgets who waits.
    pub(super) fn stall(&mut self, fault: Fault, now: Duration) {
        let longer = self.pause.saturating_mul(2);
        self.pause = longer.clamp(REOPEN_AFTER_MIN, REOPEN_AFTER_MAX);
        self.stalled = Some(Stall {
            fault,
            retry_at: Some(now.saturating_add(self.pause)),
        });
        self.clear();
    }

    /// Notes that the journal works.
    pub(super) fn works(&mut self) {
        self.pause = Duration::ZERO;
    }

    /// Whether it is time to try the journal again; true once.
    pub(super) fn may_reopen(&mut self, now: Duration) -> bool {
        let Some(stall) = &mut self.stalled else {
            return false;
        };
        let due = stall.retry_at.is_some_and(|at| at <= now);
        if due {
            stall.retry_at = None;
        }
        due
    }

    /// What the next batch is made of; empty if nobody waits.
    pub(super) fn take(&mut self) -> Vec<Request> {
        let (mut count, mut bytes) = (0, 0);
        for request in self.waiting.iter().take(BATCH_REQUESTS_MAX) {
            bytes += request.weight();
            if count > 0 && bytes > BATCH_BYTES_MAX {
                break;
            }
            count += 1;
        }
        self.waiting.drain(..count).collect()
    }

    /// Forgets who waits; they see that they get no answer.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// An error that can say that the store is closed, and why.
pub(super) trait Refusal: From<Fault> {
    fn closed() -> Self;
}

macro_rules! refusals {
    ($($error:ident)*) => {$(
        impl Refusal for $error {
            fn closed() -> Self {
                Self::Closed
            }
        }
    )*};
}

refusals! { CompactError LeaseError ReadError WatchError WriteError }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expected;

    fn put(bytes: usize) -> Request {
        let request = PutRequest::new("k", vec![0; bytes], Expected::Any);
        Request::Put(request, oneshot::channel().0)
    }

    #[test]
    fn a_journal_that_fails_is_tried_again_ever_later_until_it_works() {
        let mut queue = Queue::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            queue.stall(
                Fault::new(crate::FaultKind::NoSpace, "no room"),
                Duration::ZERO,
            );
            let pause = (0..=100).find(|it| queue.may_reopen(Duration::from_secs(*it)));
            pauses.push(pause.expect("there is an end"));
            assert!(!queue.may_reopen(Duration::MAX), "once");
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        queue.works();
        queue.stall(
            Fault::new(crate::FaultKind::NoSpace, "no room"),
            Duration::ZERO,
        );
        assert!(queue.may_reopen(Duration::from_secs(1)));
    }

    #[test]
    fn batch_is_bounded_by_requests_and_bytes_but_one_always_fits() {
        let mut queue = Queue::default();
        queue.push(put(BATCH_BYTES_MAX * 2));
        queue.push(put(BATCH_BYTES_MAX / 2));
        queue.push(put(BATCH_BYTES_MAX / 4));
        queue.push(put(BATCH_BYTES_MAX / 2));
        for _ in 0..=BATCH_REQUESTS_MAX {
            queue.push(put(0));
        }
        let sizes: Vec<_> = (0..5).map(|_| queue.take().len()).collect();
        assert_eq!(sizes, [1, 2, BATCH_REQUESTS_MAX, 2, 0]);
    }
}
