//! Decodes and encodes one object of every built-in kind that all of Kubist, k8s-openapi and k8s-pb
//! know, with all fields set.
//!
//! Prints a line of JSON for each operation and implementation with the geometric mean of all
//! kinds, and one for each operation with the kinds in which Kubist is the furthest behind, or the
//! least ahead.

mod case;
mod fill;
mod list;

use case::{BASELINES, Case, OPERATIONS};
use clap::Parser;

#[derive(Parser)]
struct Arguments {
    /// How long each operation of each kind is measured, in milliseconds
    #[arg(long, default_value_t = 10)]
    milliseconds: u64,
    /// Print each kind, too
    #[arg(long)]
    all: bool,
    /// Measure only kinds with this in their name
    #[arg(long, default_value = "")]
    only: String,
}

/// The kinds that are named.
const WORST: usize = 5;

fn main() -> Result<(), case::Failure> {
    let arguments = Arguments::parse();
    let mut measured: Vec<(&str, Case)> = Vec::new();
    for (name, measure) in list::kinds() {
        if name.contains(&arguments.only) {
            let case =
                measure(arguments.milliseconds).map_err(|error| format!("{name}: {error}"))?;
            measured.push((name, case));
        }
    }
    for (index, baseline) in BASELINES.iter().enumerate() {
        let times = measured.iter().map(|(_, case)| case.baselines[index]);
        print_mean(&format!("kinds/baseline/{baseline}"), times);
    }
    for (index, (operation, peer)) in OPERATIONS.iter().enumerate() {
        let times = |(name, case): &(&'static str, Case)| {
            let [ours, peers] = case.microseconds[index];
            (*name, ours, peers)
        };
        let mut all: Vec<_> = measured.iter().map(times).collect();
        for (of, implementation) in ["kubist", peer].into_iter().enumerate() {
            let times = all.iter().map(|(_, ours, peers)| [*ours, *peers][of]);
            print_mean(&format!("kinds/{operation}/{implementation}"), times);
        }
        all.sort_by(|left, right| (left.2 / left.1).total_cmp(&(right.2 / right.1)));
        let shown = if arguments.all { all.len() } else { WORST };
        let kinds = all.iter().take(shown).map(|(name, ours, peers)| {
            serde_json::json!({"kind": name, "ours": ours, "peer": peers, "times": peers / ours})
        });
        let line = serde_json::json!({
            "case": format!("kinds/{operation}/worst"),
            "ahead": all.iter().filter(|(_, ours, peers)| ours <= peers).count(),
            "kinds": kinds.collect::<Vec<_>>(),
        });
        println!("{line}");
    }
    Ok(())
}

/// Prints the geometric mean of all kinds.
fn print_mean(case: &str, microseconds: impl ExactSizeIterator<Item = f64>) {
    let kinds = microseconds.len();
    let logarithms: f64 = microseconds.map(f64::ln).sum();
    let line = serde_json::json!({
        "case": case,
        "kinds": kinds,
        "microseconds_each": (logarithms / kinds as f64).exp(),
    });
    println!("{line}");
}
