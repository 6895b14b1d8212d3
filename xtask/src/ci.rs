//! What CI runs, in its order. The same checks are tests wherever they can be.
//!
//! Everything is built in the one profile and with the one set of features that its later steps
//! share: the tests, clippy and the documentation in `dev`, the server that interop talks to in
//! `release`.

use std::process::Command;

use clap::Args;

use crate::process::{self, Outcome};

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
    let mut doc = Command::new("cargo");
    doc.args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    process::run_with(&mut doc)?;
    if !options.no_interop {
        crate::interop::run(&crate::interop::Options::required(options.long))?;
    }
    Ok(())
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
