//! `bench codec`: the cost of decoding, ingesting and encoding a Pod, and one object of every kind,
//! compared with other crates.

mod kinds;

use super::chart::Chart;
use super::figure::Figure;
use super::peers::{self, Peers};
use super::report::Report;
use super::rounds::{Contestant, Rounds, System, interleave};
use super::samples::Samples;
use super::table::Table;
use super::verdict::Verdict;
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::json;

/// Options of `cargo xtask bench codec`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// The number of different Pods
    #[arg(long, default_value_t = OBJECTS)]
    objects: u64,
    /// How often each case processes all Pods in a round
    #[arg(long, default_value_t = TIMES)]
    times: u32,
}

const OBJECTS: u64 = 5_000;
const TIMES: u32 = 4;

impl Default for Options {
    fn default() -> Self {
        Self {
            objects: OBJECTS,
            times: TIMES,
        }
    }
}

/// The implementation that is ours.
const OURS: &str = "kubist";
const TIME: &str = "microseconds_each";
const HELD: &str = "bytes_held_each";

/// A peer, and how many times as fast ours should be.
type Rival = (&'static str, f64);

/// The operation, the format, and the peer's equivalent.
const CASES: [(&str, &str, Option<Rival>); 6] = [
    ("decode", "json", Some(("k8s-openapi", 2.0))),
    ("decode", "protobuf", Some(("prost", 1.3))),
    ("encode", "json", Some(("k8s-openapi", 1.5))),
    ("encode", "protobuf", Some(("prost", 1.3))),
    ("ingest", "json", None),
    ("ingest", "protobuf", None),
];

pub(super) fn run(peers: &Peers, options: &Options, rounds: Rounds) -> Outcome<Report> {
    // Each program has all implementations, and measures them in turn.
    let all = Contestant::new("codec", || {
        let mut command = peers.rust("codec");
        command
            .args(["--objects", &options.objects.to_string()])
            .args(["--rounds", &options.times.to_string()]);
        command
    });
    let kinds = Contestant::new("kinds", || peers.rust("kinds"));
    let systems = interleave(rounds, &[all, kinds], peers::lines)?;
    let [pods, kinds] = &systems[..] else {
        return Err("it has two programs".into());
    };
    Ok(report(options, rounds, pods, kinds))
}

/// Returns the name of a case in the program's output.
fn name(what: &str, encoding: &str, implementation: &str) -> String {
    format!("{what}/{encoding}/{implementation}")
}

/// Memory is not held by encoding.
fn held(system: &System, what: &str, encoding: &str, implementation: &str) -> Samples {
    if what == "encode" {
        return Samples::default();
    }
    let samples = system.samples(&name(what, encoding, implementation), HELD);
    samples.times(1e-3)
}

/// What a decoded Pod should take at most.
const HELD_GOAL_KB: f64 = 12.0;
/// What ingesting JSON should do at least, in MB a second.
const INGEST_GOAL: (&str, f64) = ("1.5 GB/s", 1500.0);
const THROUGHPUT: &str = "megabytes_per_second";

/// What an operation takes at least: the baseline, and its title. Whoever decodes allocates what a
/// copy of the object does, and whoever encodes writes the bytes.
fn limit_of(what: &str) -> (&'static str, &'static str) {
    match what {
        "encode" => ("bytes", "copying the bytes"),
        _ => ("object", "copying the object"),
    }
}

/// Compares an operation with the peer's, and with what it takes at least.
fn compare(
    system: &System,
    (what, encoding): (&str, &str),
    title: &str,
    peer: Option<Rival>,
) -> Vec<Verdict> {
    let samples = |of: &str, key: &str| system.samples(&name(what, encoding, of), key);
    let Some((peer, goal)) = peer else {
        if encoding != "json" {
            return Vec::new();
        }
        let (goal, megabytes) = INGEST_GOAL;
        let verdict = Verdict::more(format!("{title}, MB/s"), samples(OURS, THROUGHPUT));
        return vec![verdict.goal_value(goal, megabytes)];
    };
    let (limit, limit_title) = limit_of(what);
    let limit = system.samples(&name("baseline", limit, "none"), TIME);
    let time = Verdict::less(title, samples(OURS, TIME)).beside([(peer, samples(peer, TIME))]);
    let held = |of: &str| held(system, what, encoding, of);
    let bytes = self::held(system, "baseline", "bytes", "none").median();
    vec![
        time.goal(goal).limit(limit_title, limit.median()),
        Verdict::less(format!("{title}, held"), held(OURS))
            .beside([(peer, held(peer))])
            .goal_value("12 kB", HELD_GOAL_KB)
            .limit("its bytes as protobuf", bytes),
    ]
}

fn report(options: &Options, rounds: Rounds, system: &System, kinds: &System) -> Report {
    let mut table = Table::new([
        "one Pod",
        "Kubist, µs",
        "held, kB",
        "peer, µs",
        "held, kB",
        "peer",
    ]);
    let mut chart = Chart::new("codec", "Decoding and encoding a Pod, µs (less is better)");
    let (mut verdicts, mut ours) = (Vec::new(), Vec::new());
    for (what, encoding, peer) in CASES {
        let title = format!("{what} {}", encoding.replace("json", "JSON"));
        let time = |of: &str| system.samples(&name(what, encoding, of), TIME);
        let held = |of: &str| held(system, what, encoding, of);
        let mut row = vec![title.clone()];
        let peer_name = peer.map_or("", |(name, _)| name);
        for of in [OURS, peer_name] {
            row.extend([time(of).fixed(1), held(of).fixed(1)]);
            let label = if of == OURS { "Kubist" } else { of };
            let median = time(of).median();
            chart.bar(
                format!("{label}: {title}"),
                median,
                format!("{median:.1} µs"),
            );
        }
        row.push(peer_name.to_owned());
        table.row(row);
        verdicts.extend(compare(system, (what, encoding), &title, peer));
        ours.push(Figure::less(format!("{title}, µs"), time(OURS)));
        ours.push(Figure::less(format!("{title}, held, kB"), held(OURS)));
    }
    let mut every = kinds::report(kinds);
    verdicts.append(&mut every.verdicts);
    ours.append(&mut every.ours);
    Report {
        name: "codec",
        what: format!(
            "{} Pods, {} times in each round; held is the resident memory that each object adds. \
             {}",
            options.objects,
            options.times,
            rounds.sentence()
        ),
        tables: vec![table, every.table],
        verdicts,
        charts: vec![chart],
        sizes: json!({"objects": options.objects, "times": options.times}),
        ours,
        json: json!({"system": system.json(), "kinds": kinds.json()}),
    }
}
