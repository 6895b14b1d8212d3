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
