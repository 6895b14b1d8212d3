//! Compares CEL with Kubernetes' own, which a program links as a library; tests of `kubist-cel`
//! run it.
//!
//! - The conformance cases of the CEL specification, which come with a Go module.
//! - The rules of definitions that come with a Go module (gateway-api's among them), over random
//!   objects, and random expressions over random variables.
//!
//! Values, errors, types, costs and estimates are compared.

use super::cluster::go_module;
use super::report::Report;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "cel";
/// The number of random expressions.
const COUNT: u64 = 10_000;
/// The number of random expressions of a long run.
const COUNT_LONG: u64 = 200_000;

/// Files with definitions, in the module of custom resources.
const DEFINITIONS: [&str; 2] = [
    "test/integration/ratcheting_test_cases/crds/standard-install.yaml",
    "pkg/test/example/apiexports_crd.yaml",
];

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
    report.step(
        &format!("conformance cases and {count} expressions"),
        || compare(&program, count),
    );
}

/// Runs the tests and shows the lines that count what agrees, or else all output.
fn compare(program: &Path, count: u64) -> Outcome {
    let conformance = go_module(PART, "cel.dev/expr")?.join("tests/simple/testdata");
    let extensions = go_module(PART, "k8s.io/apiextensions-apiserver")?;
    let definitions = DEFINITIONS.map(|it| extensions.join(it));
    let output = Command::new("cargo")
        .args(["test", "--package", "kubist-cel", "--test", "it"])
        .args(["--", "--nocapture", "upstream"])
        .env("RUST_BACKTRACE", "0")
        .env("KUBIST_CEL_PROGRAM", program)
        .env("KUBIST_CEL_CONFORMANCE", conformance)
        .env("KUBIST_CEL_DEFINITIONS", std::env::join_paths(definitions)?)
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
