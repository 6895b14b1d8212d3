//! `cargo xtask fuzz`: builds the fuzz targets with coverage counters and runs them.
//!
//! `LibFuzzer` comes as C++ source in a crate, and the coverage counters from a pass of the stable
//! compiler, so neither a nightly toolchain nor another cargo command is needed. There is no
//! address sanitizer: the crates forbid unsafe code, so a defect is a panic, an overflow, an
//! endless loop or unbounded memory, and each of these ends the run. New inputs are saved under
//! `target/fuzz`, where the next run starts; the seeds in `fuzz/corpus` do not change.

use crate::process::{self, Outcome, root};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All targets.
const TARGETS: [&str; 11] = [
    "list",
    "watch",
    "selector",
    "quantity",
    "kubeconfig",
    "fields_v1",
    "apply",
    "schema",
    "conversion_answer",
    "cel_program",
    "cbor",
];

/// Inputs for each target in CI and by default: always the same, so that the result for one commit
/// is always the same. About 20 seconds.
const INPUTS: u32 = 100_000;

/// The seed of the fuzzer's generator for these inputs.
const SEED: u32 = 1;

/// The time limit for these inputs, in seconds, for slow machines.
const INPUTS_SECONDS_MAX: u32 = 90;

/// Seconds for each target in a long run.
const SECONDS_LONG: u32 = 600;

/// The compiler pass and what it inserts: a counter for each edge, and traces of comparisons, from
/// which the fuzzer learns constants.
const COUNTERS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// The time limit for one input, in seconds. The longest inputs take milliseconds.
const INPUT_SECONDS_MAX: u32 = 10;

/// The memory limit of a target.
const MEMORY_MIB_MAX: u32 = 2048;

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct Options {
    /// Targets to run: list, watch, selector, quantity, kubeconfig, `fields_v1`, apply,
    /// schema, `conversion_answer`
    /// [default: all]
    targets: Vec<String>,
    /// Run each target for this long, on new inputs each time; by default, on the same inputs as in
    /// CI
    #[arg(long)]
    seconds: Option<u32>,
    /// Ten minutes each
    #[arg(long, conflicts_with = "seconds")]
    long: bool,
    /// Run one target on this input once, to reproduce a crash
    #[arg(long)]
    input: Option<PathBuf>,
}

impl Options {
    /// The options that CI uses.
    pub(crate) fn all(long: bool) -> Self {
        Self {
            targets: Vec::new(),
            seconds: None,
            long,
            input: None,
        }
    }
}

/// `cargo xtask fuzz`: fails at the first target that crashes, and saves its input.
pub(crate) fn run(options: &Options) -> Outcome {
    let targets = chosen(&options.targets)?;
    let binaries = build()?;
    if let Some(input) = &options.input {
        let [target] = targets[..] else {
            return Err("an input is for one target: name it".into());
        };
        let input = std::env::current_dir()?.join(input);
        return process::run_with(Command::new(binaries.join(target)).arg(input));
    }
    let seconds = if options.long {
        Some(SECONDS_LONG)
    } else {
        options.seconds
    };
    for target in targets {
        fuzz(target, &binaries, seconds)?;
    }
    Ok(())
}

fn chosen(names: &[String]) -> Outcome<Vec<&'static str>> {
    if names.is_empty() {
        return Ok(TARGETS.to_vec());
    }
    let known = |name: &String| TARGETS.into_iter().find(|target| target == name);
    let find =
        |name| known(name).ok_or_else(|| format!("no target {name}, only {TARGETS:?}").into());
    names.iter().map(find).collect()
}

/// Builds all targets and returns their folder.
fn build() -> Outcome<PathBuf> {
    let version = process::output("rustc", &["-vV"])?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("rustc does not say its host")?;
    let folder = root().join("target/fuzz");
    // With an explicit target, the flags do not apply to build scripts and macros.
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--release", "--target", host])
        .arg("--target-dir")
        .arg(&folder)
        .current_dir(root().join("fuzz"))
        .env("RUSTFLAGS", COUNTERS.join(" "))
        .env_remove("CARGO_TARGET_DIR");
    process::run_with(&mut cargo)?;
    Ok(folder.join(host).join("release"))
}

/// Runs one target for this many seconds, or on the inputs of CI.
fn fuzz(target: &str, binaries: &Path, seconds: Option<u32>) -> Outcome {
    let folder = root().join("target/fuzz");
    // Inputs that CI's run discovers are not kept: the next run would start elsewhere.
    let found = if seconds.is_some() {
        folder.join("corpus").join(target)
    } else {
        let fresh = folder.join("again").join(target);
        if fresh.exists() {
            fs::remove_dir_all(&fresh)?;
        }
        fresh
    };
    let crashes = folder.join("crashes").join(target);
    fs::create_dir_all(&found)?;
    fs::create_dir_all(&crashes)?;
    let mut command = Command::new(binaries.join(target));
    command
        .arg(&found)
        .arg(root().join("fuzz/corpus").join(target))
        .arg(format!(
            "-max_total_time={}",
            seconds.unwrap_or(INPUTS_SECONDS_MAX)
        ))
        .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
        .arg(format!("-artifact_prefix={}/", crashes.display()))
        .args(["-verbosity=0", "-print_final_stats=1"]);
    if seconds.is_none() {
        command.args([format!("-seed={SEED}"), format!("-runs={INPUTS}")]);
    }
    process::run_with(&mut command).map_err(|error| {
        let saved = crashes.display();
        let again = format!("cargo xtask fuzz {target} --input FILE");
        format!("{error}\nthe input is in {saved}; to see it again: {again}").into()
    })
}
