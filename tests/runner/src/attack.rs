//! `cargo xtask attack`: runs hostile clients (`tests/attack`) beside well-behaved ones against a
//! `kubist serve`, and fails if a limit is exceeded.

use crate::interop::server;
use clap::{Args, ValueEnum};
use kubist_test_support::process::{self, Outcome};
use std::path::PathBuf;
use std::process::Command;

/// Options of `cargo xtask attack`.
#[derive(Args)]
pub(crate) struct Options {
    /// The server to attack [default: a release build of this workspace]
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Only attacks whose names begin with this; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Run smaller attacks with wider limits, in less than a minute, as CI does
    #[arg(long)]
    short: bool,
    /// Where the server stores its objects
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

/// Builds the server, unless one is given, and the clients, and runs them.
pub(crate) fn run(options: &Options) -> Outcome {
    let kubist = server::binary(options.kubist.as_deref())?;
    // Optimised: on a small machine the clients' own cost affects what is measured.
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
