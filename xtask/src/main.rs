//! The build tool of the workspace. `cargo xtask --help` lists its commands.

#![expect(
    clippy::print_stderr,
    reason = "a command-line program: progress and errors go to stderr"
)]

mod ci;
mod codegen;
mod fuzz;
mod metadata;
mod platforms;
mod runner;
mod sim;
mod tidy;

use clap::{Parser, Subcommand};
use kubist_test_support::process;
use process::Outcome;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Build, check and measure the workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the structure: layers, files, manifests, module docs (`cargo test` does so, too)
    Tidy,
    /// Generate the API types and typed accessors from the schema
    Codegen(codegen::Options),
    /// Run everything that CI runs
    Ci(ci::Options),
    /// Feed random input to every decoder
    Fuzz(fuzz::Options),
    /// Simulate clients and server on virtual time, with seeded faults
    Sim(sim::Options),
    /// Run benchmarks of Kubist, client-go and kube-rs side by side
    Bench(runner::Arguments),
    /// Test the server with kubectl, client-go, kube-rs and etcd
    Interop(runner::Arguments),
    /// Run hostile clients beside well-behaved ones and check what they cost
    Attack(runner::Arguments),
    /// Send the same random requests to a kube-apiserver and to Kubist's server
    Fidelity(runner::Arguments),
    /// Run a large simulated cluster for an hour while servers are killed, or compare its CPU
    Soak(runner::Arguments),
}

fn main() -> ExitCode {
    match run(&Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Outcome<ExitCode> {
    match command {
        Command::Tidy => tidy::run()?,
        Command::Codegen(options) => codegen::run(options)?,
        Command::Ci(options) => ci::run(options)?,
        Command::Fuzz(options) => fuzz::run(options)?,
        Command::Sim(options) => sim::run(options)?,
        Command::Bench(arguments) => return runner::delegate("bench", arguments),
        Command::Interop(arguments) => return runner::delegate("interop", arguments),
        Command::Attack(arguments) => return runner::delegate("attack", arguments),
        Command::Fidelity(arguments) => return runner::delegate("fidelity", arguments),
        Command::Soak(arguments) => return runner::delegate("soak", arguments),
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn options_of_all_commands_go_together() {
        super::Arguments::command().debug_assert();
    }
}
