//! Compares Kubist's defaults and validation with upstream's on mutated objects of every kind. The
//! program in `tests/interop/validation` links upstream's as a library. The test `upstream` of
//! `tests/validation` generates the objects and compares.
//!
//! The program builds in half a minute with a warm Go build cache, and in a few minutes without;
//! the comparison takes seconds.

use super::report::Report;
use crate::test_program;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "validation";
/// The tests that compare.
const TESTS: [&str; 2] = [
    "mutated_objects_are_judged_as_by_upstream",
    "mutated_statuses_are_judged_as_by_upstream",
];
/// Mutated objects of each kind.
pub(super) const COUNT: u64 = 25;
/// Mutated objects in a long run.
pub(super) const COUNT_LONG: u64 = 500;
/// The seed of the mutated objects.
pub(super) const SEED: u64 = 1;

/// Builds upstream's rules and compares.
pub(super) fn run(count: u64, seed: u64, scratch: &Path, report: &mut Report) -> Outcome {
    let program = scratch.join("validation");
    let mut is_built = false;
    report.step("upstream's rules build", || {
        build(&program)?;
        is_built = true;
        Ok(())
    });
    if !is_built {
        return Ok(());
    }
    let test = test_program::build("upstream")?;
    report.step(
        &format!("{count} objects of each kind, seed {seed}"),
        || compare(&test, &program, count, seed),
    );
    Ok(())
}

fn build(to: &Path) -> Outcome {
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(to).arg(".");
    process::run_with(go.current_dir(root().join("tests/interop/validation")))
}

fn compare(test: &Path, program: &Path, count: u64, seed: u64) -> Outcome {
    let output = Command::new(test)
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .args(TESTS)
        .env("KUBIST_VALIDATION_PROGRAM", program)
        .env("KUBIST_VALIDATION_COUNT", count.to_string())
        .env("KUBIST_VALIDATION_SEED", seed.to_string())
        .env("RUST_BACKTRACE", "0")
        .current_dir(root().join("tests/validation"))
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let agreed = text.lines().filter(|line| line.ends_with("others agree"));
    let agreed: Vec<&str> = agreed.collect();
    if agreed.len() == TESTS.len() && output.status.success() {
        for line in agreed {
            eprintln!("          {line}");
        }
        return Ok(());
    }
    eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    Err("the results differ from upstream's, as shown above".into())
}
