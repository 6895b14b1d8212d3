//! Compares field sets, comparisons and merges of random values of random schemas with those of
//! Go's structured-merge-diff. The program in `tests/interop/merge` links it as a library; the test
//! `field_sets_comparisons_and_merges_are_upstreams` of `kubist-field-manager` asks it.

use super::report::Report;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "merge";
/// The number of cases.
const COUNT: u64 = 10_000;
/// The number of cases of a long run.
const COUNT_LONG: u64 = 200_000;

/// Builds the program and compares.
pub(super) fn run(long: bool, scratch: &Path, report: &mut Report) {
    let program = scratch.join("merge");
    let mut is_built = false;
    report.step("structured-merge-diff builds", || {
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).arg(".");
        process::run_with(go.current_dir(root().join("tests/interop/merge")))?;
        is_built = true;
        Ok(())
    });
    if is_built {
        let count = if long { COUNT_LONG } else { COUNT };
        report.step(&format!("{count} cases"), || compare(&program, count));
    }
}

fn compare(program: &Path, count: u64) -> Outcome {
    let output = Command::new("cargo")
        .args(["test", "--package", "kubist-field-manager", "--test", "it"])
        .args(["--", "--exact", "--nocapture"])
        .arg("upstream::field_sets_comparisons_and_merges_are_upstreams")
        .env("KUBIST_MERGE_PROGRAM", program)
        .env("KUBIST_MERGE_COUNT", count.to_string())
        .env("RUST_BACKTRACE", "0")
        .current_dir(root())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let agreed = text.lines().find(|line| line.ends_with("others agree"));
    if let (Some(agreed), true) = (agreed, output.status.success()) {
        eprintln!("          {agreed}");
        return Ok(());
    }
    eprintln!("{text}{}", String::from_utf8_lossy(&output.stderr));
    Err("the results differ from upstream's, as shown above".into())
}
