//! The command behind `cargo xtask sim`: runs seeds and reports which failed.

#![expect(
    clippy::print_stdout,
    reason = "it is a program for a terminal: results go to stdout"
)]

use clap::Parser;
use kubist_sim::Outcome;
use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

/// One in this many seeds is run twice.
const TWICE_EVERY: u64 = 10;
/// The number of trace lines that are printed for a failure.
const TRACE_LINES_MAX: usize = 40;

/// Runs seeds of the simulation.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask sim")]
struct Arguments {
    /// Run this seed twice and compare the runs
    #[arg(long, conflicts_with_all = ["seeds", "count"])]
    seed: Option<u64>,
    /// Run these seeds, as in `1000..2000`
    #[arg(long, value_name = "FROM..TO", value_parser = seeds, conflicts_with = "count")]
    seeds: Option<Range<u64>>,
    /// Run this many seeds, starting at 0
    #[arg(long, default_value_t = 200)]
    count: u64,
    /// Print the trace of the seed
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Run every seed twice instead of every tenth
    #[arg(long)]
    twice: bool,
    /// The number of seeds to run at a time [default: the number of processors]
    #[arg(long)]
    jobs: Option<usize>,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let parse = |text: &str| {
        text.parse()
            .map_err(|_| format!("{text:?} is not a number"))
    };
    let (from, to) = text
        .split_once("..")
        .ok_or("expected a range such as 10..20")?;
    Ok(parse(from)?..parse(to)?)
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let good = match arguments.seed {
        Some(seed) => one(seed, arguments.trace),
        None => many(
            arguments.seeds.unwrap_or(0..arguments.count),
            arguments.jobs,
            if arguments.twice { 1 } else { TWICE_EVERY },
        ),
    };
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn one(seed: u64, trace: bool) -> bool {
    let outcome = kubist_sim::run_twice(seed);
    if trace {
        outcome.trace.iter().for_each(|line| println!("{line}"));
    }
    let (hash, events, time) = (outcome.hash, outcome.events, outcome.time);
    println!("seed {seed}: {events} events in {time:?} of virtual time, trace {hash:016x}");
    let counts = outcome.counts.iter();
    let counts: Vec<_> = counts
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    println!("  {}", counts.join(", "));
    report(seed, &outcome, false);
    outcome.is_good()
}

fn many(seeds: Range<u64>, jobs: Option<usize>, twice_every: u64) -> bool {
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.unwrap_or(here).max(1);
    let next = AtomicU64::new(seeds.start);
    let (sender, outcomes) = mpsc::sync_channel(jobs);
    let (mut played, mut failed) = (0_u64, Vec::new());
    let mut counts = BTreeMap::<_, u64>::new();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, next, end) = (sender.clone(), &next, seeds.end);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || sender.send((seed, play(seed, twice_every))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (seed, outcome) in outcomes {
            played += 1;
            for (kind, count) in &outcome.counts {
                *counts.entry(*kind).or_default() += count;
            }
            if !outcome.is_good() {
                report(seed, &outcome, true);
                failed.push(seed);
            }
        }
    });
    let counts: Vec<_> = counts
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    println!("{}", counts.join(", "));
    failed.sort_unstable();
    println!("{played} seeds run, {} failed: {failed:?}", failed.len());
    failed.is_empty()
}

fn play(seed: u64, twice_every: u64) -> Outcome {
    if seed.is_multiple_of(twice_every) {
        kubist_sim::run_twice(seed)
    } else {
        kubist_sim::run(seed)
    }
}

fn report(seed: u64, outcome: &Outcome, with_trace: bool) {
    if outcome.is_good() {
        return;
    }
    println!("seed {seed} FAILED; for its trace run cargo xtask sim --seed {seed} --trace");
    for violation in &outcome.violations {
        println!("  {violation}");
    }
    if with_trace {
        let skipped = outcome.trace.len().saturating_sub(TRACE_LINES_MAX);
        for line in &outcome.trace[skipped..] {
            println!("    {line}");
        }
    }
}
