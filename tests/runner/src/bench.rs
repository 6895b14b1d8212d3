//! `cargo xtask bench`: benchmarks of Kubist and its peers, in one run on one machine.
//!
//! The Rust peers are packages of the workspace in `bench/`. Each is built by itself, so that
//! features of a shared dependency that one peer enables do not affect another. client-go is the
//! module in `bench/go-peer`. One process is measured at a time.

mod apply;
mod cache;
mod chart;
mod check;
mod codec;
mod document;
mod fanout;
mod figure;
mod informer;
pub(crate) mod machine;
mod peers;
mod queue;
mod replayed;
mod report;
mod rounds;
mod samples;
mod server;
pub(crate) mod table;
mod verdict;
mod workloads;

use clap::{Args, Subcommand};
use kubist_test_support::process::Outcome;
use peers::{Building, Peers};
use report::{Finding, Output, Report};
use rounds::Rounds;
use std::process::ExitCode;

/// Options of `cargo xtask bench`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    benchmark: Benchmark,
    #[command(flatten)]
    building: Building,
    #[command(flatten)]
    rounds: Rounds,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum Benchmark {
    /// All benchmarks below, one after another
    All(All),
    /// Initial sync, updates and relist of an informer, against `kubist serve`
    Informer(informer::Options),
    /// One watch event, from the bytes of the response to the handler
    Apply(apply::Options),
    /// Objects that nothing was tuned to, as recorded watches: 200,000 small ones, and large ones
    Workloads(workloads::Options),
    /// The store of an informer: writes, look-ups, selectors, readers during writes
    Cache(cache::Options),
    /// The work queue
    Queue(queue::Options),
    /// One informer with many handlers
    Fanout(fanout::Options),
    /// Decoding and encoding Pods
    Codec(codec::Options),
    /// `kubist serve` on each storage engine, with etcd for comparison: start, lists, watches,
    /// writes, server-side apply
    Server(server::Options),
}

/// Options of `cargo xtask bench all`: those of its benchmarks.
#[derive(Args)]
struct All {
    #[command(flatten)]
    informer: informer::Options,
    #[command(flatten)]
    queue: queue::Options,
    #[command(flatten)]
    fanout: fanout::Options,
}

/// The exit code after `--check` found that something became worse. Errors have 1, and wrong
/// arguments 2.
const WORSE: u8 = 3;

/// Builds the programs, measures, prints the results, and compares them with a stored run.
pub(crate) fn run(options: &Options) -> Outcome<ExitCode> {
    let stored = options.output.stored()?;
    let rounds = options.rounds;
    // Everything is built before the first measurement.
    let packages = match &options.benchmark {
        Benchmark::Server(_) => &server::PACKAGES[..],
        _ => &peers::PACKAGES[..],
    };
    let peers = Peers::build(&options.building, packages)?;
    let reports = match &options.benchmark {
        Benchmark::All(all) => run_all(&peers, all, rounds)?,
        Benchmark::Informer(options) => informer::run(&peers, options)?,
        Benchmark::Apply(options) => vec![apply::run(&peers, options, rounds)?],
        Benchmark::Workloads(options) => vec![workloads::run(&peers, options, rounds)?],
        Benchmark::Cache(options) => vec![cache::run(&peers, options, rounds)?],
        Benchmark::Queue(options) => vec![queue::run(&peers, options, rounds)?],
        Benchmark::Fanout(options) => vec![fanout::run(&peers, options, rounds)?],
        Benchmark::Codec(options) => vec![codec::run(&peers, options, rounds)?],
        Benchmark::Server(options) => server::run(&peers, options)?,
    };
    let finding = report::emit(&reports, &options.output, stored.as_ref())?;
    Ok(match finding {
        Finding::Fine => ExitCode::SUCCESS,
        Finding::Worse => ExitCode::from(WORSE),
    })
}

fn run_all(peers: &Peers, all: &All, rounds: Rounds) -> Outcome<Vec<Report>> {
    let (objects, updates) = (all.informer.objects(), all.informer.updates());
    let mut reports = informer::run(peers, &all.informer)?;
    reports.extend([
        apply::run(peers, &apply::Options::of(objects, updates), rounds)?,
        workloads::run(peers, &workloads::Options::all(), rounds)?,
        cache::run(peers, &cache::Options::of(objects), rounds)?,
        queue::run(peers, &all.queue, rounds)?,
        fanout::run(peers, &all.fanout, rounds)?,
        codec::run(peers, &codec::Options::default(), rounds)?,
    ]);
    Ok(reports)
}
