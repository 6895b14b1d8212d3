//! `RunError`: why a controller stopped by itself.

use kubist_apimachinery::Str;
use std::time::Duration;

/// Why a controller ended before it was stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An informer's first list did not come in time.
    #[error(
        "controller {controller}: no first list of {informer} within {waited:?}{}",
        because(.problem.as_ref())
    )]
    SyncTimeout {
        /// The controller.
        controller: Str,
        /// The informer.
        informer: Str,
        /// How long it waited.
        waited: Duration,
        /// What kept the informer from it, in one line with the cause and what to do, if that is
        /// known.
        problem: Option<Str>,
    },
    /// Nobody runs an informer.
    #[error(
        "controller {controller}: nobody runs the informer of {informer}: call \
         SharedInformerFactory::start before the controller runs, or let a Manager run both"
    )]
    InformerNotStarted {
        /// The controller.
        controller: Str,
        /// The informer.
        informer: Str,
    },
    /// An informer stopped, so that the controller would no longer hear of changes.
    #[error(
        "controller {controller}: the informer of {informer} has stopped{}",
        because(.problem.as_ref())
    )]
    InformerStopped {
        /// The controller.
        controller: Str,
        /// The informer.
        informer: Str,
        /// What kept the informer from listing or watching last, if anything did.
        problem: Option<Str>,
    },
    /// A worker ended with a panic outside of the reconciler.
    #[error("controller {controller}: a worker panicked")]
    WorkerPanicked {
        /// The controller.
        controller: Str,
    },
}

fn because(problem: Option<&Str>) -> String {
    problem.map_or_else(String::new, |problem| format!(": {problem}"))
}
