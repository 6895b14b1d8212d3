//! `InformerState`: the state of an informer. `InformerStats`: its figures.

use crate::HandlerState;
use kubist_apimachinery::Str;
use kubist_cache::BudgetStats;
use std::time::Duration;

/// The state of an informer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InformerState {
    /// Nobody runs it yet.
    Created,
    /// The first list is not complete.
    Syncing,
    /// The first list is in the store.
    Synced,
    /// The server does not serve the kind, or no longer does. The informer retries periodically;
    /// the store keeps its contents until a list replaces them.
    NotServed,
    /// It has stopped.
    Stopped,
}

/// The state of an informer, and whether it has ever synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) state: InformerState,
    pub(crate) has_synced: bool,
}

/// The figures of an informer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InformerStats {
    /// The figures of lists and watches.
    pub reflector: kubist_reflector::Stats,
    /// The number of objects in the store.
    pub objects: usize,
    /// The number of changes delivered to handlers, each counted once.
    pub changes: u64,
    /// The number of active handlers.
    pub handlers: usize,
    /// The number of handler calls that panicked.
    pub handler_panics: u64,
    /// The number of handlers that ended because they fell too far behind.
    pub handler_overflows: u64,
    /// The number of index function failures.
    pub index_errors: u64,
    /// The usage of the byte budget; all zero without one.
    pub budget: BudgetStats,
    /// The number of full decodes of objects; for encoded forms only.
    pub full_decodes: u64,
}

/// The name, state and figures of one handler.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HandlerSummary {
    /// The configured name.
    pub name: Str,
    /// The state.
    pub state: HandlerState,
    /// The number of pending events.
    pub waiting: usize,
    /// The number of calls.
    pub handled: u64,
    /// The number of calls that panicked.
    pub panics: u64,
    /// The resync period.
    pub resync: Option<Duration>,
}

/// How long to wait for an informer that nobody runs, so that it may be started a little later.
pub const NOT_STARTED_AFTER: Duration = Duration::from_secs(10);

/// Why there will be no first list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The informer has stopped.
    #[error("the informer has stopped{}", because(.problem.as_ref()))]
    Stopped {
        /// The last problem of a list or watch, if any, in one line with the cause and advice.
        problem: Option<Str>,
    },
    /// Nobody has run it for [`NOT_STARTED_AFTER`].
    #[error(
        "the informer is not running: call SharedInformerFactory::start after requesting it, or \
         SharedInformer::run, or use a Manager"
    )]
    NotStarted,
}

fn because(problem: Option<&Str>) -> String {
    problem.map_or_else(String::new, |problem| format!(": {problem}"))
}

/// Why an informer cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It is running or has run: an informer runs once.
    #[error("the informer was started before")]
    StartedBefore,
}
