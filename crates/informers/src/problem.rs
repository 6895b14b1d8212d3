//! `Problem`: what an informer reports; as one line it has the cause, and what to do.

use crate::SyncError;
use kubist_apimachinery::{Str, with_causes};
use kubist_cache::{BudgetError, IndexError};
use kubist_reflector::Report;
use std::fmt;
use std::sync::Arc;

/// Told of problems, on the informer's task: it must return soon.
pub type OnProblem = Arc<dyn Fn(&Problem) + Send + Sync>;

/// Something that went wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// In listing or watching, or with one object.
    Fetch(Report),
    /// An index function failed.
    Index(IndexError),
    /// An object did not fit into the informer's budget, and was refused.
    OverBudget(BudgetError),
    /// A handler panicked in one call.
    HandlerPanicked {
        /// Its name.
        handler: Str,
        /// What the panic said.
        message: Str,
    },
    /// Somebody has waited for changes, and nobody has run the informer for
    /// [`NOT_STARTED_AFTER`](crate::NOT_STARTED_AFTER). Told once.
    NotStarted,
    /// A handler fell too far behind, and its registration ended.
    HandlerOverflowed {
        /// Its name.
        handler: Str,
    },
}

/// One line: what went wrong, why, and what to do about it, if anything can be done.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fetch(report) => fmt_report(report, f),
            Self::Index(error) => write!(f, "an index function failed: {}", with_causes(error)),
            Self::OverBudget(error) => write!(f, "no room: {}", with_causes(error)),
            Self::HandlerPanicked { handler, message } => {
                write!(
                    f,
                    "the handler {handler:?} panicked, and goes on: {message}"
                )
            }
            Self::NotStarted => fmt::Display::fmt(&SyncError::NotStarted, f),
            Self::HandlerOverflowed { handler } => write!(
                f,
                "the handler {handler:?} fell too far behind and hears nothing more: \
                 make it faster, or choose another delivery"
            ),
        }
    }
}

fn fmt_report(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match report {
        Report::ListFailed(error) => {
            write!(f, "cannot list: {}{}", with_causes(error), error.advice())
        }
        Report::WatchFailed(error, _) => {
            write!(
                f,
                "the watch failed: {}{}",
                with_causes(error),
                error.advice()
            )
        }
        Report::NotServed(error) => write!(f, "{}{}", with_causes(error), error.advice()),
        Report::ListSilent | Report::WatchSilent(_) => {
            f.write_str("the server has been silent for too long; asking again")
        }
        Report::WatchTooShort => {
            f.write_str("the server ends watches as soon as they begin; trying again")
        }
        Report::Stale { floor } => {
            write!(
                f,
                "the server answered with a state before {floor}; asking again"
            )
        }
        Report::Invalid(item) => {
            let cause = with_causes(&item.error);
            match &item.name {
                Some(name) => write!(
                    f,
                    "{name} cannot be read, and stays as it was known, if it was: {cause} (correct \
                     it, or hold it in a type that allows this)"
                ),
                None => write!(f, "an object cannot be read: {cause}"),
            }
        }
        other => write!(f, "{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectName;
    use kubist_apimachinery::wire::WireErrorKind;
    use kubist_cache::InvalidItem;

    #[test]
    fn an_object_that_cannot_be_read_is_named_with_the_reason() {
        let reason = "no quantity".to_owned();
        let item = InvalidItem {
            name: Some(ObjectName::new("shop", "web-0")),
            error: WireErrorKind::Invalid { reason }.into(),
        };
        let text = Problem::Fetch(Report::Invalid(item)).to_string();
        assert!(text.starts_with("shop/web-0 cannot be read"), "{text}");
        assert!(text.contains("no quantity"), "{text}");
    }
}
