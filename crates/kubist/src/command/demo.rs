//! `kubist demo`: runs an application, breaks, scales, updates and removes it, with controllers
//! that use only the client crates, on a server in this process.

mod application;
mod availability;
mod error;
mod fill;
mod play;
mod pods;
mod progress;
mod report;
mod simulation;
mod stage;
mod steps;
mod verify;

use self::error::DemoError;
use self::play::Play;
use self::progress::Progress;
use self::report::Report;
use super::{Outcome, signal, units, values};
use clap::{Args, ValueEnum};
use kubist::{Server, ServerConfig};
use kubist_apimachinery::with_causes;
use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Args, Debug)]
#[command(after_help = "\
Needs only this program: the server runs in process, on a free port of the loopback address, and
ends with it. Each step is verified through the API; the exit code is 0 only if all steps succeed.

Examples:
  kubist demo
  kubist demo --objects 20000
  kubist demo --output json | tail -1 | jq .eventToReconcileMs
  kubist demo --keep        # then, elsewhere: kubectl get pods -n shop")]
pub(crate) struct Options {
    /// Create N Pods first, so that caches are large
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = values::non_negative::<u32>,
        allow_negative_numbers = true
    )]
    objects: u32,
    /// Keep serving afterwards, until Ctrl-C
    #[arg(long)]
    keep: bool,
    /// The kubeconfig file that --keep writes
    #[arg(
        long,
        value_name = "FILE",
        default_value = "kubist.kubeconfig",
        requires = "keep"
    )]
    kubeconfig: PathBuf,
    /// The format of the report
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
    /// The start-up time of a Pod in milliseconds; stopping takes half of it
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 250,
        value_parser = values::non_negative::<u64>,
        allow_negative_numbers = true
    )]
    pod_start: u64,
    /// The seed of the Pods of --objects
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        value_parser = values::non_negative::<u64>,
        allow_negative_numbers = true
    )]
    seed: u64,
}

impl Options {
    fn pod_start(&self) -> Duration {
        Duration::from_millis(self.pod_start)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A summary
    Text,
    /// A JSON object on the last line; progress goes to standard error
    Json,
}

pub(crate) async fn run(options: Options) -> Outcome {
    let started = Instant::now();
    let mut signals = signal::listen()?;
    let progress = Progress::new(options.output == Output::Json);
    let mut report = Report::default();
    let server = Server::start(ServerConfig::default()).await?;
    let mut play = Play::new(&server, &progress, &mut report, &options);
    let played = tokio::select! {
        played = play.run() => played,
        _ = signals.next() => Err(DemoError::Interrupted),
    };
    play.figures();
    let simulation = play.into_simulation();
    report.ok = played.is_ok();
    report.error = played.as_ref().err().map(|error| with_causes(error));
    report.wall_seconds = started.elapsed().as_secs_f64();
    finish(&report, &progress, options.output)?;
    if options.keep && report.ok {
        keep(&server, &options, &progress)?;
        signals.next().await;
    }
    if let Some(simulation) = simulation {
        simulation.stop().await;
    }
    server.shutdown().await;
    played?;
    Ok(ExitCode::SUCCESS)
}

fn finish(report: &Report, progress: &Progress, output: Output) -> std::io::Result<()> {
    let verdict = if report.ok {
        "Every step was verified."
    } else {
        "Not every step succeeded."
    };
    progress.line("");
    progress.line(verdict);
    for line in report.lines() {
        progress.line(&line);
    }
    if output == Output::Json {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, report)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

fn keep(server: &Server, options: &Options, progress: &Progress) -> Result<(), Box<dyn Error>> {
    server.write_kubeconfig(&options.kubeconfig)?;
    let path = std::path::absolute(&options.kubeconfig)?;
    progress.line("");
    progress.line(&format!(
        "The server at {} keeps running until Ctrl-C:",
        server.url()
    ));
    progress.line(&format!("export KUBECONFIG={}", path.display()));
    Ok(())
}
