//! Running other programs, and where the workspace is.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Any failure, as text for a person.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
        .to_path_buf()
}

/// Runs a program in the root with its output shown; fails when it fails.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Outcome {
    run_with(Command::new(program).args(arguments))
}

/// Runs a prepared command in the root, or where it says.
pub(crate) fn run_with(command: &mut Command) -> Outcome {
    if command.get_current_dir().is_none() {
        command.current_dir(root());
    }
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("$ {shown}");
    let status = command
        .status()
        .map_err(|error| format!("{shown}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{shown}: {status}").into())
    }
}

/// What a program prints; fails when it fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Outcome<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{program} {}: {message}", arguments.join(" ")).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// A test program of the workspace, built as `cargo test --workspace` builds it, so that nothing is
/// built twice.
pub(crate) fn test_program(name: &str) -> Outcome<PathBuf> {
    test_program_below(name, "")
}

/// The same of one of the crates, where several have a test program of that name.
pub(crate) fn package_test_program(package: &str, name: &str) -> Outcome<PathBuf> {
    test_program_below(name, &format!("/crates/{package}/tests/"))
}

fn test_program_below(name: &str, folder: &str) -> Outcome<PathBuf> {
    let selection = ["test", "--workspace", "--test", name];
    let manner = ["--no-run", "--message-format=json"];
    let built = output("cargo", &[&selection[..], &manner].concat())?;
    let executable = built.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let target = &message["target"];
        let source = target["src_path"].as_str()?;
        let is_it = target["name"] == name && source.contains(folder);
        let path = message["executable"].as_str().filter(|_| is_it)?;
        Some(PathBuf::from(path))
    });
    executable.ok_or_else(|| format!("cargo built no test program named {name}").into())
}
