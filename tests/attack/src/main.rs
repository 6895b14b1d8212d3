//! Runs hostile clients beside well-behaved ones, against a server of its own: `cargo xtask
//! attack`.
//!
//! Each `Attack` gets a new `kubist serve` on loopback. It creates the objects it needs, and then
//! attacks for a bounded time with a bounded number of clients, while well-behaved clients measure
//! latencies. The run prints the memory it cost, whether that was released, the latencies and the
//! rejections, and compares them with the table in `limits`.
//!
//! It knows the server from outside only: its program, its kubeconfig, HTTP, and the kernel's
//! counters. It uses no crate of the project, so that it does not share their defects.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for a terminal: results go to stdout, progress to stderr"
)]

mod access;
mod attack;
mod call;
mod connection;
mod fill;
mod honest;
mod latency;
mod limits;
mod memory;
mod report;
mod run;
mod server;
mod stage;
mod tally;

use attack::Attack;
use clap::Parser;
use serde_json::Value;
use server::Engine;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::time::Instant;

/// Any failure, as text for a person.
type Failure = Box<dyn std::error::Error + Send + Sync>;
/// What may fail so.
type Outcome<T = ()> = Result<T, Failure>;

/// Threads of the hostile clients; the well-behaved ones have their own.
const HOSTILE_THREADS: usize = 2;

/// Runs hostile clients beside well-behaved ones
#[derive(Debug, Parser)]
#[command(name = "cargo xtask attack")]
struct Arguments {
    /// Path of the server's program
    #[arg(long, value_name = "PATH")]
    kubist: PathBuf,
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

fn main() -> ExitCode {
    match play(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the selected attacks; returns true if no limit was exceeded.
fn play(arguments: &Arguments) -> Outcome<bool> {
    let attacks = chosen(&arguments.only)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(HOSTILE_THREADS).enable_all();
    runtime.build()?.block_on(play_all(arguments, &attacks))
}

async fn play_all(arguments: &Arguments, attacks: &[Attack]) -> Outcome<bool> {
    let begun = Instant::now();
    let options = run::Options {
        kubist: arguments.kubist.clone(),
        short: arguments.short,
        engine: arguments.engine,
    };
    let mut figures = Vec::new();
    let mut broken = 0;
    for attack in attacks {
        eprintln!("{}: {}", attack.name(), attack.about());
        let measured = Box::pin(run::play(*attack, &options)).await;
        let measured = measured.map_err(|error| format!("{}: {error}", attack.name()))?;
        print!("{}", report::text(&measured));
        broken += usize::from(!measured.broken.is_empty());
        figures.push(report::json(&measured));
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{} attacks in {seconds:.1} s, limits broken in {broken}",
        attacks.len()
    );
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&Value::Array(figures))?;
        std::fs::write(path, text + "\n")?;
    }
    Ok(broken == 0)
}

fn chosen(names: &[String]) -> Outcome<Vec<Attack>> {
    if names.is_empty() {
        return Ok(Attack::ALL.to_vec());
    }
    for name in names {
        if !Attack::ALL.iter().any(|it| it.name().starts_with(&**name)) {
            let known: Vec<&str> = Attack::ALL.iter().map(|it| it.name()).collect();
            return Err(format!("no attack is named {name}, only {}", known.join(", ")).into());
        }
    }
    let wanted = |it: &Attack| names.iter().any(|name| it.name().starts_with(&**name));
    Ok(Attack::ALL.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn options_go_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn attacks_are_chosen_by_how_their_names_begin() {
        let windows = chosen(&["closed-windows".to_owned()]).unwrap();
        assert_eq!(windows.len(), 6);
        assert_eq!(chosen(&[]).unwrap().len(), Attack::ALL.len());
        assert!(chosen(&["no-such".to_owned()]).is_err());
    }
}
