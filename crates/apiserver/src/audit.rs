//! Audit: what is recorded of requests, and where it goes.
//!
//! [`Audit`] is a policy and [`Backend`]s. Events wait in a bounded queue for one thread, which
//! makes their JSON and passes it to each backend in the order in which stages were reached. Each
//! backend has a thread of its own, which calls its sink, and a [`Mode`], which says what happens
//! when the sink is slow: requests wait, or events are dropped and counted.

pub(crate) mod audited_call;
mod backend;
pub(crate) mod counters;
mod item;
mod log_file;
mod object;
mod queue;
mod sink;
mod worker;

pub use backend::{Backend, Batch, LineFormat, Mode, Throttle, Truncation};
pub use kubist_audit::{Event, Level, Policy, PolicyError, Stage, event_list};
pub use log_file::{LogFile, LogFileError};
pub use sink::AuditSink;

use crate::audit::counters::AuditCounters;
use crate::audit::queue::Queue;
use std::fmt;
use std::io;
use std::sync::Arc;

/// A policy and where its events go. A clone is another handle. Dropping the last one writes what
/// waits.
#[derive(Clone)]
pub struct Audit {
    pub(crate) policy: Arc<Policy>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) counters: Arc<AuditCounters>,
}

impl Audit {
    /// Records events in one sink, in mode [`Mode::Blocking`].
    ///
    /// # Errors
    /// There are no resources for a thread.
    pub fn new(policy: Policy, sink: impl AuditSink) -> io::Result<Self> {
        Self::with_backends(policy, vec![Backend::new(sink)])
    }

    /// Records events in several backends. Each gets all events, and none waits for another unless
    /// requests wait for it.
    ///
    /// # Errors
    /// There are no resources for threads.
    pub fn with_backends(policy: Policy, backends: Vec<Backend>) -> io::Result<Self> {
        let counters = Arc::new(AuditCounters::default());
        Ok(Self {
            policy: Arc::new(policy),
            queue: Arc::new(Queue::start(backends, &counters)?),
            counters,
        })
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}
