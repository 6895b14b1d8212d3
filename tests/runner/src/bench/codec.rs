//! `bench codec`: the cost of decoding, ingesting and encoding a Pod, compared with other crates.

use super::chart::Chart;
use super::figure::Figure;
use super::peers::{self, Peers};
use super::report::Report;
use super::rounds::{Contestant, Rounds, System, find, interleave};
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

/// The operation, the format, and the peer's equivalent.
const CASES: [(&str, &str, Option<&str>); 6] = [
    ("decode", "json", Some("k8s-openapi")),
    ("decode", "protobuf", Some("prost")),
    ("encode", "json", Some("k8s-openapi")),
    ("encode", "protobuf", Some("prost")),
    ("ingest", "json", None),
    ("ingest", "protobuf", None),
];

pub(super) fn run(peers: &Peers, options: &Options, rounds: Rounds) -> Outcome<Report> {
    // One program has all implementations, and measures them in turn.
    let all = Contestant::new("codec", || {
        let mut command = peers.rust("codec");
        command
            .args(["--objects", &options.objects.to_string()])
            .args(["--rounds", &options.times.to_string()]);
        command
    });
    let systems = interleave(rounds, &[all], peers::lines)?;
    let [system] = &systems[..] else {
        return Err("it has one program".into());
    };
    Ok(report(options, rounds, system))
}

/// Returns the microseconds that one operation of ours takes for a Pod, the median of the rounds:
/// other benchmarks include it and cannot be faster.
pub(super) fn ours_alone(
    peers: &Peers,
    rounds: Rounds,
    what: &str,
    encoding: &str,
) -> Outcome<f64> {
    let case = name(what, encoding, OURS);
    let alone = Contestant::new("codec", || {
        let mut command = peers.rust("codec");
        command.args(["--case", &case]);
        command
    });
    let systems = interleave(rounds, &[alone], peers::lines)?;
    Ok(find(&systems, "codec", &case, TIME).median())
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

fn report(options: &Options, rounds: Rounds, system: &System) -> Report {
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
        for of in [OURS, peer.unwrap_or_default()] {
            row.extend([time(of).fixed(1), held(of).fixed(1)]);
            let label = if of == OURS { "Kubist" } else { of };
            let median = time(of).median();
            chart.bar(
                format!("{label}: {title}"),
                median,
                format!("{median:.1} µs"),
            );
        }
        row.push(peer.unwrap_or_default().to_owned());
        table.row(row);
        if let Some(peer) = peer {
            verdicts.push(Verdict::less(&*title, time(OURS)).beside([(peer, time(peer))]));
            let what = format!("{title}, held");
            verdicts.push(Verdict::less(what, held(OURS)).beside([(peer, held(peer))]));
        }
        ours.push(Figure::less(format!("{title}, µs"), time(OURS)));
        ours.push(Figure::less(format!("{title}, held, kB"), held(OURS)));
    }
    Report {
        name: "codec",
        what: format!(
            "{} Pods, {} times in each round; held is the resident memory that each object adds. \
             {}",
            options.objects,
            options.times,
            rounds.sentence()
        ),
        tables: vec![table],
        verdicts,
        charts: vec![chart],
        sizes: json!({"objects": options.objects, "times": options.times}),
        ours,
        json: json!({"system": system.json()}),
    }
}
