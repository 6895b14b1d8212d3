//! The `kubist` command: an API server, a watch, a converter, a generator and a demo.

mod command;

use crate::command::Command;
use clap::{CommandFactory as _, Parser};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// It returns the memory of large bursts to the system, where the default allocator keeps it.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Kubernetes API machinery in Rust: demo, API server, watch and converter
#[derive(Debug, Parser)]
#[command(
    name = "kubist",
    version,
    propagate_version = true,
    after_help = "\
Examples:
  kubist demo                          # needs nothing else
  kubist serve --data-dir ./data       # kept across restarts and crashes
  kubist serve --simulate              # then: KUBECONFIG=kubist.kubeconfig kubectl get nodes
  kubist watch pods -A                 # any cluster, live on the terminal
  kubist logs web-0 -f
  kubist convert -f pod.yaml -o json
  kubist codegen crds/ --out src/crds  # Rust types of custom resources
  kubist new website-operator          # the project of an operator
`kubist help COMMAND` has more."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Programs that this one is when it has their name: envtest finds it so.
const OTHER_NAMES: [&str; 2] = ["etcd", "kube-apiserver"];

/// The command line. By another name, the program is the command of that name.
fn command_line() -> Vec<OsString> {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let name = arguments.first().map(PathBuf::from);
    let name = name.as_deref().and_then(Path::file_stem);
    let other = OTHER_NAMES
        .into_iter()
        .find(|it| name == Some(OsStr::new(it)));
    if let Some(other) = other {
        arguments.insert(1, other.into());
    }
    arguments
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse_from(command_line()) {
        Ok(arguments) => arguments,
        Err(error) => return command::refuse(&error),
    };
    match arguments.command.run(Arguments::command()) {
        Ok(code) => code,
        Err(error) => {
            command::report(&*error);
            command::exit_code(&*error)
        }
    }
}
