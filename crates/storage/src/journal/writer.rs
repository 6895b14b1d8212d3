//! The writer: evaluates requests, makes the results durable, publishes them, and responds.
//!
//! It blocks, and uses neither a runtime nor a clock.

use super::Journal;
use super::queue::{Refusal, Request, Responder};
use crate::KvMaintenance;
use crate::batch::Batch;
use crate::memory::{Config, DataLimit, Effects, MemoryKv, State};
use crate::{CompactError, Fault, FaultKind, Revision};
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Maximum number of events in a batch; only the expiry of a lease with many keys reaches it.
const BATCH_EVENTS_MAX: usize = 4096;
/// Maximum number of events that leave history in one transaction of the journal: a write waits for
/// that. Each may be on a page of its own.
const COMPACTED_AT_ONCE_MAX: usize = 256;

pub(super) struct Writer {
    /// Ahead of the published state by the current batch.
    state: State,
    effects: Effects,
    /// The responses to send once the batch is durable.
    replies: Vec<Reply>,
    /// The requested compactions that are not finished.
    compactions: VecDeque<Compaction>,
    /// Whether there is history that is too old.
    has_old: bool,
    /// The time of the last tick.
    now: Duration,
    leases: Arc<AtomicUsize>,
    /// Size of the journal in bytes; zero if unknown.
    size: Arc<AtomicU64>,
    is_quick: Arc<AtomicBool>,
    /// `None` once it is closed.
    journal: Option<Box<dyn Journal>>,
    config: Config,
    /// The batch of a failed commit, which may or may not be durable.
    uncertain: Option<Batch>,
    /// Whether the journal has stored something since the last check.
    stored: bool,
}

/// A compaction that is made in steps, between writes.
struct Compaction {
    revision: Revision,
    /// Whether a step was made.
    begun: bool,
    answer: Responder<(), CompactError>,
}

type Reply = Box<dyn FnOnce(Result<(), Fault>) + Send>;

impl Writer {
    pub(super) fn new(state: State, config: Config, journal: Box<dyn Journal>) -> Self {
        let effects = Effects {
            batch: Some(Box::default()),
            ..Effects::default()
        };
        Self {
            leases: Arc::new(AtomicUsize::new(state.leases.len())),
            size: Arc::new(AtomicU64::new(journal.size_bytes().unwrap_or_default())),
            is_quick: Arc::new(AtomicBool::new(journal.is_quick())),
            state,
            effects,
            replies: Vec::new(),
            compactions: VecDeque::new(),
            has_old: false,
            now: Duration::ZERO,
            journal: Some(journal),
            config,
            uncertain: None,
            stored: false,
        }
    }

    /// Number of leases, kept up to date.
    pub(super) fn leases(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.leases)
    }

    /// Requests refused for lack of space.
    pub(super) fn limit(&self) -> Arc<DataLimit> {
        Arc::clone(&self.state.limit)
    }

    /// Size of the journal in bytes, kept up to date; zero if unknown.
    pub(super) fn size(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.size)
    }

    /// Whether the journal stores the next small batch without waiting, kept up to date.
    pub(super) fn is_quick(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_quick)
    }

    /// Processes requests in order and responds to all of them. True if the journal has stored
    /// something.
    ///
    /// # Errors
    /// The journal failed; no further writes are possible. Some requests remain to be
    /// [refused](Self::refuse).
    pub(super) fn serve(&mut self, requests: Vec<Request>, to: &MemoryKv) -> Result<bool, Fault> {
        for request in requests {
            self.evaluate(request, to)?;
        }
        self.compact_some();
        self.commit(to)?;
        Ok(mem::take(&mut self.stored))
    }

    /// Reports whether there is work without a request: history that is being discarded.
    pub(super) fn has_more(&self) -> bool {
        self.has_old || !self.compactions.is_empty()
    }

    /// Discards a part of the history that is to be discarded, so that no write waits for all of
    /// it.
    fn compact_some(&mut self) {
        let Some(mut next) = self.compactions.pop_front() else {
            if self.has_old {
                self.has_old = !self
                    .state
                    .age(self.now, COMPACTED_AT_ONCE_MAX, &mut self.effects);
            }
            return;
        };
        match self
            .state
            .compact(next.revision, COMPACTED_AT_ONCE_MAX, &mut self.effects)
        {
            Ok(false) => {
                next.begun = true;
                self.compactions.push_front(next);
            }
            Ok(true) => self.reply(next.answer, Ok(())),
            // Another compaction, or a full history, has overtaken this one.
            Err(CompactError::Compacted { .. }) if next.begun => self.reply(next.answer, Ok(())),
            Err(error) => self.reply(next.answer, Err(error)),
        }
    }

    /// Responds with the journal's failure.
    pub(super) fn refuse(&mut self, fault: &Fault) {
        for compaction in self.compactions.drain(..) {
            // The caller may have stopped waiting.
            drop(
                compaction
                    .answer
                    .send(Err(CompactError::from(fault.clone()))),
            );
        }
        self.has_old = false;
        for reply in self.replies.drain(..) {
            reply(Err(fault.clone()));
        }
    }

    /// Reports whether the journal may work again after this fault.
    pub(super) fn may_recover(&self, fault: &Fault) -> bool {
        let may_pass = matches!(
            fault.kind(),
            FaultKind::NoSpace | FaultKind::PermissionDenied
        );
        may_pass && self.journal.as_ref().is_some_and(|it| it.reopens())
    }

    /// Releases the journal, and drops the requests that it has not finished.
    pub(super) fn close(&mut self) {
        self.state.close(&mut self.effects);
        self.replies.clear();
        self.compactions.clear();
        self.has_old = false;
        self.journal = None;
    }

    fn evaluate(&mut self, request: Request, to: &MemoryKv) -> Result<(), Fault> {
        match request {
            Request::Put(put, answer) => {
                let result = self.state.put(put, &mut self.effects);
                self.reply(answer, result);
            }
            Request::Delete(delete, answer) => {
                let result = self.state.delete(&delete, &mut self.effects);
                self.reply(answer, result);
            }
            Request::Transact(transaction, answer) => {
                let result = self.state.transact(&transaction, &mut self.effects);
                self.reply(answer, result);
            }
            Request::Revoke { now, lease, answer } => {
                let result = self.state.revoke(lease, &mut self.effects);
                self.expire(now, to)?;
                self.reply(answer, result);
            }
            Request::Grant { .. }
            | Request::GrantAs { .. }
            | Request::KeepAlive { .. }
            | Request::Lease { .. }
            | Request::Leases { .. } => self.evaluate_lease(request),
            Request::Compact { revision, answer } => {
                self.compactions.push_back(Compaction {
                    revision,
                    begun: false,
                    answer,
                });
            }
            Request::Tick { now } => {
                self.expire(now, to)?;
                self.has_old = !self
                    .state
                    .age(now, COMPACTED_AT_ONCE_MAX, &mut self.effects);
                self.now = now;
            }
            Request::Reopen { now } => self.reopen(now, to)?,
            Request::Close { answer } => {
                self.commit(to)?;
                self.close();
                to.close();
                // The caller that closes may have stopped waiting.
                answer.send(()).ok();
            }
        }
        Ok(())
    }

    fn evaluate_lease(&mut self, request: Request) {
        match request {
            Request::Grant { now, ttl, answer } => {
                let result = self.state.grant(now, ttl, &mut self.effects);
                self.reply(answer, result);
            }
            Request::GrantAs {
                now,
                lease,
                ttl,
                answer,
            } => {
                let result = self.state.grant_as(lease, (now, ttl), &mut self.effects);
                self.reply(answer, result);
            }
            Request::KeepAlive { now, lease, answer } => {
                let result = self.state.keep_alive(now, lease);
                self.reply(answer, result);
            }
            Request::Lease { now, lease, answer } => {
                let result = self.state.lease(now, lease);
                self.reply(answer, result);
            }
            Request::Leases { answer } => {
                let result = self.state.lease_ids();
                self.reply(answer, result);
            }
            _ => debug_assert!(false, "the caller passes requests of leases only"),
        }
    }

    fn expire(&mut self, now: Duration, to: &MemoryKv) -> Result<(), Fault> {
        while self.state.expire(now, &mut self.effects) {
            let batch = self.effects.batch.as_ref();
            if batch.is_some_and(|batch| batch.written.len() >= BATCH_EVENTS_MAX) {
                self.commit(to)?;
            }
        }
        Ok(())
    }

    /// Even a response that nothing was done reflects earlier writes of the batch, so it waits for
    /// the batch.
    fn reply<T: Send + 'static, E: Refusal + Send + 'static>(
        &mut self,
        to: Responder<T, E>,
        result: Result<T, E>,
    ) {
        self.replies.push(Box::new(move |committed| {
            // The caller may have stopped waiting.
            drop(to.send(match committed {
                Ok(()) => result,
                Err(fault) => Err(E::from(fault)),
            }));
        }));
    }

    fn commit(&mut self, to: &MemoryKv) -> Result<(), Fault> {
        let batch = self.effects.batch.as_deref_mut();
        let batch: Batch = batch.map(mem::take).unwrap_or_default();
        self.effects.dropped.clear();
        to.retire(mem::take(&mut self.effects.retired));
        if !batch.is_empty() {
            if let Some(journal) = &mut self.journal {
                if let Err(fault) = journal.commit(&batch) {
                    self.uncertain = Some(batch);
                    return Err(fault);
                }
                let size = journal.size_bytes().unwrap_or_default();
                self.size.store(size, Ordering::Relaxed);
                self.is_quick.store(journal.is_quick(), Ordering::Relaxed);
            }
            to.apply(&batch);
            self.stored = true;
        }
        self.leases
            .store(self.state.leases.len(), Ordering::Relaxed);
        for reply in self.replies.drain(..) {
            reply(Ok(()));
        }
        Ok(())
    }
}

/// The restored state must be the published one, with or without the last batch.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the journal is at revision {found}, but {published} was acknowledged")]
struct OtherHistory {
    found: Revision,
    published: Revision,
}

impl Writer {
    /// Reopens the journal and continues from what is durable. The failed batch is published if it
    /// is durable.
    fn reopen(&mut self, now: Duration, to: &MemoryKv) -> Result<(), Fault> {
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        let replayed = journal.reopen()?;
        let batch = self.uncertain.take().unwrap_or_default();
        let found = (replayed.revision(), replayed.compacted());
        let published = (to.stats().revision, to.compacted());
        let last = batch.written.last().map(|it| it.revision);
        let with_batch = (
            last.unwrap_or(published.0),
            batch.compacted.unwrap_or(published.1),
        );
        if found == with_batch {
            to.apply(&batch);
        } else if found != published {
            let (found, published) = (found.0, published.0);
            let error = OtherHistory { found, published };
            return Err(Fault::new(FaultKind::Corrupt, error));
        }
        // The published state stays shared; only the restored leases are new.
        let versions = to.versions();
        let leases = replayed.leases.restored(&versions, now);
        let limit = Arc::clone(&self.state.limit);
        self.state = State::restored(versions, leases, &self.config);
        self.state.limit = limit;
        self.leases
            .store(self.state.leases.len(), Ordering::Relaxed);
        Ok(())
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("journal", &self.journal)
            .finish_non_exhaustive()
    }
}
