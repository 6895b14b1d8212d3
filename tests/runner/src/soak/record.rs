//! What the threads of a soak report: progress, errors that a user saw, broken promises.

use crate::bench::machine;
use crate::bench::table::Table;
use kubist_test_support::process::Outcome;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most broken promises that are kept as text; further ones are counted.
const FAILURES_MAX: usize = 50;

/// Everything that is reported, by any thread.
pub(super) struct Record {
    begin: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    operations: u64,
    errors: u64,
    slowest: Duration,
    failures: Vec<String>,
    further: u64,
}

impl Record {
    pub(super) fn start() -> Self {
        Self {
            begin: Instant::now(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows progress.
    pub(super) fn say(&self, text: &str) {
        eprintln!("{:>6} s  {text}", self.begin.elapsed().as_secs());
    }

    /// Records a broken promise. The soak goes on, and fails at its end.
    pub(super) fn fail(&self, text: &str) {
        self.say(&format!("FAILED: {text}"));
        let mut state = self.state();
        if state.failures.len() < FAILURES_MAX {
            state.failures.push(text.to_owned());
        } else {
            state.further += 1;
        }
    }

    /// Does something that a user wants, and once more after an error; the second attempt knows
    /// that it is one. A second error is a broken promise, and the result is none.
    pub(super) fn attempt<T>(
        &self,
        what: &str,
        mut action: impl FnMut(bool) -> Outcome<T>,
    ) -> Option<T> {
        self.state().operations += 1;
        let begin = Instant::now();
        let first = match action(false) {
            Ok(value) => {
                let took = begin.elapsed();
                let mut state = self.state();
                state.slowest = state.slowest.max(took);
                return Some(value);
            }
            Err(error) => error.to_string(),
        };
        self.state().errors += 1;
        self.say(&format!("{what}, once: {first}"));
        match action(true) {
            Ok(value) => Some(value),
            Err(second) => {
                self.fail(&format!("{what} failed twice: {first}; {second}"));
                None
            }
        }
    }

    pub(super) fn rows(&self) -> Vec<(String, String)> {
        let state = self.state();
        let row = |name: &str, value: String| (name.to_owned(), value);
        let twice = state.failures.iter();
        let twice = twice.filter(|it| it.contains(" failed twice: ")).count();
        vec![
            row("operations of users", state.operations.to_string()),
            row("errors that they saw once", state.errors.to_string()),
            row("errors that they saw twice", twice.to_string()),
            row(
                "their slowest answer without error",
                format!("{:.1} s", state.slowest.as_secs_f64()),
            ),
            row(
                "broken promises",
                (state.failures.len() as u64 + state.further).to_string(),
            ),
        ]
    }

    /// Fails if a promise was broken.
    pub(super) fn end(&self) -> Outcome {
        let state = self.state();
        if state.failures.is_empty() {
            return Ok(());
        }
        let mut text = state.failures.join("\n  ");
        if state.further > 0 {
            text = format!("{text}\n  and {} more", state.further);
        }
        Err(format!("the soak found:\n  {text}").into())
    }
}

/// Prints the machine and a table.
pub(super) fn print(table: &Table) {
    println!("{}\n\n{table}", machine::line());
}

/// Returns the CPU seconds of this program, which carries all bytes of the clients.
pub(super) fn own_cpu() -> f64 {
    machine::usage(std::process::id()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_is_seen_once_is_counted_and_one_that_is_seen_twice_fails_the_run() {
        let record = Record::start();
        let once = record.attempt(
            "a get",
            |again| {
                if again { Ok(7) } else { Err("reset".into()) }
            },
        );
        assert_eq!(once, Some(7));
        assert!(record.end().is_ok());
        let twice: Option<()> = record.attempt("a get", |_| Err("reset".into()));
        assert_eq!(twice, None);
        let error = record.end().expect_err("it was seen twice").to_string();
        assert!(
            error.contains("a get failed twice: reset; reset"),
            "{error}"
        );
        let state = record.state();
        assert_eq!((state.operations, state.errors), (2, 2));
    }
}
