//! `Problem`: a problem that an informer reports. Its text includes the cause and advice.

use crate::SyncError;
use kubist_apimachinery::{Str, with_causes};
use kubist_cache::{BudgetError, IndexError};
use kubist_reflector::Report;
use std::fmt;
use std::sync::Arc;

/// Receives problems on the informer's task; it must return soon.
pub type OnProblem = Arc<dyn Fn(&Problem) + Send + Sync>;

/// A problem of an informer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A problem of a list or watch, or of one object.
    Fetch(Report),
    /// An index function failed.
    Index(IndexError),
    /// An object exceeded the informer's budget and was refused.
    OverBudget(BudgetError),
    /// A handler panicked in one call.
    HandlerPanicked {
        /// The handler's name.
        handler: Str,
        /// The panic message.
        message: Str,
    },
    /// A handler was added, and nobody has run the informer for
    /// [`NOT_STARTED_AFTER`](crate::NOT_STARTED_AFTER). Reported once.
    NotStarted,
    /// A handler fell too far behind, and its registration ended.
    HandlerOverflowed {
        /// The handler's name.
        handler: Str,
    },
}

/// One line with the problem, its cause, and advice if there is any.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fetch(report) => fmt_report(report, f),
            Self::Index(error) => write!(f, "an index function failed: {}", with_causes(error)),
            Self::OverBudget(error) => {
                write!(f, "the memory budget is exhausted: {}", with_causes(error))
            }
            Self::HandlerPanicked { handler, message } => {
                write!(
                    f,
                    "the handler {handler:?} panicked and continues: {message}"
                )
            }
            Self::NotStarted => fmt::Display::fmt(&SyncError::NotStarted, f),
            Self::HandlerOverflowed { handler } => write!(
                f,
                "the handler {handler:?} fell too far behind and was removed: make it faster, \
                 or choose another delivery mode"
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
            f.write_str("the server has sent nothing for too long; retrying")
        }
        Report::WatchTooShort => {
            f.write_str("the server ends watches as soon as they begin; retrying")
        }
        Report::Stale { floor } => {
            write!(
                f,
                "the server returned a state older than {floor}; retrying"
            )
        }
        Report::Invalid(item) => {
            let cause = with_causes(&item.error);
            match &item.name {
                Some(name) => write!(
                    f,
                    "{name} cannot be decoded, and its last known state is kept: {cause} (correct the \
                     object, or use a type that accepts it)"
                ),
                None => write!(f, "an object cannot be decoded: {cause}"),
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
    fn an_object_that_cannot_be_decoded_is_named_with_the_reason() {
        let reason = "no quantity".to_owned();
        let item = InvalidItem {
            name: Some(ObjectName::new("shop", "web-0")),
            error: WireErrorKind::Invalid { reason }.into(),
        };
        let text = Problem::Fetch(Report::Invalid(item)).to_string();
        assert!(text.starts_with("shop/web-0 cannot be decoded"), "{text}");
        assert!(text.contains("no quantity"), "{text}");
    }
}
