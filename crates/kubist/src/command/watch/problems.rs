//! The problems of a watch as sentences: on standard error, or kept for the table, whose screen
//! other output would disturb.

use super::super::harmless::harmless;
use kubist_informers::Problem;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Reports problems; repetitions are reported once.
#[derive(Debug)]
pub(super) struct Problems {
    last: Mutex<Option<(String, Instant)>>,
    on_stderr: bool,
}

impl Problems {
    /// Reports them on standard error.
    pub(super) fn on_stderr() -> Self {
        Self {
            last: Mutex::default(),
            on_stderr: true,
        }
    }

    /// Keeps the last one.
    pub(super) fn kept() -> Self {
        Self {
            last: Mutex::default(),
            on_stderr: false,
        }
    }

    #[expect(clippy::print_stderr, reason = "this is the command's own output")]
    pub(super) fn report(&self, problem: &Problem) {
        let text = problem.to_string();
        let mut last = self.last.lock();
        let repeats = last.as_ref().is_some_and(|(before, _)| *before == text);
        if self.on_stderr && !repeats {
            eprintln!("kubist: {}", harmless(&text));
        }
        *last = Some((text, Instant::now()));
    }

    /// Returns the last one, and how long ago it occurred.
    pub(super) fn last(&self) -> Option<(String, Duration)> {
        let last = self.last.lock();
        last.as_ref().map(|(text, at)| (text.clone(), at.elapsed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_informers::Report;

    #[test]
    fn the_last_problem_is_kept_for_the_screen() {
        let problems = Problems::kept();
        assert!(problems.last().is_none());
        problems.report(&Problem::Fetch(Report::WatchTooShort));
        let (text, age) = problems.last().unwrap();
        assert!(text.contains("retrying"), "{text}");
        assert!(age < Duration::from_secs(60));
    }
}
