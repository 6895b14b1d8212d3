//! The components of Kubist's client half, measured without a network: the indexer, the work queue,
//! an informer with many handlers, and an informer on a recorded watch. Prints a line of JSON for
//! each case.

mod alone;
mod apply;
mod cache;
mod fanout;
mod limits;
mod queue;
mod queue_limits;

use clap::{Parser, Subcommand};

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    Apply(apply::Options),
    Cache(cache::Options),
    Queue(queue::Options),
    Fanout(fanout::Options),
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    match Arguments::parse().part {
        Part::Apply(options) => apply::run(&options),
        Part::Cache(options) => cache::run(&options),
        Part::Queue(options) => queue::run(&options),
        Part::Fanout(options) => fanout::run(&options),
    }
}

/// A runtime with a thread for each core.
fn runtime() -> Result<tokio::runtime::Runtime, std::io::Error> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
}
