//! The build tool of the workspace. `cargo xtask --help` lists what it does.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for a terminal: results go to stdout, progress to stderr"
)]

mod attack;
mod bench;
mod ci;
mod codegen;
mod fidelity;
mod fuzz;
mod interop;
mod process;
mod sim;
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
    /// Everything that CI runs, in its order
    Ci(ci::Options),
    /// The server against other programs: kubectl, client-go
    Interop(interop::Options),
    /// Random inputs for everything that decodes what others have written
    Fuzz(fuzz::Options),
    /// Benchmarks with peers side by side
    Bench(bench::Options),
    /// Hostile clients beside honest ones, with limits on what they may cost
    Attack(attack::Options),
    /// The same random requests to a kube-apiserver and to ours
    Fidelity(fidelity::Options),
    /// The whole system on virtual time, with faults, by seeds
    Sim(sim::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Tidy => tidy::run(),
        Command::Codegen(options) => codegen::run(&options),
        Command::Ci(options) => ci::run(&options),
        Command::Interop(options) => interop::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Attack(options) => attack::run(&options),
        Command::Fidelity(options) => fidelity::run(&options),
        Command::Sim(options) => sim::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn options_of_all_commands_go_together() {
        super::Arguments::command().debug_assert();
    }
}
