//! `bench fanout`: one informer with many handlers, on events from within the process.
//!
//! The objects are Pods with metadata only. client-go's side is a shared informer on a
//! `FakeWatcher`, kube's a shared reflector with subscribers.

use super::chart::Chart;
use super::figure::Figure;
use super::peers::{self, Peers};
use super::report::Report;
use super::rounds::{Contestant, Rounds, System, interleave};
use super::samples::Samples;
use super::table::{Table, rate};
use super::verdict::Verdict;
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::process::Command;

/// Options of `cargo xtask bench fanout`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Handler calls in each run, from which the number of events follows
    #[arg(long, default_value_t = 3_000_000)]
    calls: u64,
    /// The most events
    #[arg(long, default_value_t = 300_000)]
    events_max: u64,
}

const HANDLERS: [u64; 3] = [1, 10, 100];

const COALESCED: &str = "Kubist, coalesced";
const EVERY: &str = "Kubist, every event";
/// Our program without an informer: a map keeps the objects and handlers are called in turn.
const ALONE: &str = "a map and the handlers alone";
const THEIRS: [&str; 2] = ["client-go", "kube"];
/// The case of each line: a run of a program has one.
const CASE: &str = "fanout";

/// The systems with this many handlers.
struct Run {
    handlers: u64,
    systems: Vec<System>,
}

impl Run {
    fn title(&self) -> String {
        match self.handlers {
            1 => "1 handler".to_owned(),
            it => format!("{it} handlers"),
        }
    }

    fn samples(&self, system: &str, of: impl Fn(&Value) -> f64) -> Samples {
        let found = self.systems.iter().find(|it| it.name == system);
        found.map_or_else(Samples::default, |it| it.figure(CASE, of))
    }
}

fn of(line: &Value, key: &str) -> f64 {
    line[key].as_f64().unwrap_or(f64::NAN)
}

/// Calls if no events were merged.
fn due(line: &Value) -> f64 {
    of(line, "events") * of(line, "handlers")
}

/// CPU nanoseconds for one event and one handler.
fn cpu(line: &Value) -> f64 {
    of(line, "cpu_seconds") * 1e9 / due(line)
}

pub(super) fn run(peers: &Peers, options: &Options, rounds: Rounds) -> Outcome<Report> {
    let mut runs = Vec::new();
    for handlers in HANDLERS {
        let events = (options.calls / handlers).min(options.events_max).max(1);
        let contestants = contestants(peers);
        let systems = interleave(rounds, &contestants, |command| {
            command.args(["--handlers", &handlers.to_string()]);
            command.args(["--events", &events.to_string()]);
            let mut lines = peers::lines(command)?;
            lines.truncate(1);
            let line = lines.first_mut().ok_or("it printed nothing")?;
            line["case"] = CASE.into();
            Ok(lines)
        })?;
        runs.push(Run { handlers, systems });
    }
    Ok(report(options, rounds, &runs))
}

fn contestants(peers: &Peers) -> Vec<Contestant<'_>> {
    let ours = |name, delivery| {
        Contestant::new(name, move || {
            let mut command = peers.rust("kubist-parts");
            command.args(["fanout", "--delivery", delivery]);
            command
        })
    };
    let mut all = vec![ours(COALESCED, "coalesced"), ours(EVERY, "every-event")];
    if let Some(program) = peers.go_program() {
        all.push(Contestant::new("client-go", move || {
            let mut command = Command::new(program);
            command.arg("fanout");
            command
        }));
    }
    all.push(Contestant::new("kube", move || {
        let mut command = peers.rust("kube-parts");
        command.arg("fanout");
        command
    }));
    all.push(ours(ALONE, "alone"));
    all
}

fn report(options: &Options, rounds: Rounds, runs: &[Run]) -> Report {
    let mut table = Table::new([
        "handlers",
        "system",
        "events",
        "heard",
        "events × handlers",
        "CPU for one, ns",
    ]);
    let mut chart = Chart::new(
        "fanout",
        "CPU for one event and one handler, ns (less is better)",
    );
    for run in runs {
        for system in &run.systems {
            let figure = |it: &dyn Fn(&Value) -> f64| system.figure(CASE, it);
            let wall = |line: &Value| of(line, "wall_seconds");
            let heard = figure(&|line| 100.0 * of(line, "delivered") / due(line));
            let cpu = figure(&cpu);
            table.row([
                run.handlers.to_string(),
                system.name.to_owned(),
                figure(&|line| of(line, "events") / wall(line)).show(rate),
                format!("{:.0} %", heard.median()),
                figure(&|line| due(line) / wall(line)).show(rate),
                cpu.fixed(0),
            ]);
            if system.name != ALONE {
                let label = format!("{}: {}", system.name, run.handlers);
                chart.bar(label, cpu.median(), format!("{:.0} ns", cpu.median()));
            }
        }
    }
    let json: Vec<Value> = runs
        .iter()
        .map(|run| {
            let systems: Vec<Value> = run.systems.iter().map(System::json).collect();
            json!({"handlers": run.handlers, "systems": systems})
        })
        .collect();
    Report {
        name: "fanout",
        what: format!(
            "Events about 1,000 small objects, as fast as they are taken. Coalesced delivery \
             merges what waits for one object, so a slow handler hears less than every step. {}",
            rounds.sentence()
        ),
        tables: vec![table],
        verdicts: verdicts(runs),
        charts: vec![chart],
        sizes: json!({"calls": options.calls, "events_max": options.events_max}),
        ours: ours(runs),
        json: json!({"runs": json}),
    }
}

/// The peers deliver every event.
fn verdicts(runs: &[Run]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for run in runs {
        for (name, delivery) in [(EVERY, "every event"), (COALESCED, "coalesced")] {
            let what = format!("CPU of an event, {}, {delivery}", run.title());
            let theirs = THEIRS.map(|it| (it, run.samples(it, cpu)));
            let verdict = Verdict::less(what, run.samples(name, cpu)).beside(theirs);
            // Coalesced events may be fewer than the handlers of the limit are called with.
            verdicts.push(match name {
                EVERY => verdict.limit(ALONE, run.samples(ALONE, cpu).median()),
                _ => verdict,
            });
        }
    }
    verdicts
}

fn ours(runs: &[Run]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for run in runs {
        for (name, delivery) in [(EVERY, "every event"), (COALESCED, "coalesced")] {
            let case = format!("{}, {delivery}", run.title());
            let rate = |line: &Value| of(line, "events") / of(line, "wall_seconds");
            figures.extend([
                Figure::less(format!("{case}, CPU ns"), run.samples(name, cpu)),
                Figure::more(format!("{case}, events a second"), run.samples(name, rate)),
            ]);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_for_one_event_and_one_handler_and_compared_with_the_best_peer() {
        let system = |name, cpu: f64| {
            let line = json!({"case": CASE, "events": 1e6, "handlers": 10, "cpu_seconds": cpu});
            System::of(name, vec![vec![line]])
        };
        let run = Run {
            handlers: 10,
            systems: vec![
                system(EVERY, 1.0),
                system("client-go", 3.0),
                system("kube", 2.0),
                system(ALONE, 0.5),
            ],
        };
        assert!((run.samples(EVERY, cpu).median() - 100.0).abs() < 1e-9);
        let verdicts = verdicts(&[run]);
        assert_eq!(verdicts[0].json()["best_peer"], "kube");
        assert_eq!(verdicts[0].json()["ahead_by"], 2.0);
        assert_eq!(verdicts[0].json()["distance_to_limit"], 2.0);
        assert!(
            !verdicts[1].is_known(),
            "coalesced delivery was not measured"
        );
    }
}
