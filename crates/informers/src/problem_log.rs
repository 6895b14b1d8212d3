//! `ProblemLog`: problems in the log, where nobody else asked to be told of them.
//!
//! Of each kind one line in a while, with the number of those that were left out since.

use std::collections::BTreeMap;
use std::time::Duration;

use kubist_apimachinery::Str;
use kubist_reflector::Report;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Problem;

/// How often a problem of one kind is logged, for one informer.
pub const LOGGED_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct ProblemLog {
    /// By kind: as many entries as there are kinds.
    kinds: Mutex<BTreeMap<u8, Kind>>,
}

#[derive(Debug)]
struct Kind {
    logged: Instant,
    left_out: u64,
}

impl ProblemLog {
    pub(crate) fn log(&self, informer: &Str, problem: &Problem) {
        let Some(left_out) = self.admit(kind(problem), Instant::now()) else {
            return;
        };
        if left_out > 0 {
            tracing::warn!(%informer, left_out, "{problem}");
        } else {
            tracing::warn!(%informer, "{problem}");
        }
    }

    /// How many were left out before this one; none if this one is left out too.
    fn admit(&self, kind: u8, now: Instant) -> Option<u64> {
        let mut kinds = self.kinds.lock();
        let Some(known) = kinds.get_mut(&kind) else {
            let logged = now;
            kinds.insert(
                kind,
                Kind {
                    logged,
                    left_out: 0,
                },
            );
            return Some(0);
        };
        if now.saturating_duration_since(known.logged) < LOGGED_EVERY {
            known.left_out += 1;
            return None;
        }
        known.logged = now;
        Some(std::mem::take(&mut known.left_out))
    }
}

fn kind(problem: &Problem) -> u8 {
    match problem {
        Problem::Fetch(report) => match report {
            Report::ListFailed(_) => 0,
            Report::WatchFailed(..) => 1,
            Report::NotServed(_) => 2,
            Report::ListSilent | Report::WatchSilent(_) => 3,
            Report::WatchTooShort => 4,
            Report::Behind { .. } => 5,
            Report::Invalid(_) => 6,
            _ => 7,
        },
        Problem::Index(_) => 8,
        Problem::OverBudget(_) => 9,
        Problem::HandlerPanicked { .. } => 10,
        Problem::HandlerOverflowed { .. } => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_kind_is_logged_once_in_a_while_with_what_was_left_out() {
        let log = ProblemLog::default();
        assert_eq!(log.admit(0, Instant::now()), Some(0));
        for _ in 0..5 {
            assert_eq!(log.admit(0, Instant::now()), None);
        }
        assert_eq!(log.admit(1, Instant::now()), Some(0), "another kind");
        tokio::time::advance(LOGGED_EVERY).await;
        assert_eq!(log.admit(0, Instant::now()), Some(5));
    }
}
