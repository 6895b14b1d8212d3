//! The build tool of the workspace. `cargo xtask --help` lists what it does.

mod codegen;
mod process;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Build, check and measure the workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Structural checks: layers, files, module docs (also run by `cargo test`)
    Tidy,
    /// Generate the API types and typed accessors from the schema
    Codegen(codegen::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Tidy => tidy::run(),
        Command::Codegen(options) => codegen::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
