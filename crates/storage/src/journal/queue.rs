//! The queue of the writer's requests, and its batches.

use crate::{CompactError, DeleteRequest, Fault, LeaseError, LeaseId, PutRequest, Revision};
use crate::{LeaseStatus, Operation, Transaction, TransactionOutcome};
use crate::{ReadError, WatchError, WriteError, WriteOutcome};
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of requests in a batch. Publishing a batch blocks readers for as long.
const BATCH_REQUESTS_MAX: usize = 1024;
/// Maximum bytes of keys and values in a batch; a single request always fits.
const BATCH_BYTES_MAX: usize = 16 << 20;

/// Maximum requests and bytes that a caller stores itself.
const QUICK_REQUESTS_MAX: usize = 64;
const QUICK_BYTES_MAX: usize = 64 << 10;

/// Where a response is sent.
pub(super) type Responder<T, E> = oneshot::Sender<Result<T, E>>;

#[derive(Debug)]
pub(super) enum Request {
    Put(PutRequest, Responder<WriteOutcome, WriteError>),
    Delete(DeleteRequest, Responder<WriteOutcome, WriteError>),
    Grant {
        now: Duration,
        ttl: Duration,
        answer: Responder<LeaseId, LeaseError>,
    },
    Revoke {
        now: Duration,
        lease: LeaseId,
        answer: Responder<(), LeaseError>,
    },
    Transact(Transaction, Responder<TransactionOutcome, WriteError>),
    GrantAs {
        now: Duration,
        lease: LeaseId,
        ttl: Duration,
        answer: Responder<(), LeaseError>,
    },
    KeepAlive {
        now: Duration,
        lease: LeaseId,
        answer: Responder<Duration, LeaseError>,
    },
    Lease {
        now: Duration,
        lease: LeaseId,
        answer: Responder<LeaseStatus, LeaseError>,
    },
    Leases {
        answer: Responder<Vec<LeaseId>, LeaseError>,
    },
    Compact {
        revision: Revision,
        answer: Responder<(), CompactError>,
    },
    /// Expires leases and discards old history.
    Tick {
        now: Duration,
    },
    /// Retries a failed journal.
    Reopen {
        now: Duration,
    },
    /// Releases the journal.
    Close {
        answer: oneshot::Sender<()>,
    },
}

/// Pause after a failed commit before the journal is retried; it doubles with each failure.
const REOPEN_AFTER_MIN: Duration = Duration::from_secs(1);
/// The longest pause: each attempt may cost as much as opening the store.
const REOPEN_AFTER_MAX: Duration = Duration::from_secs(60);

/// Why writes are refused.
#[derive(Clone, Debug)]
pub(super) struct Stall {
    pub(super) fault: Fault,
    /// When to retry; `None` while an attempt is running.
    pub(super) retry_at: Option<Duration>,
}

impl Request {
    fn weight(&self) -> usize {
        match self {
            Self::Put(put, _) => put.key.len() + put.value.len(),
            Self::Delete(delete, _) => delete.key.len(),
            Self::Transact(transaction, _) => weight_of(transaction),
            _ => 0,
        }
    }

    /// Reports whether its cost is bounded by its size.
    fn is_bounded(&self) -> bool {
        match self {
            Self::Put(..)
            | Self::Delete(..)
            | Self::Transact(..)
            | Self::Grant { .. }
            | Self::GrantAs { .. }
            | Self::KeepAlive { .. }
            | Self::Lease { .. } => true,
            Self::Revoke { .. }
            | Self::Leases { .. }
            | Self::Compact { .. }
            | Self::Tick { .. }
            | Self::Reopen { .. }
            | Self::Close { .. } => false,
        }
    }
}

/// Returns the bytes that the larger branch writes.
fn weight_of(transaction: &Transaction) -> usize {
    let weight = |operation: &Operation| match operation {
        Operation::Put { key, value, .. } => key.len() + value.as_ref().map_or(0, Bytes::len),
        Operation::Read | Operation::Delete(_) => 0,
    };
    let branches = [&transaction.success, &transaction.failure];
    let sums = branches.map(|branch| branch.iter().map(weight).sum::<usize>());
    sums[0].max(sums[1])
}

/// Requests in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Request>,
    /// Whether a worker is running, which checks the queue again before it stops.
    pub(super) working: bool,
    /// Whether further requests are refused, except to close.
    pub(super) closed: bool,
    /// Why the engine closed itself.
    pub(super) failed: Option<Fault>,
    /// Why requests are refused.
    pub(super) stalled: Option<Stall>,
    /// The last pause before a retry; zero if the journal has worked since.
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

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Reports whether the pending requests are few and small.
    pub(super) fn is_quick(&self) -> bool {
        let bytes = self.waiting.iter().map(Request::weight);
        self.waiting.len() <= QUICK_REQUESTS_MAX
            && self.waiting.iter().all(Request::is_bounded)
            && bytes.sum::<usize>() <= QUICK_BYTES_MAX
    }

    /// Refuses requests except to close or reopen, and drops pending ones.
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

    /// Reports whether a retry is due; true once.
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

    /// Returns the next batch; empty if nothing is pending.
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

    /// Drops pending requests; their callers get no response.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// An error that can report that the store closed, and why.
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
                Fault::new(crate::FaultKind::NoSpace, "no space"),
                Duration::ZERO,
            );
            let pause = (0..=100).find(|it| queue.may_reopen(Duration::from_secs(*it)));
            pauses.push(pause.expect("there is an end"));
            assert!(!queue.may_reopen(Duration::MAX), "once");
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        queue.works();
        queue.stall(
            Fault::new(crate::FaultKind::NoSpace, "no space"),
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
