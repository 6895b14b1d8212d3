//! `bench cache`: the store of an informer, with an index by namespace and one by node.
//!
//! kube's store has no indexes: an index look-up of the others is a scan there.

use super::chart::Chart;
use super::informer;
use super::peers::{self, Peers, number};
use super::report::Report;
use super::table::{Table, duration, rate};
use super::target::Target;
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};

/// Options of `cargo xtask bench cache`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Pods in the store
    #[arg(long, default_value_t = 20_000)]
    objects: u64,
    /// How long readers run during writes, in seconds
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
}

impl Options {
    /// Returns the defaults, with this many objects.
    pub(super) fn of(objects: u64) -> Self {
        Self {
            objects,
            seconds: 3.0,
        }
    }
}

/// One of 400 applications.
const APP: &str = "backend-7";
const LABEL: &str = "app.kubernetes.io/name";

/// The cases: their names in the peers' output, and in tables.
const CASES: [(&str, &str); 9] = [
    ("replace", "replace all, one object"),
    ("add", "add"),
    ("update", "update"),
    ("get", "get"),
    ("by-index", "by index, 40 objects"),
    ("by-index of 40", "the same by another index"),
    (
        "by-index of 40, a quarter",
        "the same, a quarter of the objects",
    ),
    ("select", "label selector over all"),
    (
        "select with an index",
        "label selector, with an index of it",
    ),
];

pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Report> {
    let objects = options.objects.to_string();
    let seconds = options.seconds.to_string();
    let selector = format!("{LABEL}={APP}");
    let ours = |form: &str| {
        let mut command = peers.rust("kubist-parts");
        command.args(["cache", "--form", form, "--selector", &selector]);
        command.args(["--objects", &objects, "--seconds", &seconds]);
        peers::lines(&mut command)
    };
    let mut systems = vec![
        ("Kubist, encoded", ours("encoded")?),
        ("Kubist, decoded", ours("decoded")?),
    ];
    if let Some(mut command) = peers.go() {
        let pods = informer::pods_file(peers, options.objects)?;
        command.args(["cache", "--selector", &selector, "--seconds", &seconds]);
        command.arg("--pods").arg(&pods);
        systems.push(("client-go", peers::lines(&mut command)?));
        std::fs::remove_file(pods)?;
    }
    let mut command = peers.rust("kube-parts");
    command.args(["cache", "--app", APP]);
    command.args(["--objects", &objects, "--seconds", &seconds]);
    systems.push(("kube", peers::lines(&mut command)?));
    Ok(report(options, &systems))
}

/// Readers that borrow an object without counting a reference, as Go code that follows a pointer
/// does.
const IN_PLACE: &str = "readers in place";

type System = (&'static str, Vec<Value>);

fn report(options: &Options, systems: &[System]) -> Report {
    let json: Vec<Value> = systems
        .iter()
        .map(|(name, lines)| json!({"peer": name, "cases": lines}))
        .collect();
    Report {
        name: "cache",
        what: format!(
            "{} Pods, two indexes; each write is visible before the next.",
            options.objects
        ),
        tables: vec![cases(systems), readers(systems)],
        targets: targets(systems),
        charts: charts(systems),
        json: json!({"objects": options.objects, "systems": json}),
    }
}

fn cases(systems: &[System]) -> Table {
    let mut head = vec![""];
    head.extend(systems.iter().map(|(name, _)| *name));
    let mut table = Table::with_head(&head);
    for (case, title) in CASES {
        let cell = |(_, lines): &System| duration(number(lines, case, "nanoseconds"));
        table.row(std::iter::once(title.to_owned()).chain(systems.iter().map(cell)));
    }
    table
}

fn readers(systems: &[System]) -> Table {
    let mut table = Table::new(["two readers beside a writer", "reads", "writes"]);
    for (name, lines) in systems {
        for (case, suffix) in [("readers", ""), (IN_PLACE, ", in place")] {
            let of = |key: &str| number(lines, case, key);
            if of("reads_per_second").is_finite() {
                table.row([
                    format!("{name}{suffix}"),
                    rate(of("reads_per_second")),
                    rate(of("writes_per_second")),
                ]);
            }
        }
    }
    table
}

fn targets(systems: &[System]) -> Vec<Target> {
    let of = |name: &str, case: &str, key: &str| {
        let found = systems.iter().find(|(system, _)| *system == name);
        found.map_or(f64::NAN, |(_, lines)| number(lines, case, key))
    };
    let ours = "Kubist, encoded";
    let look_up = |case: &str| of(ours, case, "nanoseconds");
    let mut targets = vec![Target::at_most(
        "look-up in an index",
        look_up("by-index of 40"),
        1.5,
        look_up("by-index of 40, a quarter"),
        "with a quarter of the objects",
    )];
    if systems.iter().any(|(name, _)| *name == "client-go") {
        let reads = |name: &str, case: &str| of(name, case, "reads_per_second");
        let (ours, go) = (reads(ours, IN_PLACE), reads("client-go", "readers"));
        let what = "reads beside a busy writer, in place";
        targets.push(Target::at_least(what, ours, 2.0, go, "client-go's"));
    }
    targets
}

fn charts(systems: &[System]) -> Vec<Chart> {
    let mut reads = Chart::new(
        "cache-readers",
        "Two readers beside a busy writer: reads a second (more is better)",
    );
    let mut select = Chart::new(
        "cache-select",
        "Label selector over all objects, ms (less is better)",
    );
    let mut update = Chart::new("cache-update", "Updating one object, µs (less is better)");
    for (name, lines) in systems {
        for (case, suffix) in [("readers", ""), (IN_PLACE, ", in place")] {
            let figure = number(lines, case, "reads_per_second");
            if figure.is_finite() {
                reads.bar(format!("{name}{suffix}"), figure, rate(figure));
            }
        }
        for (case, suffix) in [("select", ""), ("select with an index", ", with an index")] {
            let figure = number(lines, case, "nanoseconds");
            select.bar(format!("{name}{suffix}"), figure, duration(figure));
        }
        let figure = number(lines, "update", "nanoseconds");
        update.bar(*name, figure, duration(figure));
    }
    vec![update, select, reads]
}
