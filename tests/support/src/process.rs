//! Child processes, run in the workspace root.

#![expect(
    clippy::print_stderr,
    reason = "each command is shown on stderr before it runs"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The result of a task of a tool: any error, as text for a person.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Returns the workspace root.
///
/// # Panics
///
/// Never: this package is two folders below the root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("this package is two folders below the root")
        .to_path_buf()
}

/// Runs a program in the workspace root, with its output shown.
///
/// # Errors
///
/// When the program cannot be started or fails.
pub fn run(program: &str, arguments: &[&str]) -> Outcome {
    run_with(Command::new(program).args(arguments))
}

/// Runs a prepared command, in the workspace root unless it has a folder of its own.
///
/// # Errors
///
/// When the program cannot be started or fails.
pub fn run_with(command: &mut Command) -> Outcome {
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

/// Runs a program in the workspace root and returns its standard output.
///
/// # Errors
///
/// When the program cannot be started, fails, or prints text that is not UTF-8.
pub fn output(program: &str, arguments: &[&str]) -> Outcome<String> {
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
