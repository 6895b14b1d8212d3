//! Everything that CI runs. A check that can be a test is one.
//!
//! Steps share one profile and one set of features where they can: tests, clippy and documentation
//! are built in `dev`, the server that interop talks to in `release`. The interleaving tests and
//! the fuzz targets are separate builds of a few crates.

use crate::process::{self, Outcome};
use crate::{codegen, fuzz, platforms, runner, sim, tidy};
use clap::Args;
use std::process::Command;

/// Options of `cargo xtask ci`.
#[derive(Args)]
pub(crate) struct Options {
    /// Also run what takes more time than CI has
    #[arg(long)]
    long: bool,
    /// Skip the tests against other programs
    #[arg(long)]
    no_interop: bool,
}

/// `cargo xtask ci`: stops at the first failure.
pub(crate) fn run(options: &Options) -> Outcome {
    process::run("cargo", &["test", "--workspace"])?;
    process::run("cargo", &["fmt", "--all", "--check"])?;
    tidy::run()?;
    codegen::run(&codegen::Options::check())?;
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
    sim::run(&sim::Options::ci())?;
    documentation()?;
    packages(options.long)?;
    platforms::check()?;
    if options.long {
        platforms::check_rust_version()?;
    }
    fuzz::run(&fuzz::Options::all(options.long))?;
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

fn documentation() -> Outcome {
    let mut doc = Command::new("cargo");
    doc.args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    process::run_with(&mut doc)
}

/// Packages every published crate, in the order of publishing; nothing is uploaded. A long run
/// also builds each from its package, which takes as long as a build of everything.
fn packages(verify: bool) -> Outcome {
    let mut publish = Command::new("cargo");
    publish.args(["publish", "--workspace", "--dry-run", "--allow-dirty"]);
    if !verify {
        publish.arg("--no-verify");
    }
    process::run_with(&mut publish)
}

/// Tests the work queue, and the mailboxes of informer handlers, under many interleavings: the same
/// code, built with locks that a scheduler controls.
fn interleavings() -> Outcome {
    let mut test = Command::new("cargo");
    test.args(["test", "--package", "kubist-workqueue"])
        .args(["--package", "kubist-informers", "--lib"])
        .args(["--target-dir", "target/shuttle", "interleavings"])
        .env("RUSTFLAGS", "--cfg shuttle")
        .env("SHUTTLE_SILENCE_WARNINGS", "1");
    process::run_with(&mut test)
}

/// Fails if a crate that must work without the API types depends on them by default.
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
