//! `bench codec`: the cost of decoding, ingesting and encoding a Pod, compared with other crates.

use super::chart::Chart;
use super::peers::{self, Peers};
use super::report::Report;
use super::table::{Table, fixed};
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};

/// Options of `cargo xtask bench codec`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// The number of different Pods
    #[arg(long, default_value_t = OBJECTS)]
    objects: u64,
    /// How often each case processes all Pods
    #[arg(long, default_value_t = ROUNDS)]
    rounds: u32,
}

const OBJECTS: u64 = 5_000;
const ROUNDS: u32 = 4;

impl Default for Options {
    fn default() -> Self {
        Self {
            objects: OBJECTS,
            rounds: ROUNDS,
        }
    }
}

/// The operation, the format, and the peer's equivalent.
const CASES: [(&str, &str, Option<&str>); 6] = [
    ("decode", "json", Some("k8s-openapi")),
    ("decode", "protobuf", Some("prost")),
    ("encode", "json", Some("k8s-openapi")),
    ("encode", "protobuf", Some("prost")),
    ("ingest", "json", None),
    ("ingest", "protobuf", None),
];

pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Report> {
    let mut command = peers.rust("codec");
    command
        .args(["--objects", &options.objects.to_string()])
        .args(["--rounds", &options.rounds.to_string()]);
    Ok(report(options, &peers::lines(&mut command)?))
}

fn report(options: &Options, lines: &[Value]) -> Report {
    let mut table = Table::new([
        "one Pod",
        "Kubist, µs",
        "held, kB",
        "peer, µs",
        "held, kB",
        "peer",
    ]);
    let mut chart = Chart::new("codec", "Decoding and encoding a Pod, µs (less is better)");
    for (what, encoding, peer) in CASES {
        let title = format!("{what} {}", encoding.replace("json", "JSON"));
        let mut row = vec![title.clone()];
        for system in ["kubist", peer.unwrap_or_default()] {
            let case = format!("{what}/{encoding}/{system}");
            let time = peers::number(lines, &case, "microseconds_each");
            let held = peers::number(lines, &case, "bytes_held_each");
            let held = if what == "encode" { f64::NAN } else { held };
            row.push(fixed(time, 1));
            row.push(fixed(held / 1e3, 1));
            let name = if system == "kubist" { "Kubist" } else { system };
            chart.bar(format!("{name}: {title}"), time, format!("{time:.1} µs"));
        }
        row.push(peer.unwrap_or_default().to_owned());
        table.row(row);
    }
    Report {
        name: "codec",
        what: format!(
            "{} Pods, {} rounds; held is the resident memory that each object adds.",
            options.objects, options.rounds
        ),
        tables: vec![table],
        targets: Vec::new(),
        charts: vec![chart],
        json: json!({"cases": lines}),
    }
}
