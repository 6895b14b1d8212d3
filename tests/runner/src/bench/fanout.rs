//! `bench fanout`: one informer with many handlers, on events from within the process.
//!
//! The objects are Pods with metadata only. client-go's side is a shared informer on a
//! `FakeWatcher`, kube's a shared reflector with subscribers.

use super::chart::Chart;
use super::peers::{self, Peers};
use super::report::Report;
use super::table::{Table, fixed, rate};
use clap::Args;
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};

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

struct Run {
    system: &'static str,
    handlers: u64,
    line: Value,
}

impl Run {
    fn number(&self, key: &str) -> f64 {
        self.line[key].as_f64().unwrap_or(f64::NAN)
    }

    /// Calls if no events were merged.
    fn due(&self) -> f64 {
        self.number("events") * self.number("handlers")
    }

    /// CPU nanoseconds for one event and one handler.
    fn cpu(&self) -> f64 {
        self.number("cpu_seconds") * 1e9 / self.due()
    }
}

pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Report> {
    let mut runs = Vec::new();
    for handlers in HANDLERS {
        let events = (options.calls / handlers).min(options.events_max).max(1);
        let (count, events) = (handlers.to_string(), events.to_string());
        let mut measure = |system: &'static str, mut command: std::process::Command| {
            command.args(["--handlers", &count, "--events", &events]);
            let lines = peers::lines(&mut command)?;
            let line = lines.into_iter().next().ok_or("it printed nothing")?;
            runs.push(Run {
                system,
                handlers,
                line,
            });
            Outcome::Ok(())
        };
        for (system, delivery) in [
            ("Kubist, coalesced", "coalesced"),
            ("Kubist, every event", "every-event"),
        ] {
            let mut command = peers.rust("kubist-parts");
            command.args(["fanout", "--delivery", delivery]);
            measure(system, command)?;
        }
        if let Some(mut command) = peers.go() {
            command.arg("fanout");
            measure("client-go", command)?;
        }
        let mut command = peers.rust("kube-parts");
        command.arg("fanout");
        measure("kube", command)?;
    }
    Ok(report(&runs))
}

fn report(runs: &[Run]) -> Report {
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
        table.row([
            run.handlers.to_string(),
            run.system.to_owned(),
            rate(run.number("events") / run.number("wall_seconds")),
            format!("{:.0} %", 100.0 * run.number("delivered") / run.due()),
            rate(run.due() / run.number("wall_seconds")),
            fixed(run.cpu(), 0),
        ]);
        let label = format!("{}: {}", run.system, run.handlers);
        chart.bar(label, run.cpu(), format!("{:.0} ns", run.cpu()));
    }
    let json: Vec<Value> = runs
        .iter()
        .map(|run| json!({"peer": run.system, "run": run.line}))
        .collect();
    Report {
        name: "fanout",
        what: "Events about 1,000 small objects, as fast as they are taken. Coalesced delivery \
               merges what waits for one object, so a handler hears less than every step."
            .to_owned(),
        tables: vec![table],
        targets: Vec::new(),
        charts: vec![chart],
        json: json!({"runs": json}),
    }
}
