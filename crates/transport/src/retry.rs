//! `Retry`: whether and when to retry after a transport error.

use std::time::Duration;

/// Whether and when to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// Do not retry: the same request will fail again.
    Never,
    /// Retry after this time.
    After(Duration),
    /// Retry with growing pauses.
    Backoff,
}
