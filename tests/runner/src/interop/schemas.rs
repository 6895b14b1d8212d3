//! Compares what schemas of custom resources mean with upstream's code, which the program in
//! `tests/interop/schemas` links as a library; a test of `kubist-schema` runs it: errors of
//! definitions and of objects, pruning, defaults, and metadata of embedded resources.

use super::merge::{build, compare, tests_of};
use super::report::Report;
use std::path::Path;

/// The part's name, for `--only`.
pub(super) const PART: &str = "schemas";
/// The number of cases.
const COUNT: u64 = 2_000;
/// The number of cases of a long run.
const COUNT_LONG: u64 = 200_000;

/// Builds the program and compares.
pub(super) fn run(long: bool, scratch: &Path, report: &mut Report) {
    let Some(program) = build("schemas", "upstream's schemas", scratch, report) else {
        return;
    };
    let count = if long { COUNT_LONG } else { COUNT };
    report.step(&format!("{count} cases"), || {
        let mut tests = tests_of("kubist-schema", &["upstream::"]);
        tests.env("KUBIST_SCHEMAS_PROGRAM", &program);
        tests.env("KUBIST_SCHEMAS_COUNT", count.to_string());
        compare(&mut tests)
    });
}
