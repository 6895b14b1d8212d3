//! Audit: what is recorded of requests, and where it goes.
//!
//! [`Audit`] is a policy and a sink. Events wait in a bounded queue for one thread, which makes
//! their JSON and gives it to the sink, in the order in which stages were reached. A request that
//! is recorded takes the places of all its events before it is handled: if the sink is slow,
//! requests wait, and no event is lost or overtaken.

pub(crate) mod audited_call;
mod log_file;
mod object;
mod queue;

pub use kubist_audit::{Event, Level, Policy, PolicyError, Stage};
pub use log_file::{LogFile, LogFileError};

use crate::audit::queue::Queue;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Where events go. It is called by a thread of its own, so it may block.
pub trait AuditSink: Send + 'static {
    /// Writes events, each a JSON object. After an error the server goes on, and logs it; the
    /// events are lost.
    ///
    /// # Errors
    /// The events cannot be written.
    fn write(&mut self, events: &[String]) -> io::Result<()>;
}

/// A policy and where its events go. A clone is another handle. Dropping the last one writes what
/// waits.
#[derive(Clone)]
pub struct Audit {
    pub(crate) policy: Arc<Policy>,
    pub(crate) queue: Arc<Queue>,
}

impl Audit {
    /// Starts the thread that writes to `sink`.
    ///
    /// # Errors
    /// There are no resources for a thread.
    pub fn new(policy: Policy, sink: impl AuditSink) -> io::Result<Self> {
        Ok(Self {
            policy: Arc::new(policy),
            queue: Arc::new(Queue::start(Box::new(sink))?),
        })
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}
