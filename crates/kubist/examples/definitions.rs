//! Measures what definitions of custom resources cost: `cargo run --release -p kubist --example
//! definitions`.
//!
//! It runs a server in this process, with the allocator of the command and a counter around it. It
//! creates definitions one after another, each with a schema and rules of its own, and waits until
//! each is served; then it deletes them all, and does both again, so that a leak shows. Two figures
//! are printed: live bytes, which are allocated and not yet freed, and resident memory, which also
//! has what the allocator keeps for later. The client that creates them is in both, and constant.

#![expect(clippy::print_stdout, reason = "its results")]

#[path = "definitions/definition.rs"]
mod definition;
#[path = "definitions/phases.rs"]
mod phases;

use cap::Cap;
use clap::{Parser, ValueEnum};
use kubist::{Controller, Server, ServerConfig};
use phases::Bench;
use std::collections::BTreeSet;
use tikv_jemallocator::Jemalloc;

/// Counts what the command's allocator has handed out.
#[global_allocator]
static LIVE: Cap<Jemalloc> = Cap::new(Jemalloc, usize::MAX);

/// Any failure.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Debug, Parser)]
struct Arguments {
    /// The number of definitions
    #[arg(long, default_value_t = 1_000)]
    count: usize,
    /// Definitions in each group
    #[arg(long, default_value_t = 20)]
    group_size: usize,
    /// How often they are created and deleted
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// The server's own controllers: garbage collection and namespaces
    #[arg(long, default_value = "on")]
    controllers: Switch,
    /// Watch caches, which etcd has by default
    #[arg(long, default_value = "off")]
    watch_caches: Switch,
    /// Events that the store keeps; by default so few that they count for nothing. A server keeps
    /// them for ten minutes
    #[arg(long, default_value_t = 100)]
    history: usize,
    /// Seconds after each phase: the server drops what was not used for 20
    #[arg(long, default_value_t = 25)]
    settle: u64,
    /// Also read all documents of discovery and of OpenAPI
    #[arg(long)]
    documents: bool,
    /// Also create an object of each kind, and delete it again with the definition
    #[arg(long)]
    objects: bool,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let controllers = match arguments.controllers {
        Switch::On => Controller::USUAL.into(),
        Switch::Off => BTreeSet::new(),
    };
    let server = Server::start(ServerConfig {
        controllers,
        history_events_max: arguments.history,
        watch_cache: Some(arguments.watch_caches == Switch::On),
        ..ServerConfig::default()
    })
    .await?;
    let bench = Bench::new(server.client(), &arguments);
    bench.run().await?;
    server.shutdown().await;
    Ok(())
}
