//! What a request asks for, and what it is told.

use kubist_apimachinery::Str;
use std::sync::Arc;
use std::time::Duration;

/// How much of the server a request occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct Work {
    /// Seats while it is handled; 0 counts as 1.
    pub seats: u32,
}

impl Work {
    /// Most requests.
    pub const ONE: Self = Self { seats: 1 };
}

impl Default for Work {
    fn default() -> Self {
        Self::ONE
    }
}

/// How a request was classified. Its uids are those of the response headers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Class {
    /// The name of the flow schema.
    pub flow_schema: Str,
    /// Its uid; empty if it is not stored.
    pub flow_schema_uid: Str,
    /// The name of the priority level.
    pub priority_level: Str,
    /// Its uid; empty if it is not stored.
    pub priority_level_uid: Str,
}

/// Identifies a waiting request, among all of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(crate) u64);

/// A request that is being handled. It must be given back to
/// [`FlowController::finish`](crate::FlowController::finish).
#[derive(Debug)]
#[must_use = "its seats are taken until it is finished"]
pub struct Execution {
    pub(crate) ticket: Ticket,
    pub(crate) level: usize,
    pub(crate) queue: Option<usize>,
    pub(crate) seats: u32,
    pub(crate) began: Duration,
}

/// What becomes of a request that has arrived.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth fate")]
pub enum Arrival {
    /// It is handled now.
    Executes(Arc<Class>, Execution),
    /// It waits, until a later call returns its ticket.
    Waits(Arc<Class>, Ticket),
    /// It is refused.
    Rejected(Arc<Class>, Rejection),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// Its priority level has no queues, and all seats are taken.
    #[error("all seats of the priority level are taken")]
    ConcurrencyLimit,
    /// Its queue is full.
    #[error("the queue is full")]
    QueueFull,
    /// It has waited too long.
    #[error("it has waited too long")]
    TimeOut,
}

impl Rejection {
    /// The reason in metrics, as upstream.
    pub fn reason(self) -> &'static str {
        match self {
            Self::ConcurrencyLimit => "concurrency-limit",
            Self::QueueFull => "queue-full",
            Self::TimeOut => "time-out",
        }
    }
}
