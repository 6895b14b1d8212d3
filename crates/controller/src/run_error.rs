//! `RunError`: why a controller stopped by itself.

use kubist_apimachinery::Str;
use std::time::Duration;

/// Why a controller stopped by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An informer did not complete its first list in time.
    #[error(
        "controller {controller}: no first list of {informer} within {waited:?}{}",
        because(.problem.as_ref())
    )]
    SyncTimeout {
        /// The controller.
        controller: Str,
        /// The informer.
        informer: Str,
        /// The timeout.
        waited: Duration,
        /// The problem that prevents the first list, in one line with the cause and advice, if
        /// known.
        problem: Option<Str>,
    },
    /// An informer is not running.
    #[error(
        "controller {controller}: the informer of {informer} is not running: call \
         SharedInformerFactory::start before the controller runs, or use a Manager"
    )]
    InformerNotStarted {
        /// The controller.
        controller: Str,
        /// The informer.
        informer: Str,
    },
    /// An informer stopped, so the controller would receive no more changes.
    #[error(
        "controller {controller}: the informer of {informer} has stopped{}",
        because(.problem.as_ref())
    )]
    InformerStopped {
        /// The controller.
        controller: Str,
        /// The informer.
        informer: Str,
        /// The last problem of listing or watching, if any.
        problem: Option<Str>,
    },
    /// The controller owns objects without being one of a kind, so no owner reference leads to it.
    #[error(
        "controller {controller}: made with Controller::keyed, it has no kind that could own \
         objects: use watches or a source in place of owns"
    )]
    NoKind {
        /// The controller.
        controller: Str,
    },
    /// A worker panicked outside the reconciler.
    #[error("controller {controller}: a worker panicked")]
    WorkerPanicked {
        /// The controller.
        controller: Str,
    },
}

fn because(problem: Option<&Str>) -> String {
    problem.map_or_else(String::new, |problem| format!(": {problem}"))
}
