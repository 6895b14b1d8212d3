//! `ProblemLog`: logs the problems that no callback receives.
//!
//! For each kind of problem it logs a few lines per interval, each with a different subject, and
//! the number of lines that were suppressed.

use crate::Problem;
use kubist_apimachinery::{Str, with_causes};
use kubist_reflector::Report;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// The minimum interval between log lines of the same problem of one informer.
pub const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// The maximum number of problems of one kind that are logged per interval, for different objects
/// or causes.
pub const LOGGED_MAX: usize = 4;

/// Logs the problems of an informer, as an informer without
/// [`on_problem`](crate::InformerConfig::on_problem) does. Use it in such a callback for the
/// problems that the callback does not handle.
#[derive(Debug, Default)]
pub struct ProblemLog {
    /// One entry per kind of problem.
    kinds: Mutex<BTreeMap<u8, Kind>>,
}

#[derive(Debug, Default)]
struct Kind {
    /// The recently logged problems and their times; at most [`LOGGED_MAX`].
    logged: Vec<(String, Instant)>,
    left_out: u64,
}

impl ProblemLog {
    /// Logs a problem of the informer of that name as a warning, or counts it as suppressed.
    pub fn log(&self, informer: &Str, problem: &Problem) {
        let (kind, about) = kind(problem);
        let Some(left_out) = self.admit(kind, about, Instant::now()) else {
            return;
        };
        if left_out > 0 {
            tracing::warn!(%informer, left_out, "{problem}");
        } else {
            tracing::warn!(%informer, "{problem}");
        }
    }

    /// Returns how many problems of the kind were suppressed before this one; `None` if this one is
    /// suppressed too.
    fn admit(&self, kind: u8, about: String, now: Instant) -> Option<u64> {
        let mut kinds = self.kinds.lock();
        let kind = kinds.entry(kind).or_default();
        kind.logged
            .retain(|(_, at)| now.saturating_duration_since(*at) < LOGGED_EVERY);
        let known = kind.logged.iter().any(|(before, _)| *before == about);
        if known || kind.logged.len() >= LOGGED_MAX {
            kind.left_out += 1;
            return None;
        }
        kind.logged.push((about, now));
        Some(std::mem::take(&mut kind.left_out))
    }
}

/// Returns the kind of a problem and its subject: the object or the cause.
fn kind(problem: &Problem) -> (u8, String) {
    let one = |kind| (kind, String::new());
    match problem {
        Problem::Fetch(report) => match report {
            // Both usually have the same cause.
            Report::ListFailed(error) | Report::WatchFailed(error, _) => (0, with_causes(error)),
            Report::NotServed(_) => one(2),
            Report::ListSilent | Report::WatchSilent(_) => one(3),
            Report::WatchTooShort => one(4),
            Report::Stale { .. } => one(5),
            Report::Invalid(item) => {
                let name = item.name.as_ref();
                (6, name.map_or_else(String::new, ToString::to_string))
            }
            _ => one(7),
        },
        Problem::Index(_) => one(8),
        Problem::OverBudget(_) => one(9),
        Problem::HandlerPanicked { handler, .. } => (10, handler.to_string()),
        Problem::HandlerOverflowed { .. } => one(11),
        Problem::NotStarted => one(12),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectName;
    use kubist_apimachinery::wire::WireErrorKind;
    use kubist_cache::{FetchError, InvalidItem};

    impl ProblemLog {
        fn observed(&self, report: Report) -> Option<u64> {
            let (kind, about) = kind(&Problem::Fetch(report));
            self.admit(kind, about, Instant::now())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_kind_is_logged_once_in_a_while_with_what_was_left_out() {
        let log = ProblemLog::default();
        let none = String::new;
        assert_eq!(log.admit(0, none(), Instant::now()), Some(0));
        for _ in 0..5 {
            assert_eq!(log.admit(0, none(), Instant::now()), None);
        }
        assert_eq!(
            log.admit(1, none(), Instant::now()),
            Some(0),
            "another kind"
        );
        tokio::time::advance(LOGGED_EVERY).await;
        assert_eq!(log.admit(0, none(), Instant::now()), Some(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_fails_for_the_reason_of_the_watch_before_it_is_not_reported_again() {
        let failure = |message: &str| FetchError::Unauthorized {
            message: message.into(),
        };
        let log = ProblemLog::default();
        assert_eq!(log.observed(Report::ListFailed(failure("who"))), Some(0));
        assert_eq!(log.observed(Report::ListFailed(failure("who"))), None);
        assert_eq!(log.observed(Report::ListFailed(failure("what"))), Some(1));
    }

    #[tokio::test(start_paused = true)]
    async fn objects_that_cannot_be_read_are_named_each_up_to_a_bound() {
        let unreadable = |name: &str| {
            let reason = "no number".to_owned();
            Report::Invalid(InvalidItem {
                name: Some(ObjectName::new("shop", name)),
                error: WireErrorKind::Invalid { reason }.into(),
            })
        };
        let log = ProblemLog::default();
        for name in ["a", "b", "c", "d"] {
            assert_eq!(log.observed(unreadable(name)), Some(0), "{name}");
        }
        assert_eq!(log.observed(unreadable("a")), None, "again");
        assert_eq!(log.observed(unreadable("e")), None, "one too many");
        tokio::time::advance(LOGGED_EVERY).await;
        assert_eq!(log.observed(unreadable("e")), Some(2));
    }
}
