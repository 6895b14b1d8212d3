//! Test executables of the workspace, for runs that set their environment variables.

use kubist_test_support::process::{self, Outcome};
use std::path::PathBuf;

/// Builds the test executable of this name and returns its path.
///
/// Cargo builds it as `cargo test --workspace` does, so that nothing is built twice.
pub(crate) fn build(name: &str) -> Outcome<PathBuf> {
    build_below(name, "")
}

/// Builds a package's test executable, for names that several packages have.
pub(crate) fn build_of(package: &str, name: &str) -> Outcome<PathBuf> {
    build_below(name, &format!("/crates/{package}/tests/"))
}

fn build_below(name: &str, folder: &str) -> Outcome<PathBuf> {
    let selection = ["test", "--workspace", "--test", name];
    let form = ["--no-run", "--message-format=json"];
    let messages = process::output("cargo", &[&selection[..], &form].concat())?;
    let executable = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let target = &message["target"];
        let source = target["src_path"].as_str()?;
        let is_it = target["name"] == name && source.contains(folder);
        let path = message["executable"].as_str().filter(|_| is_it)?;
        Some(PathBuf::from(path))
    });
    executable.ok_or_else(|| format!("cargo built no test executable named {name}").into())
}
