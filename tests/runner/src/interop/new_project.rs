//! Builds and tests what `kubist new` makes, without the network, as its user would.
//!
//! It is outside of the workspace, with the workspace's lock file: nothing is downloaded that this
//! build has not.

use super::report::Report;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name.
pub(super) const PART: &str = "new";

/// The project: a name of several words, and a group that is not the default.
const NAME: &str = "cache-cluster-operator";

/// Makes a project, then runs each step of its first hour.
pub(super) fn run(binary: &Path, scratch: &Path, report: &mut Report) {
    let folder = scratch.join("new");
    let project = folder.join(NAME);
    let cargo = |arguments: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo
            .args(arguments)
            .env("CARGO_TARGET_DIR", scratch.join("new-target"))
            .current_dir(&project);
        cargo
    };
    report.step("kubist new", || make(binary, &folder));
    report.step("cargo fmt --check", || {
        process::run_with(&mut cargo(&["fmt", "--check"]))
    });
    report.step("cargo test", || {
        process::run_with(&mut cargo(&["test", "--offline", "--quiet"]))
    });
    report.step("its manifests are YAML of all that it needs", || {
        let arguments = ["run", "--offline", "--quiet", "--", "manifests", "image:1"];
        let output = cargo(&arguments).output()?;
        let text = String::from_utf8(output.stdout)?;
        let kinds: Vec<&str> = text.lines().filter(|it| it.starts_with("kind: ")).collect();
        if output.status.success() && kinds.len() == 8 {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{kinds:?}: {errors}").into())
    });
}

fn make(binary: &Path, folder: &Path) -> Outcome {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    let mut new = Command::new(binary);
    new.current_dir(folder).args(["new", NAME]);
    new.args(["--group", "cache.example.org", "--path"]);
    process::run_with(new.arg(root()))?;
    let project = folder.join(NAME);
    std::fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock"))?;
    // It is inside of this workspace's folder, and no member.
    let manifest = project.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest)? + "\n[workspace]\n";
    Ok(std::fs::write(manifest, text)?)
}
