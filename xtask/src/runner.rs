//! Delegates `bench`, `interop`, `attack`, `fidelity` and `soak` to the package `kubist-runner`
//! (`tests/runner`), so that building `xtask` does not build what these need.

use crate::process::{self, Outcome, root};
use clap::Args;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// The arguments of a delegated command, `--help` included.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<OsString>,
}

/// Runs the command with these arguments in the current folder, and returns its exit code.
pub(crate) fn delegate(command: &str, arguments: &Arguments) -> Outcome<ExitCode> {
    let status = cargo_run(command).args(&arguments.arguments).status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Runs the command as a step of CI.
pub(crate) fn run(command: &str, arguments: &[&str]) -> Outcome {
    process::run_with(cargo_run(command).args(arguments))
}

fn cargo_run(command: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["run", "--quiet", "--package", "kubist-runner"])
        .arg("--manifest-path")
        .arg(root().join("Cargo.toml"))
        .args(["--", command]);
    cargo
}
