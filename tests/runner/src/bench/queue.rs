//! `bench queue`: the work queue. kube has no public one; its scheduler of delayed requests is
//! compared with delayed items.

use super::chart::Chart;
use super::peers::{self, Peers, number};
use super::report::Report;
use super::table::{Table, duration, fixed, rate};
use super::target::Target;
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};

/// Options of `cargo xtask bench queue`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Items that pass through the queue
    #[arg(long, default_value_t = 1_000_000)]
    items: u64,
    /// Items with a delay
    #[arg(long, default_value_t = 100_000)]
    delayed: u64,
}

const ONE_THREAD: &str = "one thread";
const DIFFERENT: &str = "1 producer, 4 workers, all different";
const REPEATED: &str = "1 producer, 4 workers, names repeat";

type System = (&'static str, Vec<Value>);

pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Report> {
    let (items, delayed) = (options.items.to_string(), options.delayed.to_string());
    let mut command = peers.rust("kubist-parts");
    command.args(["queue", "--items", &items, "--delayed", &delayed]);
    let mut systems = vec![("Kubist", peers::lines(&mut command)?)];
    if let Some(mut command) = peers.go() {
        command.args(["queue", "--items", &items, "--delayed", &delayed]);
        systems.push(("client-go", peers::lines(&mut command)?));
    }
    let mut command = peers.rust("kube-parts");
    command.args(["queue", "--delayed", &delayed]);
    systems.push(("kube", peers::lines(&mut command)?));
    Ok(report(options, &systems))
}

fn report(options: &Options, systems: &[System]) -> Report {
    let json: Vec<Value> = systems
        .iter()
        .map(|(name, lines)| json!({"peer": name, "cases": lines}))
        .collect();
    Report {
        name: "queue",
        what: format!(
            "{} items, names as strings; {} items with delays of up to a second.",
            options.items, options.delayed
        ),
        tables: vec![rates(systems), delays(systems)],
        targets: targets(systems),
        charts: vec![chart(systems)],
        json: json!({"items": options.items, "delayed": options.delayed, "systems": json}),
    }
}

fn rates(systems: &[System]) -> Table {
    let mut head = vec!["add, take, finish"];
    let with_rates = || {
        let has = |(_, lines): &&System| number(lines, ONE_THREAD, "items_per_second").is_finite();
        systems.iter().filter(has)
    };
    head.extend(with_rates().map(|(name, _)| *name));
    let mut table = Table::with_head(&head);
    for case in [ONE_THREAD, DIFFERENT, REPEATED] {
        let cell = |(_, lines): &System| rate(number(lines, case, "items_per_second"));
        table.row(std::iter::once(case.to_owned()).chain(with_rates().map(cell)));
    }
    table
}

fn delays(systems: &[System]) -> Table {
    let mut table = Table::new([
        "delayed items",
        "adding all, ms",
        "CPU for all, s",
        "mean lateness",
    ]);
    for (name, lines) in systems {
        let of = |key: &str| number(lines, "delayed", key);
        table.row([
            (*name).to_owned(),
            fixed(of("add_seconds") * 1e3, 0),
            fixed(of("cpu_seconds"), 2),
            duration(of("late_microseconds") * 1e3),
        ]);
    }
    table
}

fn targets(systems: &[System]) -> Vec<Target> {
    let of = |system: &str, case: &str| {
        let found = systems.iter().find(|(name, _)| *name == system);
        found.map_or(f64::NAN, |(_, lines)| {
            number(lines, case, "items_per_second")
        })
    };
    if !systems.iter().any(|(name, _)| *name == "client-go") {
        return Vec::new();
    }
    let target = |case: &str| {
        let (ours, go) = (of("Kubist", case), of("client-go", case));
        Target::at_least(case, ours, 2.0, go, "client-go's")
    };
    vec![target(DIFFERENT), target(REPEATED)]
}

fn chart(systems: &[System]) -> Chart {
    let mut chart = Chart::new("queue", "Work queue: items a second (more is better)");
    for case in [ONE_THREAD, DIFFERENT, REPEATED] {
        for (name, lines) in systems {
            let figure = number(lines, case, "items_per_second");
            let case = case.replace("1 producer, 4 workers", "1 + 4");
            chart.bar(format!("{name}: {case}"), figure, rate(figure));
        }
    }
    chart
}
