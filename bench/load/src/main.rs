//! Loads a server and measures it from outside: lists, many watchers, writes, and what all of it
//! costs as objects become many.
//!
//! It sends and reads bytes, and decodes nothing, so that the server is what is measured; the
//! server's own CPU time is read from the kernel's books. Prints a line of JSON for each case.

mod grow;
mod lags;
mod list;
mod server;
mod watch;
mod write;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use server::Server;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// The server's process
    #[arg(long, global = true, default_value_t = 0)]
    pid: u32,
}

#[derive(Subcommand)]
enum Command {
    /// Read a collection from its beginning to its end
    List(list::Options),
    /// Let many watchers follow some updates
    Watch(watch::Options),
    /// Create and update objects
    Write(write::Options),
    /// Create more and more objects, and see what each costs
    Grow(grow::Options),
}

/// Any failure.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let server = Server::new(arguments.kubeconfig, arguments.pid)?;
    match arguments.command {
        Command::List(options) => list::run(&server, &options).await,
        Command::Watch(options) => watch::run(&server, &options).await,
        Command::Write(options) => write::run(&server, &options).await,
        Command::Grow(options) => grow::run(&server, &options).await,
    }
}
