//! `bench queue`: the work queue. kube has no public one; its scheduler of delayed requests is
//! compared with delayed items.

use super::chart::Chart;
use super::figure::Figure;
use super::peers::{self, Peers};
use super::report::Report;
use super::rounds::{Contestant, Rounds, System, find, interleave};
use super::samples::Samples;
use super::table::{Table, duration, rate};
use super::verdict::Verdict;
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::json;
use std::process::Command;

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

const CROWDED: &str = "8 producers, 8 workers, all different";

const CASES: [&str; 4] = [ONE_THREAD, DIFFERENT, REPEATED, CROWDED];
const DELAYED: &str = "delayed";
const RATE: &str = "items_per_second";
const OURS: &str = "Kubist";
const THEIRS: [&str; 2] = ["client-go", "kube"];
/// What passing items costs at least, as `queue_limits.rs` of the peer measures it.
const HANDOVER: &str = "handing names over in batches";
const TIMER: &str = "sorting, and a timer";

/// The limit of a case in our output.
fn limit_of(case: &str) -> String {
    format!("limit, {case}")
}

pub(super) fn run(peers: &Peers, options: &Options, rounds: Rounds) -> Outcome<Report> {
    let (items, delayed) = (options.items.to_string(), options.delayed.to_string());
    let (items, delayed) = (items.as_str(), delayed.as_str());
    let mut contestants = vec![Contestant::new(OURS, move || {
        let mut command = peers.rust("kubist-parts");
        command.args(["queue", "--items", items, "--delayed", delayed]);
        command
    })];
    if let Some(program) = peers.go_program() {
        contestants.push(Contestant::new("client-go", move || {
            let mut command = Command::new(program);
            command.args(["queue", "--items", items, "--delayed", delayed]);
            command
        }));
    }
    contestants.push(Contestant::new("kube", move || {
        let mut command = peers.rust("kube-parts");
        command.args(["queue", "--delayed", delayed]);
        command
    }));
    let systems = interleave(rounds, &contestants, peers::lines)?;
    Ok(report(options, rounds, &systems))
}

fn report(options: &Options, rounds: Rounds, systems: &[System]) -> Report {
    let json: Vec<_> = systems.iter().map(System::json).collect();
    Report {
        name: "queue",
        what: format!(
            "{} items, names as strings; {} items with delays of up to a second. {}",
            options.items,
            options.delayed,
            rounds.sentence()
        ),
        tables: vec![rates(systems), delays(systems)],
        verdicts: verdicts(systems),
        charts: vec![chart(systems)],
        sizes: json!({"items": options.items, "delayed": options.delayed}),
        ours: ours(systems),
        json: json!({"systems": json}),
    }
}

fn rates(systems: &[System]) -> Table {
    let mut head = vec!["add, take, finish"];
    let with_rates = || {
        let has = |it: &&System| it.samples(ONE_THREAD, RATE).median().is_finite();
        systems.iter().filter(has)
    };
    head.extend(with_rates().map(|it| it.name));
    head.push(HANDOVER);
    let mut table = Table::with_head(&head);
    for case in CASES {
        let cell = |it: &System| it.samples(case, RATE).show(rate);
        let limit = find(systems, OURS, &limit_of(case), RATE).show(rate);
        let row = std::iter::once(case.to_owned()).chain(with_rates().map(cell));
        table.row(row.chain([limit]));
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
    let limit = limit_of(DELAYED);
    let own = systems.iter().filter(|it| it.name == OURS);
    let measured = systems.iter().map(|it| (it.name, it, DELAYED));
    for (name, system, case) in measured.chain(own.map(|it| (TIMER, it, limit.as_str()))) {
        let of = |key: &str| system.samples(case, key);
        table.row([
            name.to_owned(),
            of("add_seconds").times(1e3).fixed(0),
            of("cpu_seconds").fixed(2),
            of("late_microseconds").times(1e3).show(duration),
        ]);
    }
    table
}

fn verdicts(systems: &[System]) -> Vec<Verdict> {
    let theirs = |case: &str, key: &str| -> Vec<(&str, Samples)> {
        let peers = THEIRS.into_iter();
        peers.map(|it| (it, find(systems, it, case, key))).collect()
    };
    let own = |case: &str, key: &str| find(systems, OURS, case, key);
    let limit = |case: &str, key: &str| own(&limit_of(case), key).median();
    let rate = |case: &str| {
        let verdict = Verdict::more(case, own(case, RATE)).beside(theirs(case, RATE));
        verdict.limit(HANDOVER, limit(case, RATE))
    };
    let delayed = |what: &str, key: &str| {
        let verdict = Verdict::less(what, own(DELAYED, key)).beside(theirs(DELAYED, key));
        verdict.limit(TIMER, limit(DELAYED, key))
    };
    vec![
        rate(ONE_THREAD),
        rate(DIFFERENT).goal(2.0),
        rate(REPEATED).goal(2.0),
        rate(CROWDED).goal(2.0),
        delayed("CPU for delayed items", "cpu_seconds"),
        delayed("lateness of delayed items", "late_microseconds"),
    ]
}

fn ours(systems: &[System]) -> Vec<Figure> {
    let of = |case: &str, key: &str| find(systems, OURS, case, key);
    let mut figures: Vec<Figure> = (CASES.into_iter())
        .map(|case| Figure::more(format!("{case}, items a second"), of(case, RATE)))
        .collect();
    figures.extend([
        Figure::less("adding delayed items, s", of(DELAYED, "add_seconds")),
        Figure::less("CPU for delayed items, s", of(DELAYED, "cpu_seconds")),
        Figure::less(
            "lateness of delayed items, µs",
            of(DELAYED, "late_microseconds"),
        ),
    ]);
    figures
}

fn chart(systems: &[System]) -> Chart {
    let mut chart = Chart::new("queue", "Work queue: items a second (more is better)");
    for case in CASES {
        for system in systems {
            let figure = system.samples(case, RATE).median();
            let case = case.replace("1 producer, 4 workers", "1 + 4");
            let case = case.replace("8 producers, 8 workers", "8 + 8");
            chart.bar(format!("{}: {case}", system.name), figure, rate(figure));
        }
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system whose rounds found these rates, and no delayed items.
    fn system(name: &'static str, rates: &[f64]) -> System {
        let round = |rate: &f64| {
            let line = |case: &&str| json!({"case": case, RATE: rate});
            CASES.iter().map(line).collect()
        };
        System::of(name, rates.iter().map(round).collect())
    }

    #[test]
    fn the_median_is_compared_and_the_spread_is_shown() {
        let ours = system(OURS, &[1e6, 2e6, 4e6, 2.2e6, 1.8e6]);
        let systems = [
            ours,
            system("client-go", &[1e6, 0.5e6, 0.5e6, 0.5e6, 0.4e6]),
        ];
        let verdicts = verdicts(&systems);
        assert_eq!(verdicts[1].json()["ahead_by"], 4.0);
        assert_eq!(verdicts[1].json()["best_peer"], "client-go");
        assert!(!verdicts[4].is_known(), "nothing was delayed");
        let table = rates(&systems).to_string();
        assert!(table.contains("| 2.00 M/s ±10 % |"), "{table}");
    }
}
