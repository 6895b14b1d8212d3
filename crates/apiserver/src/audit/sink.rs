//! `AuditSink`: where events go.

use std::io;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where events go. It is called by a thread of its own, so it may block.
pub trait AuditSink: Send + 'static {
    /// Writes events, each a line: a JSON object, or text in the format
    /// [`LineFormat::Legacy`](super::LineFormat). After an error the server goes on, logs it and
    /// counts it; the events are lost.
    ///
    /// # Errors
    /// The events cannot be written.
    fn write(&mut self, events: &[Arc<str>]) -> io::Result<()>;

    /// Returns its name, for logs and for the label `plugin` of `apiserver_audit_error_total`.
    /// Default: `other`.
    fn name(&self) -> &'static str {
        "other"
    }

    /// Returns a token that the server cancels when it ends: the sink should not wait for long any
    /// more. Asked once, before anything is written. Default: none; it never waits.
    fn ending(&self) -> Option<CancellationToken> {
        None
    }
}
