//! `InformerState`: where an informer stands; `InformerStats`: what it has done.

use crate::HandlerState;
use kubist_apimachinery::Str;
use kubist_cache::BudgetStats;
use std::time::Duration;

/// Where an informer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InformerState {
    /// Nobody runs it yet.
    Created,
    /// The first list is not complete.
    Syncing,
    /// The first list is in the store.
    Synced,
    /// The server says that it does not serve the kind (yet, or any longer). It is asked for now
    /// and then; what was in the store stays until a list says otherwise.
    NotServed,
    /// It runs no more.
    Stopped,
}

/// Where an informer stands, and whether it ever was synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: InformerState,
    pub(crate) has_synced: bool,
}

/// What an informer has done, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InformerStats {
    /// Of listing and watching.
    pub reflector: kubist_reflector::Stats,
    /// Objects in the store.
    pub objects: usize,
    /// Changes told to handlers, each counted once.
    pub changes: u64,
    /// Handlers that are served.
    pub handlers: usize,
    /// Calls of handlers that panicked.
    pub handler_panics: u64,
    /// Handlers that ended because they fell too far behind.
    pub handler_overflows: u64,
    /// Index functions that failed for an object.
    pub index_errors: u64,
    /// How the store keeps within its budget; all zero if it has none.
    pub budget: BudgetStats,
    /// Objects that were decoded in full, however often each; for encoded forms only.
    pub full_decodes: u64,
}

/// One handler of an informer, as its name, state and figures.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HandlerSummary {
    /// The name that it was given.
    pub name: Str,
    /// How far it has come.
    pub state: HandlerState,
    /// Changes that wait for it.
    pub waiting: usize,
    /// Calls that were made.
    pub handled: u64,
    /// Calls that panicked.
    pub panics: u64,
    /// How often it is told everything again.
    pub resync: Option<Duration>,
}

/// How long an informer may be waited for that nobody runs: long enough for whoever starts it a
/// little later.
pub const NOT_STARTED_AFTER: Duration = Duration::from_secs(10);

/// Why there will be no first list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The informer has stopped.
    #[error("the informer has stopped{}", because(.problem.as_ref()))]
    Stopped {
        /// What kept it from listing or watching last, if anything did, in one line with the cause
        /// and what to do.
        problem: Option<Str>,
    },
    /// Nobody has run it for [`NOT_STARTED_AFTER`].
    #[error(
        "nobody runs the informer: call SharedInformerFactory::start after asking for it, or \
         SharedInformer::run, or leave both to a Manager"
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
    /// It runs already, or has run: an informer runs once.
    #[error("the informer was started before")]
    StartedBefore,
}
