//! `Problem`: what an informer reports; as one line it has the cause, and what to do.

use std::fmt;
use std::sync::Arc;

use kubist_apimachinery::{Str, with_causes};
use kubist_cache::{BudgetError, FetchError, IndexError};
use kubist_reflector::Report;

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
            write!(f, "cannot list: {}{}", with_causes(error), advice(error))
        }
        Report::WatchFailed(error, _) => {
            write!(
                f,
                "the watch failed: {}{}",
                with_causes(error),
                advice(error)
            )
        }
        Report::NotServed(error) => write!(f, "{}{}", with_causes(error), advice(error)),
        Report::ListSilent | Report::WatchSilent(_) => {
            f.write_str("the server has been silent for too long; asking again")
        }
        Report::WatchTooShort => {
            f.write_str("the server ends watches as soon as they begin; trying again")
        }
        Report::Behind { floor } => {
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
                    "{name} cannot be read, what is known of it stays: {cause}"
                ),
                None => write!(f, "an object cannot be read: {cause}"),
            }
        }
        other => write!(f, "{other:?}"),
    }
}

/// What somebody can do about it.
fn advice(error: &FetchError) -> &'static str {
    match error {
        FetchError::Unauthorized { .. } => " (check the credentials)",
        FetchError::Forbidden { .. } => " (allow the caller to list and watch this resource)",
        FetchError::NotServed { .. } => " (check group and version, or install the definition)",
        FetchError::ConnectionRefused { .. } => " (check the server's address, and that it runs)",
        FetchError::Connection { .. } if with_causes(error).contains("certificate") => {
            " (check the certificate authority that is configured, and the server's name)"
        }
        FetchError::Connection { .. } => " (check the network and the server's address)",
        FetchError::Malformed { .. } | FetchError::UnexpectedKind { .. } => {
            " (check that the address is an API server's, and the kind)"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use kubist_apimachinery::ObjectName;
    use kubist_apimachinery::wire::WireErrorKind;
    use kubist_cache::InvalidItem;

    use super::*;

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
