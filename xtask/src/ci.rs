//! What CI runs, in its order. The same checks are tests wherever they can be.
//!
//! Everything is built in the one profile and with the one set of features that its later steps
//! share: the tests, clippy and the documentation in `dev`, the server that interop talks to in
//! `release`. The interleavings and the fuzz targets are other builds of a few crates.

use crate::process::{self, Outcome};
use crate::runner;
use clap::Args;
use std::process::Command;

/// Options of `cargo xtask ci`.
#[derive(Args)]
pub(crate) struct Options {
    /// Also run what takes longer than CI may
    #[arg(long)]
    long: bool,
    /// Leave out the tests against other programs
    #[arg(long)]
    no_interop: bool,
}

/// `cargo xtask ci`: stops at the first failure.
pub(crate) fn run(options: &Options) -> Outcome {
    process::run("cargo", &["test", "--workspace"])?;
    process::run("cargo", &["fmt", "--all", "--check"])?;
    crate::tidy::run()?;
    crate::codegen::run(&crate::codegen::Options::check())?;
    process::run(
        "cargo",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    )?;
    without_features()?;
    interleavings()?;
    crate::sim::run(&crate::sim::Options::ci())?;
    let mut doc = Command::new("cargo");
    doc.args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    process::run_with(&mut doc)?;
    crate::fuzz::run(&crate::fuzz::Options::all(options.long))?;
    if !options.no_interop {
        let interop: &[&str] = if options.long {
            &["--required", "--long"]
        } else {
            &["--required"]
        };
        runner::run("interop", interop)?;
        runner::run("attack", &["--short"])?;
    }
    Ok(())
}

/// The hand-over in the work queue, and from an informer to its handlers, under many interleavings:
/// the same code, built with locks that a test schedules.
fn interleavings() -> Outcome {
    let mut test = Command::new("cargo");
    test.args(["test", "--package", "kubist-workqueue"])
        .args(["--package", "kubist-informers", "--lib"])
        .args(["--target-dir", "target/shuttle", "interleavings"])
        .env("RUSTFLAGS", "--cfg shuttle")
        .env("SHUTTLE_SILENCE_WARNINGS", "1");
    process::run_with(&mut test)
}

/// Crates that must work without the API types: their trees, without features, hold none.
fn without_features() -> Outcome {
    for package in ["kubist-informers", "kubist-client", "kubist-controller"] {
        let tree = process::output(
            "cargo",
            &[
                "tree",
                "--package",
                package,
                "--edges",
                "normal",
                "--no-default-features",
            ],
        )?;
        if tree.contains("kubist-api ") {
            return Err(format!("{package} depends on kubist-api without any feature").into());
        }
    }
    Ok(())
}
