//! `cargo xtask bench`: benchmarks with peers side by side, in one run on one machine.
//!
//! The peers are packages of the workspace in `bench/`. Each is built on its own, so that features
//! which one turns on in a shared dependency do not reach another.

mod codec;
mod informer;
mod machine;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};

use crate::process::{self, Outcome, root};

/// Options of `cargo xtask bench`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Initial sync and updates of an informer, against `kubist serve`
    Informer(informer::Options),
    /// Decoding and encoding Pods
    Codec(codec::Options),
}

/// Builds what is needed and measures.
pub(crate) fn run(options: &Options) -> Outcome {
    match &options.benchmark {
        Benchmark::Informer(options) => informer::run(options),
        Benchmark::Codec(options) => codec::run(options),
    }
}

/// Builds a package of `bench/` and returns its binary.
fn build(package: &str) -> Outcome<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own
        .parent()
        .and_then(Path::parent)
        .ok_or("xtask runs outside a target folder")?;
    let target = target.join("bench");
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--package", package, "--target-dir"])
        .arg(&target)
        .current_dir(root().join("bench"));
    process::run_with(&mut command)?;
    Ok(target.join("release").join(package))
}
