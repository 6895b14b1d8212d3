//! The subcommands, with their common error output and runtime.

mod clock;
mod cluster;
mod codegen;
mod convert;
mod demo;
mod documents;
mod envtest;
mod etcd;
mod foreign_flags;
mod harmless;
mod input_files;
mod kube_apiserver;
mod logging;
mod logs;
mod memory;
mod new;
mod serve;
mod signal;
mod storage;
mod system_limits;
mod units;
mod usage;
mod values;
mod watch;

use clap::Subcommand;
use kubist_apimachinery::with_causes;
use std::error::Error;
use std::process::ExitCode;
use usage::WrongUsage;
pub(crate) use usage::{exit_code, refuse};

/// The outcome of a command: its exit code, or an error to print.
pub(crate) type Outcome = Result<ExitCode, Box<dyn Error>>;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an application, then break, scale, update and remove it
    Demo(demo::Options),
    /// Run an API server in this process, in memory or with a data directory
    Serve(Box<serve::Options>),
    /// Serve etcd's API from the storage of this project, for a kube-apiserver or etcdctl
    Etcd(Box<etcd::Options>),
    /// The same as serve, with the flags and the defaults of a kube-apiserver
    KubeApiserver(kube_apiserver::Options),
    /// Fill a directory that controller-runtime's envtest starts its servers from
    Envtest(envtest::Options),
    /// Check, compact, back up and restore the data of `serve`
    Storage(storage::Options),
    /// Watch the objects of a resource in any cluster
    Watch(watch::Options),
    /// Print the logs of a Pod's containers
    Logs(logs::Options),
    /// Convert built-in objects and lists between JSON, YAML and protobuf
    Convert(convert::Options),
    /// Generate Rust types from definitions of custom resources
    Codegen(codegen::Options),
    /// Make the project of an operator, with a kind, tests and manifests
    New(new::Options),
    /// Print the completions of a shell
    Completions(documents::Completions),
    /// Print the manual page, or write a page for each command
    Man(documents::Man),
}

impl Command {
    /// Runs it. `whole` is the description of the command line.
    pub(crate) fn run(self, whole: clap::Command) -> Outcome {
        match self {
            Self::Codegen(options) => block_on(codegen::run(options)),
            Self::Completions(options) => Ok(documents::completions(&options, whole)),
            Self::Convert(options) => convert::run(&options),
            Self::Demo(options) => block_on(demo::run(options)),
            Self::Envtest(options) => envtest::run(&options),
            Self::KubeApiserver(options) => block_on(kube_apiserver::run(options)),
            Self::Etcd(options) => block_on_workers(etcd::workers(), etcd::run(*options)),
            Self::Logs(options) => block_on(logs::run(options)),
            Self::Man(options) => documents::man(&options, whole),
            Self::New(options) => new::run(&options),
            Self::Serve(options) => block_on(serve::run(*options)),
            Self::Storage(options) => storage::run(&options),
            Self::Watch(options) => block_on(watch::run(options)),
        }
    }
}

fn block_on(command: impl Future<Output = Outcome>) -> Outcome {
    block_on_workers(None, command)
}

/// Runs a command on so many threads; by default, on one for each core.
fn block_on_workers(workers: Option<usize>, command: impl Future<Output = Outcome>) -> Outcome {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Some(workers) = workers {
        runtime.worker_threads(workers);
    }
    let runtime = runtime.enable_all().build()?;
    let outcome = runtime.block_on(command);
    // Remaining tasks belong to no one, so there is nothing to wait for.
    runtime.shutdown_background();
    outcome
}

/// Prints an error and its causes as one line.
#[expect(clippy::print_stderr, reason = "this is the command's own output")]
pub(crate) fn report(error: &dyn Error) {
    let text = with_causes(error);
    // Servers write a part of it.
    let lines: Vec<_> = text.split('\n').map(harmless::harmless).collect();
    eprintln!("kubist: {}", lines.join("\n"));
}
