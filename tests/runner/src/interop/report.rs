//! The results of a run.

use kubist_test_support::process::Outcome;
use std::time::Instant;

/// The most characters of a failure that are shown.
const SHOWN_MAX: usize = 600;

/// Counts steps and keeps the failures for the end.
#[derive(Default)]
pub(super) struct Report {
    part: String,
    passed: usize,
    failures: Vec<String>,
    parts: Vec<String>,
}

impl Report {
    /// Runs a part; its steps are named after it.
    pub(super) fn part(&mut self, name: &str, run: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        name.clone_into(&mut self.part);
        eprintln!("\n{name}");
        let (passed, failed, start) = (self.passed, self.failures.len(), now());
        run(self)?;
        self.parts.push(format!(
            "{name}: {} passed, {} failed, {:.0} s",
            self.passed - passed,
            self.failures.len() - failed,
            start.elapsed().as_secs_f64()
        ));
        Ok(())
    }

    /// Runs a part if its program `is_here`, and otherwise records that it is missing.
    pub(super) fn part_if(
        &mut self,
        is_here: bool,
        name: &str,
        run: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        if is_here {
            return self.part(name, run);
        }
        self.missing(name);
        Ok(())
    }

    /// Records a part whose program is not installed.
    pub(super) fn missing(&mut self, name: &str) {
        self.parts.push(format!("{name}: not run, not here"));
    }

    /// Runs one step. A failure is recorded, and the run continues.
    pub(super) fn step(&mut self, name: &str, step: impl FnOnce() -> Outcome) {
        let start = now();
        let end = step();
        let seconds = start.elapsed().as_secs_f64();
        match end {
            Ok(()) => {
                self.passed += 1;
                eprintln!("  ok      {name} ({seconds:.1} s)");
            }
            Err(error) => {
                let error = shortened(&error.to_string());
                eprintln!("  FAILED  {name} ({seconds:.1} s): {error}");
                self.failures.push(format!("{}, {name}", self.part));
            }
        }
    }

    /// Fails if a step failed, or if there was none.
    pub(super) fn end(self) -> Outcome {
        let failed = self.failures.len();
        println!();
        for part in &self.parts {
            println!("{part}");
        }
        for failure in &self.failures {
            println!("failed: {failure}");
        }
        println!("{} passed, {failed} failed", self.passed);
        match (self.passed, failed) {
            (0, 0) => Err("no step ran".into()),
            (_, 0) => Ok(()),
            _ => Err(format!("interop: {failed} steps failed").into()),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "people read how long a step took; nothing depends on it"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}... ({} bytes)", &message[..end], message.len()),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_failures_are_cut_at_a_character() {
        assert_eq!(shortened("short"), "short");
        let long = "\u{e4}".repeat(SHOWN_MAX + 1);
        let cut = shortened(&long);
        assert!(cut.ends_with("... (1202 bytes)"), "{cut}");
        assert_eq!(cut.chars().filter(|it| *it == '\u{e4}').count(), SHOWN_MAX);
    }

    #[test]
    fn a_run_fails_when_a_step_does_and_when_none_ran() {
        assert!(Report::default().end().is_err());
        let mut report = Report::default();
        report.step("good", || Ok(()));
        report.step("bad", || Err("no".into()));
        assert!(report.end().is_err());
        let mut report = Report::default();
        report.step("good", || Ok(()));
        assert!(report.end().is_ok());
    }
}
