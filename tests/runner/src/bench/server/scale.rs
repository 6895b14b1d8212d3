//! The part of `bench server` about scale: the leases of many nodes, renewed as fast as the machine
//! can, beside a million Pods and watching kubelets.

use super::figures::{of, text};
use super::ours::ours_of;
use super::subject::{Engine, Subject};
use super::{Bench, Found, named, of as lines_of};
use crate::bench::report::Report;
use crate::bench::table::{Table, fixed};
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};

/// A kubelet renews its node's lease every ten seconds.
const RENEWALS_OF_A_NODE: f64 = 0.1;

/// What is compared with a stored run.
const COMPARED: &[(&str, &str, bool)] = &[
    ("CPU µs", "/cpu_microseconds", false),
    ("a second", "/per_second", true),
    ("p99, ms", "/latency/p99_ms", false),
    ("lag p99, ms", "/lag/p99_ms", false),
    ("bytes of a Pod", "/pod_bytes", false),
];

/// Numbers of nodes, Pods and watching kubelets, and seconds of load.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    nodes: u32,
    pods: u32,
    watchers: u32,
    seconds: u32,
}

impl Scale {
    pub(super) fn of(quick: bool) -> Self {
        if quick {
            return Self {
                nodes: 1_000,
                pods: 10_000,
                watchers: 500,
                seconds: 3,
            };
        }
        Self {
            nodes: 100_000,
            pods: 1_000_000,
            watchers: 5_000,
            seconds: 60,
        }
    }

    /// The flags of the load program.
    pub(super) fn flags(self) -> Vec<String> {
        let numbers = [
            ("--nodes", self.nodes),
            ("--pods", self.pods),
            ("--watchers", self.watchers),
            ("--seconds", self.seconds),
        ];
        let flags = numbers.map(|(flag, number)| [flag.to_owned(), number.to_string()]);
        flags.concat()
    }
}

impl Bench {
    /// Measures a server in memory: what limits it is the server, not a disk.
    pub(super) fn scale(&mut self, scale: Scale) -> Outcome {
        // A million Pods exceed the default quota.
        let extra = ["--storage-quota-bytes", "0"];
        let engine = Engine::Memory;
        let subject = Subject::kubist(&self.binary, &self.scratch, engine, None, &extra)?;
        let lines = self.load.scale(&subject, &scale.flags())?;
        self.found.scales.extend(lines_of(&named(engine), lines));
        subject.stop()
    }
}

pub(super) fn report(scale: Scale, found: &Found) -> Report {
    Report {
        name: "scale",
        what: format!(
            "{} leases renewed for {} s by 64 clients; {} small Pods; {} kubelets watch theirs.",
            scale.nodes, scale.seconds, scale.pods, scale.watchers
        ),
        tables: vec![rates(found), costs(found)],
        verdicts: Vec::new(),
        charts: Vec::new(),
        sizes: json!({
            "nodes": scale.nodes,
            "pods": scale.pods,
            "watchers": scale.watchers,
            "seconds": scale.seconds,
        }),
        ours: ours_of("", &found.scales, COMPARED),
        json: json!({"scale": found.scales}),
    }
}

fn rates(found: &Found) -> Table {
    let mut table = Table::new([
        "of",
        "requests a second",
        "p50, ms",
        "p99, ms",
        "deliveries",
        "lost",
        "lag p50, ms",
        "lag p99, ms",
        "server's cores",
        "load's cores",
    ]);
    for line in &found.scales {
        table.row([
            text(line, "subject"),
            fixed(of(line, "/per_second"), 0),
            fixed(of(line, "/latency/p50_ms"), 1),
            fixed(of(line, "/latency/p99_ms"), 1),
            fixed(of(line, "/deliveries"), 0),
            fixed(of(line, "/lost"), 0),
            fixed(of(line, "/lag/p50_ms"), 1),
            fixed(of(line, "/lag/p99_ms"), 1),
            fixed(of(line, "/cores"), 2),
            fixed(of(line, "/load_cores"), 2),
        ]);
    }
    table
}

fn costs(found: &Found) -> Table {
    let mut table = Table::new([
        "of",
        "CPU for a request, µs",
        "requests a core",
        "nodes a core",
        "bytes of a lease",
        "of a Pod",
        "of a watch",
        "RSS, GB",
    ]);
    for line in &found.scales {
        let core = a_core(line);
        table.row([
            text(line, "subject"),
            fixed(of(line, "/cpu_microseconds"), 1),
            fixed(core, 0),
            fixed(core / RENEWALS_OF_A_NODE, 0),
            fixed(of(line, "/lease_bytes"), 0),
            fixed(of(line, "/pod_bytes"), 0),
            fixed(of(line, "/watcher_bytes"), 0),
            fixed(of(line, "/rss_kb") / 1e6, 2),
        ]);
    }
    table
}

/// Requests that a core of the server handles in a second.
fn a_core(line: &Value) -> f64 {
    1e6 / of(line, "/cpu_microseconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cores_nodes_are_ten_times_its_renewals() {
        let mut found = Found::default();
        found.scales.push(json!({
            "subject": named(Engine::Memory), "case": "scale", "cpu_microseconds": 50.0,
            "per_second": 15_000.0, "lost": 0,
        }));
        let report = report(Scale::of(true), &found);
        let text = report.tables[1].to_string();
        assert!(text.contains("20000") && text.contains("200000"), "{text}");
        assert_eq!(report.ours.len(), COMPARED.len());
    }

    #[test]
    fn the_load_program_is_told_every_number() {
        let flags = Scale::of(false).flags().join(" ");
        assert_eq!(
            flags,
            "--nodes 100000 --pods 1000000 --watchers 5000 --seconds 60"
        );
    }
}
