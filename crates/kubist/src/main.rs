//! The `kubist` command: an API server, a watch and a converter in one program.

mod command;

use std::process::ExitCode;

use clap::Parser;

use crate::command::Command;

/// Kubernetes API machinery in Rust: serve it, watch it, convert it, see it work.
#[derive(Debug, Parser)]
#[command(name = "kubist", version, about, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(code) => code,
        Err(error) => {
            command::report(&*error);
            ExitCode::FAILURE
        }
    }
}
