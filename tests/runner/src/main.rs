//! Builds programs and runs them against each other: benchmarks, interoperability tests, attacks,
//! differential tests and a soak. `cargo xtask bench`, `interop`, `attack`, `fidelity` and `soak`
//! start it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program: results go to stdout, progress to stderr"
)]

mod attack;
mod bench;
mod fidelity;
mod interop;
mod running;
mod soak;
mod test_program;
mod upstream;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Run Kubist's programs against other programs"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run benchmarks of Kubist, client-go and kube-rs side by side
    Bench(bench::Options),
    /// Test the server with kubectl, client-go, kube-rs and etcd
    Interop(interop::Options),
    /// Run hostile clients beside well-behaved ones and check what they cost
    Attack(attack::Options),
    /// Send the same random requests to a kube-apiserver and to Kubist's server
    Fidelity(fidelity::Options),
    /// Run a large simulated cluster for an hour while servers are killed, or compare its CPU
    Soak(soak::Options),
    /// The part `e2e-webhooks` within a network namespace of its own, which that part starts
    #[command(hide = true)]
    E2eWebhooksWithin(interop::Within),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Bench(options) => bench::run(&options),
        Command::Interop(options) => interop::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Attack(options) => attack::run(&options).map(|()| ExitCode::SUCCESS),
        Command::E2eWebhooksWithin(options) => {
            interop::run_within(&options).map(|()| ExitCode::SUCCESS)
        }
        Command::Fidelity(options) => fidelity::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Soak(options) => soak::run(&options).map(|()| ExitCode::SUCCESS),
    };
    match result {
        Ok(code) => code,
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
