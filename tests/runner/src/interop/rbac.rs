//! Compares decisions about roles with those of Kubernetes' own authorizer, and the checks against
//! escalation, which a program links as a library; a test of `kubist-authorization` runs it.

use super::merge::{compare, tests_of};
use super::report::Report;
use kubist_test_support::process::{self, root};
use std::path::Path;
use std::process::Command;

/// The part's name, for `--only`.
pub(super) const PART: &str = "rbac";
/// The number of decisions.
const COUNT: u64 = 20_000;
/// The number of decisions of a long run.
const COUNT_LONG: u64 = 100_000;

/// Builds the program and compares.
pub(super) fn run(long: bool, scratch: &Path, report: &mut Report) {
    let program = scratch.join("rbac");
    let mut is_built = false;
    report.step("Kubernetes' RBAC authorizer builds", || {
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).arg("./rbac");
        process::run_with(go.current_dir(root().join("tests/interop/kube-apiserver")))?;
        is_built = true;
        Ok(())
    });
    let count = if long { COUNT_LONG } else { COUNT };
    if is_built {
        report.step(&format!("{count} decisions"), || {
            let mut tests = tests_of("kubist-authorization", &["upstream::"]);
            tests.env("KUBIST_RBAC_PROGRAM", &program);
            tests.env("KUBIST_RBAC_COUNT", count.to_string());
            compare(&mut tests)
        });
    }
}
