//! `cargo xtask sim`: plays seeds of the simulation (`crates/sim`), each a run of the whole system
//! on virtual time with faults.

use crate::process::{self, Outcome};
use clap::Args;
use std::process::Command;

/// Seeds that CI plays.
const CI_SEEDS: u64 = 200;

/// Options of `cargo xtask sim`.
#[derive(Args)]
pub(crate) struct Options {
    /// Play this seed, twice, and compare the two
    #[arg(long, conflicts_with_all = ["seeds", "count"])]
    seed: Option<u64>,
    /// Play these seeds, as in `1000..2000`
    #[arg(long, value_name = "FROM..TO", conflicts_with = "count")]
    seeds: Option<String>,
    /// Play so many seeds, from 0 on
    #[arg(long, default_value_t = CI_SEEDS)]
    count: u64,
    /// Tell the story of the seed
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Seeds that are played at a time; by default as many as there are processors
    #[arg(long)]
    jobs: Option<usize>,
    /// Build it optimised: for thousands of seeds
    #[arg(long)]
    release: bool,
}

impl Options {
    /// What CI plays.
    pub(crate) fn ci() -> Self {
        Self {
            seed: None,
            seeds: None,
            count: CI_SEEDS,
            trace: false,
            jobs: None,
            release: false,
        }
    }
}

/// Builds the simulation and plays.
pub(crate) fn run(options: &Options) -> Outcome {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "kubist-sim"]);
    if options.release {
        command.arg("--release");
    }
    command.arg("--");
    match (options.seed, &options.seeds) {
        (Some(seed), _) => command.args(["--seed", &seed.to_string()]),
        (None, Some(seeds)) => command.args(["--seeds", seeds]),
        (None, None) => command.args(["--count", &options.count.to_string()]),
    };
    if options.trace {
        command.arg("--trace");
    }
    if let Some(jobs) = options.jobs {
        command.args(["--jobs", &jobs.to_string()]);
    }
    process::run_with(&mut command)
}
