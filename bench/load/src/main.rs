//! Loads a server and measures it from outside: lists, many watchers, writes, applies, and their
//! costs as the number of objects grows.
//!
//! It sends and reads bytes without decoding them, so that its own cost is small; the server's CPU
//! time is the kernel's. Prints a line of JSON for each case.

mod access;
mod apply;
mod custom;
mod deployment;
mod floor;
mod grow;
mod hook;
mod key;
mod kv;
mod lags;
mod list;
mod measured;
mod process;
mod ready;
mod scale;
mod server;
mod tls;
mod watch;
mod write;

use clap::{Parser, Subcommand};
use process::Process;
use server::Server;
use std::path::PathBuf;
use tokio::runtime::Builder;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// The process id of the server
    #[arg(long, global = true, default_value_t = 0)]
    pid: u32,
    /// The process id of the server's storage, such as etcd
    #[arg(long, global = true, default_value_t = 0)]
    beside: u32,
}

#[derive(Subcommand)]
enum Command {
    /// Read a collection completely
    List(list::Options),
    /// Let many watchers follow updates
    Watch(watch::Options),
    /// Create and update objects
    Write(write::Options),
    /// Apply a Deployment with three managers, and create and update objects with managed fields
    /// and without
    Apply(apply::Options),
    /// Create, update and read custom resources with large schemas and rules
    Custom(custom::Options),
    /// Create and read objects as a service account, with roles, webhooks, a quota and a policy
    Access(access::Options),
    /// Create more and more objects, and measure each operation
    Grow(grow::Options),
    /// Renew the leases of many nodes beside many Pods and watching kubelets
    Scale(scale::Options),
    /// Write to etcd itself
    Kv(kv::Options),
    /// Wait until the server answers
    Ready(ready::Options),
    /// Serve as an admission webhook
    Hook,
    /// Serve as a server that keeps nothing, which shows what requests cost at least
    Floor,
    /// Print a new private key
    Key,
}

/// Any failure.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    // As many threads as a server has; the load itself takes one.
    let mut runtime = match arguments.command {
        Command::Floor => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    runtime.enable_all().build()?.block_on(run(arguments))
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let process = Process(arguments.pid);
    let server = || Server::new(arguments.kubeconfig, process, Process(arguments.beside));
    match arguments.command {
        Command::List(options) => list::run(&server()?, &options).await,
        Command::Watch(options) => watch::run(&server()?, &options).await,
        Command::Write(options) => write::run(&server()?, &options).await,
        Command::Apply(options) => apply::run(&server()?, &options).await,
        Command::Custom(options) => custom::run(&server()?, &options).await,
        Command::Access(options) => access::run(&server()?, &options).await,
        Command::Grow(options) => grow::run(&server()?, &options).await,
        Command::Scale(options) => scale::run(&server()?, &options).await,
        Command::Kv(options) => kv::run(process, &options).await,
        Command::Ready(options) => ready::run(&server()?, &options).await,
        Command::Hook => hook::run().await,
        Command::Floor => floor::run().await,
        Command::Key => key::print(),
    }
}
