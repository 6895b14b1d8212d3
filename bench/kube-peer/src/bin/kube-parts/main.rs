//! The components of kube's client half, measured without a network: the reflector's store, the
//! scheduler of delayed requests, a shared reflector with many subscribers, and a reflector on a
//! recorded watch. Prints a line of JSON for each case.

mod apply;
mod cache;
mod delayed;
mod fanout;

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
    Queue(delayed::Options),
    Fanout(fanout::Options),
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    match Arguments::parse().part {
        Part::Apply(options) => apply::run(&options),
        Part::Cache(options) => cache::run(&options),
        Part::Queue(options) => delayed::run(&options),
        Part::Fanout(options) => fanout::run(&options),
    }
}
