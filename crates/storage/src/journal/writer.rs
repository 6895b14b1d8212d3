//! The one who writes: decides on requests, has the outcome made durable, publishes, answers.
//!
//! Blocks, knows no runtime and takes no time from a clock.

use super::queue::{Answerer, Refusal, Request};
use super::{Batch, Journal};
use crate::Fault;
use crate::memory::{Effects, MemoryKv, State};
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Events of one batch. Only the end of a lease with many keys reaches it.
const BATCH_EVENTS_MAX: usize = 4096;

pub(super) struct Writer {
    /// Ahead of what is published, by the batch that is being made.
    state: State,
    effects: Effects,
    /// Who is told once the batch is durable.
    replies: Vec<Reply>,
    leases: Arc<AtomicUsize>,
    /// The size of the journal in bytes; zero if it cannot tell.
    size: Arc<AtomicU64>,
    /// `None` once it is closed.
    journal: Option<Box<dyn Journal>>,
}

type Reply = Box<dyn FnOnce(Result<(), Fault>) + Send>;

impl Writer {
    pub(super) fn new(state: State, journal: Box<dyn Journal>) -> Self {
        let effects = Effects {
            batch: Some(Box::default()),
            ..Effects::default()
        };
        Self {
            leases: Arc::new(AtomicUsize::new(state.leases.len())),
            size: Arc::new(AtomicU64::new(journal.size_bytes().unwrap_or_default())),
            state,
            effects,
            replies: Vec::new(),
            journal: Some(journal),
        }
    }

    /// How many leases there are, kept up to date.
    pub(super) fn leases(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.leases)
    }

    /// How large the journal is in bytes, kept up to date; zero if it cannot tell.
    pub(super) fn size(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.size)
    }

    /// Serves requests in order, and answers all of them.
    ///
    /// # Errors
    /// The journal failed; nobody may write any more. Some wait to be [refused](Self::refuse).
    pub(super) fn serve(&mut self, requests: Vec<Request>, to: &MemoryKv) -> Result<(), Fault> {
        for request in requests {
            self.evaluate(request, to)?;
        }
        self.commit(to)
    }

    /// Tells those who wait for what the journal did not do, and lets go of it.
    pub(super) fn refuse(&mut self, fault: &Fault) {
        for reply in self.replies.drain(..) {
            reply(Err(fault.clone()));
        }
        self.close();
    }

    /// Lets go of the journal, and of those who wait for what it has not finished.
    pub(super) fn close(&mut self) {
        self.state.close(&mut self.effects);
        self.replies.clear();
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
            Request::Grant { now, ttl, answer } => {
                let result = self.state.grant(now, ttl, &mut self.effects);
                self.reply(answer, result);
            }
            Request::Revoke { now, lease, answer } => {
                let result = self.state.revoke(lease, &mut self.effects);
                self.expire(now, to)?;
                self.reply(answer, result);
            }
            Request::Compact { revision, answer } => {
                let result = self.state.compact(revision, &mut self.effects);
                self.reply(answer, result);
            }
            Request::Tick { now } => {
                self.expire(now, to)?;
                self.state.age(now, &mut self.effects);
            }
            Request::Close { answer } => {
                self.commit(to)?;
                self.close();
                to.close();
                // Whoever closes may have stopped waiting.
                answer.send(()).ok();
            }
        }
        Ok(())
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

    /// An answer, even one that nothing was done, tells of what came before it in the batch. So
    /// it waits for the batch.
    fn reply<T: Send + 'static, E: Refusal + Send + 'static>(
        &mut self,
        to: Answerer<T, E>,
        result: Result<T, E>,
    ) {
        self.replies.push(Box::new(move |committed| {
            // A writer that has given up waiting is told nothing.
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
        if !batch.is_empty() {
            if let Some(journal) = &mut self.journal {
                journal.commit(&batch)?;
                let size = journal.size_bytes().unwrap_or_default();
                self.size.store(size, Ordering::Relaxed);
            }
            to.apply(&batch);
        }
        self.leases
            .store(self.state.leases.len(), Ordering::Relaxed);
        for reply in self.replies.drain(..) {
            reply(Ok(()));
        }
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
