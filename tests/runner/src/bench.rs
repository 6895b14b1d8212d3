//! `cargo xtask bench`: benchmarks of Kubist and its peers, in one run on one machine.
//!
//! The Rust peers are packages of the workspace in `bench/`. Each is built by itself, so that
//! features of a shared dependency that one peer enables do not affect another. client-go is the
//! module in `bench/go-peer`. One process is measured at a time.

mod apply;
mod cache;
mod chart;
mod codec;
mod document;
mod fanout;
mod informer;
mod machine;
mod peers;
mod queue;
mod report;
mod server;
mod table;
mod target;

use clap::{Args, Subcommand};
use kubist_test_support::process::Outcome;
use peers::{Building, Peers};
use report::{Output, Report};

/// Options of `cargo xtask bench`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    benchmark: Benchmark,
    #[command(flatten)]
    building: Building,
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

/// Builds the programs, measures, and prints the results.
pub(crate) fn run(options: &Options) -> Outcome {
    // Everything is built before the first measurement.
    let packages = match &options.benchmark {
        Benchmark::Server(_) => &server::PACKAGES[..],
        _ => &peers::PACKAGES[..],
    };
    let peers = Peers::build(&options.building, packages)?;
    let reports = match &options.benchmark {
        Benchmark::All(all) => run_all(&peers, all)?,
        Benchmark::Informer(options) => vec![informer::run(&peers, options)?],
        Benchmark::Apply(options) => vec![apply::run(&peers, options)?],
        Benchmark::Cache(options) => vec![cache::run(&peers, options)?],
        Benchmark::Queue(options) => vec![queue::run(&peers, options)?],
        Benchmark::Fanout(options) => vec![fanout::run(&peers, options)?],
        Benchmark::Codec(options) => vec![codec::run(&peers, options)?],
        Benchmark::Server(options) => server::run(&peers, options)?,
    };
    report::emit(&reports, &options.output)
}

fn run_all(peers: &Peers, all: &All) -> Outcome<Vec<Report>> {
    let (objects, updates) = (all.informer.objects(), all.informer.updates());
    Ok(vec![
        informer::run(peers, &all.informer)?,
        apply::run(peers, &apply::Options::of(objects, updates))?,
        cache::run(peers, &cache::Options::of(objects))?,
        queue::run(peers, &all.queue)?,
        fanout::run(peers, &all.fanout)?,
        codec::run(peers, &codec::Options::default())?,
    ])
}
