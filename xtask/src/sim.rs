//! `cargo xtask sim`: runs seeds of the simulation (`crates/sim`): clients and server on virtual
//! time, with injected faults.

use crate::process::{self, Outcome};
use clap::Args;
use std::process::Command;

/// Seeds that CI runs.
const CI_SEEDS: u64 = 200;

/// Options of `cargo xtask sim`.
#[derive(Args)]
pub(crate) struct Options {
    /// Run this seed, twice, and compare the runs
    #[arg(long, conflicts_with_all = ["seeds", "count"])]
    seed: Option<u64>,
    /// Run these seeds, as in `1000..2000`
    #[arg(long, value_name = "FROM..TO", conflicts_with = "count")]
    seeds: Option<String>,
    /// Run this many seeds, from 0 on
    #[arg(long, default_value_t = CI_SEEDS)]
    count: u64,
    /// Print the events of the run
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Seeds that run at the same time [default: the number of processors]
    #[arg(long)]
    jobs: Option<usize>,
    /// Build with optimisation, for thousands of seeds
    #[arg(long)]
    release: bool,
}

impl Options {
    /// The options that CI uses.
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

/// Builds and runs the simulation.
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
