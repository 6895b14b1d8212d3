//! Checks that `crates/kinds/tests/reset-fields.txt` has the fields that upstream's REST storages
//! reset. The program in `tests/interop/reset-fields` creates the storages and prints the fields;
//! tests of `kubist-kinds` and `kubist-registry` compare ours with the file.
//!
//! The file depends only on upstream's version, and the program links most of a kube-apiserver,
//! which takes minutes without a Go build cache. Therefore only long runs have this part.

use super::Options;
use super::report::Report;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name, for `--only`.
const PART: &str = "reset-fields";
/// The program's output.
const FILE: &str = "crates/kinds/tests/reset-fields.txt";

/// Runs the part in a long run, or if only it is wanted; reports the latter.
pub(super) fn part(
    options: &Options,
    go: bool,
    scratch: &Path,
    report: &mut Report,
) -> Outcome<bool> {
    let is_only = options.only.as_deref() == Some(PART);
    if is_only || (options.long && options.wants(PART)) {
        report.part_if(go, PART, |report| {
            report.step("the fields of all kinds", || compare(scratch));
            Ok(())
        })?;
    }
    Ok(is_only)
}

fn compare(scratch: &Path) -> Outcome {
    let program = scratch.join("reset-fields");
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&program).arg(".");
    process::run_with(go.current_dir(root().join("tests/interop/reset-fields")))?;
    let output = Command::new(program).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let found = String::from_utf8(output.stdout)?;
    let known = std::fs::read_to_string(root().join(FILE))?;
    if found == known {
        return Ok(());
    }
    for line in found
        .lines()
        .filter(|it| !known.lines().any(|known| known == *it))
    {
        eprintln!("          upstream: {line}");
    }
    for line in known
        .lines()
        .filter(|it| !found.lines().any(|found| found == *it))
    {
        eprintln!("          the file: {line}");
    }
    Err(format!("{FILE} differs from upstream, as shown above").into())
}
