//! `bench apply`: the cost of a watch event, from the bytes of the body to the handler, with two
//! indexes; without network, TLS and HTTP framing.
//!
//! The driver records the body of a streaming watch list once in each encoding. Each peer reads it
//! into memory and passes it to its client through an in-process transport. The measurement begins
//! when the peer is synced and idle, and ends when its handler has received the last event.

use super::chart::Chart;
use super::peers::{self, Peers};
use super::report::Report;
use super::table::{Table, fixed};
use super::target::Target;
use clap::Args;
use kubist_test_support::process::{self, Outcome, root};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
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
    /// How often each peer is measured; the median counts
    #[arg(long, default_value_t = ROUNDS)]
    rounds: u32,
    /// Only the peers whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

const ROUNDS: u32 = 3;

impl Options {
    pub(super) fn of(objects: u64, updates: u64) -> Self {
        Self {
            objects,
            updates,
            rounds: ROUNDS,
            only: None,
        }
    }
}

/// The peer that targets are for, and the one it is compared with.
const OURS: &str = "Kubist encoded, protobuf";
const GO: &str = "client-go, protobuf";
const KUBE: &str = "kube, JSON";

/// A peer: its name, its program, its flags, and the encoding that it reads.
type Peer = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
);

const PEERS: [Peer; 7] = [
    (OURS, "kubist-parts", &["--form", "encoded"], "protobuf"),
    (
        "Kubist decoded, protobuf",
        "kubist-parts",
        &["--form", "decoded"],
        "protobuf",
    ),
    (
        "Kubist encoded, JSON",
        "kubist-parts",
        &["--form", "encoded-json"],
        "json",
    ),
    (
        "Kubist decoded, JSON",
        "kubist-parts",
        &["--form", "decoded-json"],
        "json",
    ),
    (GO, "go-peer", &["--content", "protobuf"], "protobuf"),
    ("client-go, JSON", "go-peer", &["--content", "json"], "json"),
    (KUBE, "kube-parts", &[], "json"),
];

/// When events arrive: the argument, and its name in tables.
const WAYS: [(&str, &str); 2] = [
    ("as-they-come", "as they come"),
    ("one-at-a-time", "one at a time"),
];

/// The output of a peer's runs: a line for each.
struct Case {
    peer: &'static str,
    way: &'static str,
    lines: Vec<Value>,
}

impl Case {
    /// Returns the median of the lines.
    fn middle(&self, key: &str) -> f64 {
        let number = |line: &Value| line[key].as_f64().unwrap_or(f64::NAN);
        let mut values: Vec<f64> = self.lines.iter().map(number).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Report> {
    let recordings = Recordings::write(peers, options)?;
    let chosen = |peer: &&Peer| options.only.as_ref().is_none_or(|it| peer.0.contains(it));
    let mut cases: Vec<Case> = Vec::new();
    for peer in PEERS.iter().filter(chosen) {
        let case = |(way, _)| Case {
            peer: peer.0,
            way,
            lines: Vec::new(),
        };
        cases.extend(WAYS.map(case));
    }
    for _ in 0..options.rounds.max(1) {
        for case in &mut cases {
            let peer = PEERS.iter().find(|peer| peer.0 == case.peer);
            let Some((_, program, flags, content)) = peer else {
                continue;
            };
            let command = match *program {
                "go-peer" => peers.go(),
                name => Some(peers.rust(name)),
            };
            let Some(mut command) = command else { continue };
            command.arg("apply").args(*flags);
            case.lines.push(measure(
                command,
                &recordings.of(content),
                case.way,
                options,
            )?);
        }
    }
    cases.retain(|case| !case.lines.is_empty());
    Ok(report(options, &cases))
}

fn measure(mut command: Command, body: &Path, way: &str, options: &Options) -> Outcome<Value> {
    command
        .arg("--body")
        .arg(body)
        .args(["--updates", &options.updates.to_string(), "--way", way]);
    let lines = peers::lines(&mut command)?;
    let line = lines.into_iter().next().ok_or("it printed nothing")?;
    // The marker is an object, too.
    if line["requests"] != 1 || line["objects"] != options.objects + 1 {
        return Err(format!("it did something else than follow one watch: {line}").into());
    }
    Ok(line)
}

/// The recorded bodies, which are large; they are deleted on drop.
struct Recordings(PathBuf);

impl Recordings {
    fn write(peers: &Peers, options: &Options) -> Outcome<Self> {
        let folder = root().join("target/bench");
        std::fs::create_dir_all(&folder)?;
        let recordings = Self(folder);
        for content in ["protobuf", "json"] {
            let mut driver = Command::new(peers.driver());
            driver
                .args(["record", "--content", content])
                .args(["--objects", &options.objects.to_string()])
                .args(["--updates", &options.updates.to_string()])
                .arg("--out")
                .arg(recordings.of(content));
            process::run_with(&mut driver)?;
        }
        Ok(recordings)
    }

    fn of(&self, content: &str) -> PathBuf {
        self.0.join(format!("watch.{content}"))
    }
}

impl Drop for Recordings {
    fn drop(&mut self) {
        for content in ["protobuf", "json"] {
            // A file that stays is overwritten by the next run.
            std::fs::remove_file(self.of(content)).ok();
        }
    }
}

/// Returns the CPU microseconds of an event.
fn cpu(options: &Options, cases: &[Case], peer: &str, way: &str) -> f64 {
    let seconds = find(cases, peer, way).map_or(f64::NAN, |it| it.middle("cpu_seconds"));
    seconds * 1e6 / count(options)
}

#[expect(clippy::cast_precision_loss, reason = "a count of updates is small")]
fn count(options: &Options) -> f64 {
    options.updates as f64
}

fn find<'a>(cases: &'a [Case], peer: &str, way: &str) -> Option<&'a Case> {
    cases.iter().find(|it| it.peer == peer && it.way == way)
}

fn report(options: &Options, cases: &[Case]) -> Report {
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
    let mut table = Table::new([
        "CPU for one event",
        "as they come, µs",
        "heard",
        "one at a time, µs",
    ]);
    for (peer, ..) in PEERS {
        if find(cases, peer, WAYS[0].0).is_none() {
            continue;
        }
        let figures = WAYS.map(|(way, _)| cpu(options, cases, peer, way));
        let heard = find(cases, peer, WAYS[0].0).map_or(f64::NAN, |it| it.middle("heard"));
        table.row([
            peer.to_owned(),
            fixed(figures[0], 1),
            format!("{:.0} %", 100.0 * heard / count(options)),
            fixed(figures[1], 1),
        ]);
        for (chart, figure) in charts.iter_mut().zip(figures) {
            chart.bar(peer, figure, format!("{figure:.1} µs"));
        }
    }
    let runs: Vec<Value> = cases
        .iter()
        .map(|it| json!({"peer": it.peer, "way": it.way, "runs": it.lines}))
        .collect();
    Report {
        name: "apply",
        what: format!(
            "{} Pods, then {} updates; the middle of {} runs.",
            options.objects,
            options.updates,
            options.rounds.max(1)
        ),
        tables: vec![table],
        targets: targets(options, cases),
        charts: charts.into(),
        json: json!({"objects": options.objects, "updates": options.updates, "cases": runs}),
    }
}

fn targets(options: &Options, cases: &[Case]) -> Vec<Target> {
    let mut targets = Vec::new();
    for (peer, share, whose) in [
        (GO, 1.0 / 8.0, "client-go's, protobuf"),
        (KUBE, 0.2, "kube's"),
    ] {
        for (way, name) in WAYS {
            let theirs = cpu(options, cases, peer, way);
            let ours = cpu(options, cases, OURS, way);
            if theirs.is_finite() && ours.is_finite() {
                let what = format!("CPU of an event, {name}");
                targets.push(Target::at_most(&what, ours, share, theirs, whose));
            }
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(peer: &'static str, way: &'static str, seconds: [f64; 3]) -> Case {
        let lines = seconds.map(|it| json!({"cpu_seconds": it})).into();
        Case { peer, way, lines }
    }

    #[test]
    fn the_middle_of_the_runs_is_compared_way_by_way() {
        let options = Options::of(1_000, 1_000);
        let cases = [
            case(OURS, "as-they-come", [0.9, 0.01, 0.02]),
            case(GO, "as-they-come", [0.2, 0.2, 0.1]),
            case(KUBE, "one-at-a-time", [0.3, 0.3, 0.3]),
        ];
        let (way, single) = (WAYS[0].0, WAYS[1].0);
        assert!((cpu(&options, &cases, OURS, way) - 20.0).abs() < 1e-9);
        assert!(cpu(&options, &cases, OURS, single).is_nan());
        let targets = targets(&options, &cases);
        assert_eq!(targets.len(), 1, "what was not measured has no target");
        assert_eq!(targets[0].json()["holds"], true);
        assert_eq!(targets[0].json()["measured"], "1/10.0");
    }
}
