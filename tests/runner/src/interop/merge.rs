//! Compares server-side apply's parts with upstream's, which programs link as libraries; tests of
//! `kubist-field-manager` run them.
//!
//! - Field sets, comparisons, merges and sequences of writes, of random values of random schemas,
//!   with those of Go's structured-merge-diff, in `tests/interop/merge`.
//! - The types of all built-in kinds and of custom resources, with those of the API server, in
//!   `tests/interop/schema`.

use super::report::Report;
use kubist_test_support::process::{self, Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "merge";
/// The number of cases.
const COUNT: u64 = 10_000;
/// The number of cases of a long run.
const COUNT_LONG: u64 = 200_000;

/// Builds the programs and compares.
pub(super) fn run(long: bool, scratch: &Path, report: &mut Report) {
    if let Some(program) = build("merge", "structured-merge-diff", scratch, report) {
        let count = if long { COUNT_LONG } else { COUNT };
        report.step(&format!("{count} cases"), || {
            let mut tests = tests(&["upstream::", "sequences::"]);
            tests.env("KUBIST_MERGE_PROGRAM", &program);
            tests.env("KUBIST_MERGE_COUNT", count.to_string());
            compare(&mut tests)
        });
    }
    if let Some(program) = build("schema", "upstream's type converter", scratch, report) {
        report.step("types of built-in kinds and custom resources", || {
            compare(tests(&["upstream_schemas::"]).env("KUBIST_SCHEMA_PROGRAM", &program))
        });
    }
}

/// Builds a program from its folder; none if that fails.
pub(super) fn build(
    folder: &str,
    what: &str,
    scratch: &Path,
    report: &mut Report,
) -> Option<PathBuf> {
    let program = scratch.join(folder);
    let mut is_built = false;
    report.step(&format!("{what} builds"), || {
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).arg(".");
        process::run_with(go.current_dir(root().join("tests/interop").join(folder)))?;
        is_built = true;
        Ok(())
    });
    is_built.then_some(program)
}

/// Returns the command that runs the tests of modules.
fn tests(modules: &[&str]) -> Command {
    tests_of("kubist-field-manager", modules)
}

/// Returns the command that runs the tests of modules of a crate.
pub(super) fn tests_of(package: &str, modules: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--package", package, "--test", "it"])
        .args(["--", "--nocapture"])
        .args(modules)
        .env("RUST_BACKTRACE", "0")
        .current_dir(root());
    cargo
}

/// Runs tests and shows the lines that count what agrees, or else all output.
pub(super) fn compare(tests: &mut Command) -> Outcome {
    let output = tests.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut agreed = text.lines().filter(|it| it.contains(" agree")).peekable();
    if output.status.success() && agreed.peek().is_some() {
        agreed.for_each(|line| eprintln!("          {}", line.trim_start_matches('.')));
        return Ok(());
    }
    eprintln!("{text}{}", String::from_utf8_lossy(&output.stderr));
    Err("the results differ from upstream's, as shown above".into())
}
