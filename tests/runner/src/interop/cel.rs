//! Compares CEL with Kubernetes' own, which a program links as a library; tests of `kubist-cel` run it.
//!
//! - The conformance cases of the CEL specification, which come with a Go module.
//! - Random expressions over random variables, and rules over random objects of structural schemas:
//!   values, errors, types, costs and estimates.

use super::report::Report;
use kubist_test_support::process::{self, Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "cel";
/// The number of random expressions.
const COUNT: u64 = 10_000;
/// The number of random expressions of a long run.
const COUNT_LONG: u64 = 200_000;

/// Builds the program and compares.
pub(super) fn run(long: bool, scratch: &Path, report: &mut Report) {
    let folder = root().join("tests/interop/cel");
    let program = scratch.join("cel");
    let mut is_built = false;
    report.step("Kubernetes' CEL builds", || {
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).arg(".");
        process::run_with(go.current_dir(&folder))?;
        is_built = true;
        Ok(())
    });
    if !is_built {
        return;
    }
    let count = if long { COUNT_LONG } else { COUNT };
    report.step(&format!("conformance cases and {count} expressions"), || {
        compare(&program, &conformance(&folder)?, count)
    });
}

/// Returns the folder with the conformance cases, in the module's cache.
fn conformance(folder: &Path) -> Outcome<PathBuf> {
    let mut go = Command::new("go");
    go.args(["list", "-m", "-f", "{{.Dir}}", "cel.dev/expr"]);
    let output = go.current_dir(folder).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(Path::new(text.trim()).join("tests/simple/testdata"))
}

/// Runs the tests and shows the lines that count what agrees, or else all output.
fn compare(program: &Path, conformance: &Path, count: u64) -> Outcome {
    let output = Command::new("cargo")
        .args(["test", "--package", "kubist-cel", "--test", "it"])
        .args(["--", "--nocapture", "upstream"])
        .env("RUST_BACKTRACE", "0")
        .env("KUBIST_CEL_PROGRAM", program)
        .env("KUBIST_CEL_CONFORMANCE", conformance)
        .env("KUBIST_CEL_COUNT", count.to_string())
        .current_dir(root())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut agreed = text.lines().filter(|it| it.ends_with(" agree")).peekable();
    if output.status.success() && agreed.peek().is_some() {
        agreed.for_each(|line| eprintln!("          {}", line.trim_start_matches('.')));
        return Ok(());
    }
    eprintln!("{text}{}", String::from_utf8_lossy(&output.stderr));
    Err("the results differ from upstream's, as shown above".into())
}
