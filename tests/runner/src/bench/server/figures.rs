//! The tables, targets and charts of `bench server`.

use super::{APISERVER, Found, Size, named};
use crate::bench::chart::Chart;
use crate::bench::report::Report;
use crate::bench::server::subject::Engine;
use crate::bench::table::{Table, fixed};
use crate::bench::target::Target;
use serde_json::{Value, json};

/// CPU seconds of a kube-apiserver for a list of 20,000 Pods in protobuf: the best measured.
const APISERVER_LIST_SECONDS: f64 = 1.4;
/// Watch deliveries for a CPU second of a kube-apiserver: the best measured.
const APISERVER_DELIVERIES: f64 = 20_000.0;
/// The number of Pods of the first figure.
const APISERVER_PODS: u64 = 20_000;

pub(super) fn report(size: &Size, found: &Found) -> Report {
    Report {
        name: "server",
        what: format!(
            "{} Pods for lists; watchers of one object that changes; small objects for writes and \
             growth.",
            size.objects
        ),
        tables: vec![
            starts(found),
            lists(found),
            watches(found),
            write_table("write, clients", &found.writes),
            growth(found),
        ],
        targets: targets(size, found),
        charts: vec![watch_chart(found), list_chart(size, found)],
        json: json!({
            "starts": found.starts,
            "lists": found.lists,
            "watches": found.watches,
            "writes": found.writes,
            "growth": found.growth,
        }),
    }
}

/// Returns the lines of a subject.
fn whose<'a>(lines: &'a [Value], subject: &str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["subject"] == *subject)
}

/// Returns a figure of a case of a subject.
pub(super) fn figure(lines: &[Value], subject: &str, case: &str, path: &str) -> f64 {
    let mut lines = whose(lines, subject);
    let line = lines.find(|line| line["case"] == *case);
    line.map_or(f64::NAN, |line| of(line, path))
}

pub(super) fn text(line: &Value, key: &str) -> String {
    line[key].as_str().unwrap_or_default().to_owned()
}

pub(super) fn of(line: &Value, path: &str) -> f64 {
    line.pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or(f64::NAN)
}

fn starts(found: &Found) -> Table {
    let mut table = Table::new([
        "start",
        "until it answers, ms",
        "RSS at rest, MB",
        "with the Pods, MB",
    ]);
    for line in &found.starts {
        table.row([
            text(line, "subject"),
            fixed(of(line, "/start_ms"), 0),
            fixed(of(line, "/rss_kb") / 1024.0, 1),
            fixed(of(line, "/filled/rss_kb") / 1024.0, 0),
        ]);
    }
    table
}

fn lists(found: &Found) -> Table {
    let head = ["list", "of", "objects", "MB", "wall, s", "server CPU, s"];
    let mut table = Table::new(head);
    for line in &found.lists {
        table.row([
            text(line, "case"),
            text(line, "subject"),
            fixed(of(line, "/items"), 0),
            fixed(of(line, "/bytes") / 1e6, 1),
            fixed(of(line, "/seconds"), 3),
            fixed(of(line, "/cpu_seconds"), 3),
        ]);
    }
    table
}

/// Returns the deliveries for a CPU second of the server.
fn deliveries(line: &Value) -> f64 {
    of(line, "/deliveries") / of(line, "/cpu_seconds")
}

fn watches(found: &Found) -> Table {
    let head = [
        "watch",
        "of",
        "deliveries",
        "lost",
        "for a CPU second",
        "lag p50, ms",
        "p99, ms",
        "RSS, MB",
    ];
    let mut table = Table::new(head);
    for line in &found.watches {
        table.row([
            text(line, "case"),
            text(line, "subject"),
            fixed(of(line, "/deliveries"), 0),
            fixed(of(line, "/lost"), 0),
            fixed(deliveries(line), 0),
            fixed(of(line, "/lag/p50_ms"), 1),
            fixed(of(line, "/lag/p99_ms"), 1),
            fixed(of(line, "/rss_kb") / 1024.0, 0),
        ]);
    }
    table
}

/// Returns the table of these writes.
pub(super) fn write_table(first_column: &str, lines: &[Value]) -> Table {
    let head = [
        first_column,
        "of",
        "a second",
        "p50, ms",
        "p99, ms",
        "CPU, µs",
        "its etcd's, µs",
    ];
    let mut table = Table::new(head);
    for line in lines {
        let beside = of(line, "/beside_microseconds");
        table.row([
            text(line, "case"),
            text(line, "subject"),
            fixed(of(line, "/per_second"), 0),
            fixed(of(line, "/latency/p50_ms"), 2),
            fixed(of(line, "/latency/p99_ms"), 2),
            fixed(of(line, "/cpu_microseconds"), 0),
            fixed(if beside > 0.0 { beside } else { f64::NAN }, 0),
        ]);
    }
    table
}

fn growth(found: &Found) -> Table {
    let head = [
        "small objects",
        "create, CPU µs",
        "get, CPU µs",
        "page of 500, CPU µs",
        "bytes each",
    ];
    let mut table = Table::new(head);
    for line in &found.growth {
        table.row([
            fixed(of(line, "/objects"), 0),
            fixed(of(line, "/create_microseconds"), 0),
            fixed(of(line, "/get_microseconds"), 0),
            fixed(of(line, "/page_microseconds"), 0),
            fixed(of(line, "/bytes_per_object"), 0),
        ]);
    }
    table
}

/// Returns the CPU seconds of a kube-apiserver for its list: of this run, or else the known one.
fn apiserver_list(size: &Size, found: &Found) -> (f64, &'static str) {
    let here = figure(&found.lists, APISERVER, "protobuf", "/cpu_seconds");
    match (here.is_finite(), size.objects == APISERVER_PODS) {
        (true, _) => (here, "kube-apiserver's"),
        (false, true) => (APISERVER_LIST_SECONDS, "kube-apiserver's 1.4 s"),
        (false, false) => (f64::NAN, "kube-apiserver's"),
    }
}

/// Returns its deliveries for a CPU second in a case: of this run, or else the known one.
fn apiserver_deliveries(found: &Found, case: &str) -> (f64, &'static str) {
    let mut lines = whose(&found.watches, APISERVER);
    match lines.find(|line| line["case"] == *case) {
        Some(line) => (deliveries(line), "kube-apiserver's"),
        None => (APISERVER_DELIVERIES, "kube-apiserver's 20,000"),
    }
}

fn targets(size: &Size, found: &Found) -> Vec<Target> {
    let mut targets = Vec::new();
    let memory = named(Engine::Memory);
    let (theirs, whom) = apiserver_list(size, found);
    if theirs.is_finite() {
        let list = figure(&found.lists, &memory, "protobuf", "/cpu_seconds");
        let what = format!("CPU of a LIST of {} Pods, protobuf", size.objects);
        targets.push(Target::at_most(&what, list, 0.1, theirs, whom));
    }
    for line in whose(&found.watches, &memory) {
        let case = text(line, "case");
        let (theirs, whom) = apiserver_deliveries(found, &case);
        let what = format!("deliveries for a CPU second, {case}");
        let ours = deliveries(line);
        targets.push(Target::at_least(&what, ours, 8.0, theirs, whom));
        let what = format!("deliveries lost, {case}");
        targets.push(Target::exactly(&what, of(line, "/lost"), 0.0));
    }
    for line in whose(&found.starts, &memory) {
        let start = of(line, "/start_ms");
        let what = "start until it answers";
        targets.push(Target::at_most(what, start, 1.0, 50.0, "50 ms"));
        let rss = of(line, "/rss_kb") / 1024.0;
        targets.push(Target::at_most("memory at rest", rss, 1.0, 30.0, "30 MB"));
    }
    targets
}

fn watch_chart(found: &Found) -> Chart {
    let title = "Deliveries to watchers for a second of the server's CPU (more is better)";
    let mut chart = Chart::new("server-watch", title);
    for line in &found.watches {
        let ours = deliveries(line);
        let label = format!("{}: {}", text(line, "subject"), text(line, "case"));
        chart.bar(label, ours, fixed(ours, 0));
    }
    if whose(&found.watches, APISERVER).next().is_none() {
        let known = APISERVER_DELIVERIES;
        chart.bar("kube-apiserver, in another run", known, fixed(known, 0));
    }
    chart
}

fn list_chart(size: &Size, found: &Found) -> Chart {
    let title = "CPU of the server for a LIST, s (less is better)";
    let mut chart = Chart::new("server-list", title);
    for line in &found.lists {
        let seconds = of(line, "/cpu_seconds");
        let label = format!("{}: {}", text(line, "subject"), text(line, "case"));
        chart.bar(label, seconds, fixed(seconds, 3));
    }
    let (theirs, _) = apiserver_list(size, found);
    if whose(&found.lists, APISERVER).next().is_none() {
        let label = "kube-apiserver, in another run: protobuf";
        chart.bar(label, theirs, fixed(theirs, 1));
    }
    chart
}
