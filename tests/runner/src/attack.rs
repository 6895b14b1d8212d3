//! `cargo xtask attack`: plays hostile clients (`tests/attack`) beside honest ones against a
//! `kubist serve` of their own, and fails where a limit is broken.

use crate::interop::server;
use clap::{Args, ValueEnum};
use kubist_test_support::process::{self, Outcome};
use std::path::PathBuf;
use std::process::Command;

/// Options of `cargo xtask attack`.
#[derive(Args)]
pub(crate) struct Options {
    /// The server to attack; by default a release build of the workspace's
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Only attacks whose names begin so; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Smaller and within a minute in all, with wider limits: what CI runs
    #[arg(long)]
    short: bool,
    /// Where the server keeps its objects
    #[arg(long, value_enum, default_value_t = Engine::Memory)]
    engine: Engine,
    /// Also write the figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Engine {
    /// In memory
    Memory,
    /// In a folder
    Redb,
}

/// Builds the server, unless one is given, and the clients, and plays.
pub(crate) fn run(options: &Options) -> Outcome {
    let kubist = server::binary(options.kubist.as_deref())?;
    // Optimised, as what the clients cost is measured along with the server on a small machine.
    let mut command = Command::new("cargo");
    command
        .args(["run", "--quiet", "--release", "--package", "kubist-attack"])
        .arg("--")
        .arg("--kubist")
        .arg(kubist);
    for name in &options.only {
        command.args(["--only", name]);
    }
    if options.short {
        command.arg("--short");
    }
    let engine = match options.engine {
        Engine::Memory => "memory",
        Engine::Redb => "redb",
    };
    command.args(["--engine", engine]);
    if let Some(path) = &options.json {
        command
            .arg("--json")
            .arg(std::env::current_dir()?.join(path));
    }
    process::run_with(&mut command)
}
