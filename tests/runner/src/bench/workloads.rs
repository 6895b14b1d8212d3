//! `bench workloads`: objects that nothing was tuned to, many small ones and few large ones, from
//! the bytes of a recorded watch to the handler: the initial state, what it holds, and updates.

use super::figure::Figure;
use super::peers::{self, Peers};
use super::replayed::{
    ALONE, ALONE_JSON, ALONE_READ, DECODED_JSON, GO, GO_JSON, KUBE, OURS, OURS_READ, Recordings,
    contestants,
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

/// Options of `cargo xtask bench workloads`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Only the peers whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

impl Options {
    pub(super) fn all() -> Self {
        Self { only: None }
    }
}

/// Objects of one kind.
struct Workload {
    /// As tables say it.
    name: &'static str,
    /// As the driver says it.
    kind: &'static str,
    objects: u64,
    updates: u64,
}

const WORKLOADS: [Workload; 2] = [
    Workload {
        name: "200,000 config maps of 0.8 kB",
        kind: "config-maps",
        objects: 200_000,
        updates: 20_000,
    },
    Workload {
        name: "2,000 custom resource definitions of 40 kB",
        kind: "definitions",
        objects: 2_000,
        updates: 2_000,
    },
];

/// The phases of a peer.
const SYNC: &str = "sync";
const UPDATES: &str = "updates";
/// What is compared, and in the lines of a run: for one object or update.
const CPU: &str = "cpu_microseconds_each";
const RSS: &str = "rss_bytes_each";
const HEARD: &str = "heard_share";

/// What peers are compared by: its name, phase and key.
const COMPARED: [(&str, &str, &str); 3] = [
    ("CPU of the first sync", SYNC, CPU),
    ("memory of an object", SYNC, RSS),
    ("CPU of an update", UPDATES, CPU),
];

/// What was measured of a workload.
struct Run {
    workload: &'static Workload,
    systems: Vec<System>,
}

impl Run {
    fn samples(&self, peer: &str, phase: &str, key: &str) -> Samples {
        find(&self.systems, peer, phase, key)
    }
}

pub(super) fn run(peers: &Peers, options: &Options, rounds: Rounds) -> Outcome<Report> {
    let mut runs = Vec::new();
    for workload in &WORKLOADS {
        let (objects, updates) = (workload.objects, workload.updates);
        let recordings = Recordings::write(peers, workload.kind, objects, updates)?;
        let contestants = contestants(peers, options.only.as_deref(), &recordings);
        let measure = |command: &mut Command| measure(command, workload);
        let systems = interleave(rounds, &contestants, measure)?;
        runs.push(Run { workload, systems });
    }
    Ok(report(rounds, &runs))
}

fn measure(command: &mut Command, workload: &Workload) -> Outcome<Vec<Value>> {
    let updates = workload.updates.to_string();
    command.args(["--updates", &updates, "--way", "as-they-come"]);
    let mut lines = peers::lines(command)?;
    let [sync, updates] = &mut lines[..] else {
        return Err("it printed something else than its two phases".into());
    };
    // The marker is an object, too.
    if sync["objects"] != workload.objects || updates["objects"] != workload.objects + 1 {
        return Err(format!("it has other objects: {sync}, {updates}").into());
    }
    for (line, phase, count) in [
        (sync, SYNC, workload.objects),
        (updates, UPDATES, workload.updates),
    ] {
        let of = |key: &str| line[key].as_f64().unwrap_or(f64::NAN) / float(count);
        let (cpu, rss, heard) = (of("cpu_seconds"), of("rss_growth_kb"), of("heard"));
        line["case"] = phase.into();
        line[CPU] = (cpu * 1e6).into();
        line[RSS] = (rss * 1024.0).into();
        line[HEARD] = heard.into();
    }
    Ok(lines)
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn float(count: u64) -> f64 {
    count as f64
}

fn report(rounds: Rounds, runs: &[Run]) -> Report {
    let json = runs.iter().map(|run| {
        let systems: Vec<Value> = run.systems.iter().map(System::json).collect();
        json!({"workload": run.workload.kind, "systems": systems})
    });
    let sizes = runs.iter().map(|run| {
        let (objects, updates) = (run.workload.objects, run.workload.updates);
        (
            run.workload.kind.to_owned(),
            json!({"objects": objects, "updates": updates}),
        )
    });
    Report {
        name: "workloads",
        what: rounds.sentence(),
        tables: runs.iter().map(table).collect(),
        verdicts: runs.iter().flat_map(verdicts).collect(),
        charts: Vec::new(),
        sizes: Value::Object(sizes.collect()),
        ours: runs.iter().flat_map(ours).collect(),
        json: json!({"runs": json.collect::<Vec<_>>()}),
    }
}

fn table(run: &Run) -> Table {
    let mut table = Table::new([
        run.workload.name,
        "first sync, µs each",
        "resident, kB each",
        "update, µs",
        "heard",
    ]);
    for peer in run.systems.iter().map(|it| it.name) {
        table.row([
            peer.to_owned(),
            run.samples(peer, SYNC, CPU).fixed(1),
            run.samples(peer, SYNC, RSS).times(1e-3).fixed(1),
            run.samples(peer, UPDATES, CPU).fixed(1),
            format!(
                "{:.0} %",
                100.0 * run.samples(peer, UPDATES, HEARD).median()
            ),
        ]);
    }
    table
}

/// A peer whose name contains the text may be left out, so any figure may be missing.
fn verdicts(run: &Run) -> Vec<Verdict> {
    let compare = |(what, phase, key): (&'static str, &'static str, &'static str)| {
        let of = |peer: &'static str| (peer, run.samples(peer, phase, key));
        let verdict = |form: &str, ours: &str, limit: &str| {
            let what = format!("{what}, {}, {form}", run.workload.kind);
            let verdict = Verdict::less(what, run.samples(ours, phase, key)).goal(1.0);
            verdict.limit(limit, run.samples(limit, phase, key).median())
        };
        // No handler decodes in the first sync, nor keeps what it decoded.
        let read_limit = if phase == SYNC { ALONE } else { ALONE_READ };
        let every = || [GO, GO_JSON, KUBE].map(of);
        [
            verdict("cheapest forms", OURS, ALONE).beside(every()),
            verdict("decoded by the handler", OURS_READ, read_limit).beside(every()),
            verdict("decoded JSON", DECODED_JSON, ALONE_JSON).beside([GO_JSON, KUBE].map(of)),
        ]
    };
    COMPARED.into_iter().flat_map(compare).collect()
}

fn ours(run: &Run) -> Vec<Figure> {
    let names = run.systems.iter().map(|it| it.name);
    let mut figures = Vec::new();
    for peer in names.filter(|it| it.starts_with("Kubist")) {
        for (what, phase, key) in COMPARED {
            let name = format!("{}, {peer}, {what}", run.workload.kind);
            figures.push(Figure::less(name, run.samples(peer, phase, key)));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_forms_are_compared_and_json_with_json() {
        let system = |name, cpu: f64| {
            let sync = json!({"case": SYNC, CPU: cpu, RSS: 2.0 * cpu});
            System::of(name, vec![vec![sync]])
        };
        let systems = [
            (OURS, 1.0),
            (DECODED_JSON, 3.0),
            (GO, 4.0),
            (GO_JSON, 9.0),
            (KUBE, 6.0),
            (ALONE, 0.5),
        ];
        let run = Run {
            workload: &WORKLOADS[0],
            systems: systems.map(|(name, cpu)| system(name, cpu)).into(),
        };
        let verdicts = verdicts(&run);
        let known: Vec<_> = verdicts.iter().map(Verdict::json).collect();
        assert_eq!(
            (&known[0]["best_peer"], known[0]["ahead_by"].as_f64()),
            (&json!(GO), Some(4.0))
        );
        assert!(
            !verdicts[1].is_known(),
            "a handler that decodes was not measured"
        );
        assert_eq!(
            (&known[2]["best_peer"], known[2]["ahead_by"].as_f64()),
            (&json!(KUBE), Some(2.0))
        );
        assert_eq!(known[3]["ahead_by"], 4.0, "memory");
        assert_eq!(known[3]["distance_to_limit"], 2.0);
        assert!(!verdicts[6].is_known(), "no updates were measured");
        assert_eq!(ours(&run).len(), 6);
    }
}
