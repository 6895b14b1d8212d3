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
    /// Lets go of the journal.
    Close {
        answer: oneshot::Sender<()>,
    },
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
}

impl Queue {
    pub(super) fn push(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    pub(super) fn has_tick(&self) -> bool {
        let mut newest = self.waiting.iter().rev();
        newest.any(|request| matches!(request, Request::Tick { .. }))
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
