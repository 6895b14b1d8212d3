//! `bench apply`: the cost of a watch event, from the bytes of the body to the handler, with two
//! indexes; without network, TLS and HTTP framing.
//!
//! The measurement begins when the peer is synced and idle, and ends when its handler has received
//! the last event.

use super::chart::Chart;
use super::figure::Figure;
use super::peers::{self, Peers};
use super::replayed::{
    ALONE, ALONE_JSON, ALONE_READ, DECODED_JSON, GO, GO_JSON, KUBE, OURS, OURS_READ, Recordings,
    contestants, is_limit,
};
use super::report::Report;
use super::rounds::{Rounds, System, find, interleave};
use super::samples::Samples;
use super::table::Table;
use super::verdict::Verdict;
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::process::Command;

/// Options of `cargo xtask bench apply`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Pods in the initial state
    #[arg(long, default_value_t = 20_000)]
    objects: u64,
    /// Updates
    #[arg(long, default_value_t = 20_000)]
    updates: u64,
    /// Only the peers whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

impl Options {
    pub(super) fn of(objects: u64, updates: u64) -> Self {
        Self {
            objects,
            updates,
            only: None,
        }
    }
}

/// When events arrive: the argument, and its name in tables.
const WAYS: [(&str, &str); 2] = [
    ("as-they-come", "as they come"),
    ("one-at-a-time", "one at a time"),
];

/// The line of a run under this key, in microseconds of CPU for an event.
const CPU: &str = "cpu_microseconds_each";
const HEARD: &str = "heard_share";

/// The peers, with the events in one way.
struct Run {
    way: &'static str,
    systems: Vec<System>,
}

impl Run {
    fn samples(&self, peer: &str, key: &str) -> Samples {
        find(&self.systems, peer, self.way, key)
    }
}

pub(super) fn run(peers: &Peers, options: &Options, rounds: Rounds) -> Outcome<Report> {
    let recordings = Recordings::write(peers, "pods", options.objects, options.updates)?;
    let mut runs = Vec::new();
    for (way, _) in WAYS {
        let contestants = contestants(peers, options.only.as_deref(), &recordings);
        let systems = interleave(rounds, &contestants, |command| {
            let mut line = measure(command, way, options)?;
            let of = |key: &str| line[key].as_f64().unwrap_or(f64::NAN) / count(options);
            let (cpu, heard) = (of("cpu_seconds") * 1e6, of("heard"));
            (line["case"], line[CPU], line[HEARD]) = (way.into(), cpu.into(), heard.into());
            Ok(vec![line])
        })?;
        runs.push(Run { way, systems });
    }
    Ok(report(options, rounds, &runs))
}

fn measure(command: &mut Command, way: &str, options: &Options) -> Outcome<Value> {
    command.args(["--updates", &options.updates.to_string(), "--way", way]);
    let lines = peers::lines(command)?;
    let line = lines.into_iter().find(|it| it["phase"] == "updates");
    let line = line.ok_or("it did not print what updates cost")?;
    // The marker is an object, too.
    if line["requests"] != 1 || line["objects"] != options.objects + 1 {
        return Err(format!("it did something else than follow one watch: {line}").into());
    }
    Ok(line)
}

#[expect(clippy::cast_precision_loss, reason = "a count of updates is small")]
fn count(options: &Options) -> f64 {
    options.updates as f64
}

fn report(options: &Options, rounds: Rounds, runs: &[Run]) -> Report {
    let json: Vec<Value> = runs
        .iter()
        .map(|run| {
            let systems: Vec<Value> = run.systems.iter().map(System::json).collect();
            json!({"way": run.way, "systems": systems})
        })
        .collect();
    Report {
        name: "apply",
        what: format!(
            "{} Pods, then {} updates. {}",
            options.objects,
            options.updates,
            rounds.sentence()
        ),
        tables: vec![table(runs)],
        verdicts: verdicts(runs),
        charts: charts(runs),
        sizes: json!({"objects": options.objects, "updates": options.updates}),
        ours: ours(runs),
        json: json!({"runs": json}),
    }
}

fn table(runs: &[Run]) -> Table {
    let mut table = Table::new([
        "CPU for one event",
        "as they come, µs",
        "heard",
        "one at a time, µs",
    ]);
    let [burst, single] = runs else { return table };
    for peer in burst.systems.iter().map(|it| it.name) {
        table.row([
            peer.to_owned(),
            burst.samples(peer, CPU).fixed(1),
            format!("{:.0} %", 100.0 * burst.samples(peer, HEARD).median()),
            single.samples(peer, CPU).fixed(1),
        ]);
    }
    table
}

/// A peer whose name contains the text may be left out, so any figure may be missing.
fn verdicts(runs: &[Run]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (run, (_, way)) in runs.iter().zip(WAYS) {
        let of = |peer: &'static str| (peer, run.samples(peer, CPU));
        let verdict = |form: &str, ours: &str, limit: &str| {
            let what = format!("CPU of an event, {way}, {form}");
            let verdict = Verdict::less(what, run.samples(ours, CPU));
            verdict.limit(limit, run.samples(limit, CPU).median())
        };
        let encoded = || verdict("encoded", OURS, ALONE);
        verdicts.extend([
            encoded().beside([GO, GO_JSON].map(of)).goal(8.0),
            encoded().beside([of(KUBE)]).goal(5.0),
            verdict("encoded, decoded by the handler", OURS_READ, ALONE_READ)
                .beside([GO, GO_JSON, KUBE].map(of)),
            verdict("decoded JSON", DECODED_JSON, ALONE_JSON).beside([GO_JSON, KUBE].map(of)),
        ]);
    }
    verdicts
}

fn ours(runs: &[Run]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (run, (_, way)) in runs.iter().zip(WAYS) {
        for peer in run.systems.iter().map(|it| it.name) {
            if peer.starts_with("Kubist") {
                let cpu = run.samples(peer, CPU);
                figures.push(Figure::less(format!("{peer}, {way}, CPU µs"), cpu));
            }
        }
    }
    figures
}

fn charts(runs: &[Run]) -> Vec<Chart> {
    let mut charts = [
        Chart::new(
            "apply-burst",
            "CPU for one event, events as they come, µs (less is better)",
        ),
        Chart::new(
            "apply-single",
            "CPU for one event, one at a time, µs (less is better)",
        ),
    ];
    for (chart, run) in charts.iter_mut().zip(runs) {
        for system in run.systems.iter().filter(|it| !is_limit(it.name)) {
            let figure = run.samples(system.name, CPU).median();
            chart.bar(system.name, figure, format!("{figure:.1} µs"));
        }
    }
    charts.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(way: &'static str, systems: &[(&'static str, f64)]) -> Run {
        let system = |&(name, cpu): &(&'static str, f64)| {
            System::of(name, vec![vec![json!({"case": way, CPU: cpu})]])
        };
        let systems = systems.iter().map(system).collect();
        Run { way, systems }
    }

    #[test]
    fn like_is_compared_with_like_way_by_way() {
        let burst = [
            (OURS, 10.0),
            (GO, 100.0),
            (GO_JSON, 800.0),
            (KUBE, 150.0),
            (ALONE, 4.0),
        ];
        let single = [(DECODED_JSON, 50.0), (GO_JSON, 700.0), (KUBE, 150.0)];
        let runs = [run("as-they-come", &burst), run("one-at-a-time", &single)];
        let verdicts = verdicts(&runs);
        let known: Vec<_> = verdicts.iter().map(Verdict::json).collect();
        assert_eq!(known[0]["best_peer"], GO, "its cheapest form");
        assert_eq!(known[0]["ahead_by"], 10.0);
        assert_eq!(known[0]["distance_to_limit"], 2.5);
        assert_eq!(known[1]["ahead_by"], 15.0);
        assert!(!verdicts[2].is_known() && !verdicts[3].is_known());
        assert_eq!(known[7]["best_peer"], KUBE, "JSON beside JSON");
        assert_eq!(known[7]["ahead_by"], 3.0);
    }
}
