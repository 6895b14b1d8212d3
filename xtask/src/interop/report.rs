//! What passed and what did not.

use crate::process::Outcome;

/// Counts steps and keeps the failures for the end.
#[derive(Default)]
pub(super) struct Report {
    part: String,
    passed: usize,
    failures: Vec<String>,
}

impl Report {
    /// Begins a part; its steps are named after it.
    pub(super) fn part(&mut self, name: &str) {
        name.clone_into(&mut self.part);
        eprintln!("\n{name}");
    }

    /// Runs one step. A failure is noted, and the next step runs.
    pub(super) fn step(&mut self, name: &str, step: impl FnOnce() -> Outcome) {
        match step() {
            Ok(()) => {
                self.passed += 1;
                eprintln!("  ok      {name}");
            }
            Err(error) => {
                eprintln!("  FAILED  {name}: {error}");
                self.failures
                    .push(format!("{}, {name}: {error}", self.part));
            }
        }
    }

    /// Fails if a step did, or if there was none.
    pub(super) fn end(self) -> Outcome {
        let failed = self.failures.len();
        if failed > 0 {
            eprintln!("\nfailures:");
            for failure in &self.failures {
                eprintln!("- {failure}");
            }
        }
        println!("\n{} passed, {failed} failed", self.passed);
        match (self.passed, failed) {
            (0, 0) => Err("no step ran".into()),
            (_, 0) => Ok(()),
            _ => Err(format!("interop: {failed} steps failed").into()),
        }
    }
}
