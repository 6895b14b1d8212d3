//! `EventStats`: what became of the events.

/// The figures of a broadcaster and its recorders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventStats {
    /// Events that were recorded, whatever became of them.
    pub recorded: u64,
    /// Events that were dropped because a queue was full, or because the broadcaster had ended.
    pub dropped: u64,
    /// Events that were dropped because their object had too many.
    pub filtered: u64,
    /// Events that were counted in a series.
    pub repeated: u64,
    /// Events that were created.
    pub created: u64,
    /// Series whose count was written.
    pub updated: u64,
    /// Attempts that failed and were repeated.
    pub retried: u64,
    /// Writes that the server rejected.
    pub rejected: u64,
    /// Writes that were given up after the last attempt, or at the end.
    pub given_up: u64,
}
