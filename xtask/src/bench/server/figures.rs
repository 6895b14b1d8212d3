//! The tables, targets and charts of `bench server`.

use serde_json::{Value, json};

use super::{Found, Options};
use crate::bench::chart::Chart;
use crate::bench::peers::number;
use crate::bench::report::Report;
use crate::bench::table::{Table, fixed, rate};
use crate::bench::target::Target;

/// CPU seconds of kube-apiserver for a LIST of 20,000 Pods in protobuf: the best that was seen.
const APISERVER_LIST_SECONDS: f64 = 1.4;
/// Deliveries to watchers for a second of kube-apiserver's CPU: the best that was seen.
const APISERVER_DELIVERIES: f64 = 20_000.0;
/// The number of Pods that the first of these is about.
const APISERVER_PODS: u64 = 20_000;

pub(super) fn report(options: &Options, found: &Found) -> Report {
    let writes: Vec<Value> = found
        .writes
        .iter()
        .map(|(engine, lines)| json!({"engine": engine, "cases": lines}))
        .collect();
    Report {
        name: "server",
        what: format!(
            "{} Pods in memory for lists; watchers of one object that changes; small objects for \
             writes and growth.",
            options.objects
        ),
        tables: vec![
            starts(found),
            lists(found),
            watches(found),
            writes_table(found),
            growth(found),
        ],
        targets: targets(options, found),
        charts: vec![chart(found)],
        json: json!({
            "starts": found.starts,
            "lists": found.lists,
            "watches": found.watches,
            "writes": writes,
            "growth": found.growth,
        }),
    }
}

fn text(line: &Value, key: &str) -> String {
    line[key].as_str().unwrap_or_default().to_owned()
}

fn of(line: &Value, path: &str) -> f64 {
    line.pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or(f64::NAN)
}

fn starts(found: &Found) -> Table {
    let mut table = Table::new([
        "engine",
        "until it answers",
        "RSS at rest, MB",
        "with the Pods, MB",
    ]);
    let filled = number(&found.lists, "filled", "rss_kb") / 1024.0;
    for line in &found.starts {
        let engine = text(line, "engine");
        let with_pods = if engine == "memory" { filled } else { f64::NAN };
        table.row([
            engine,
            text(line, "start"),
            fixed(of(line, "/rss_kb") / 1024.0, 0),
            fixed(with_pods, 0),
        ]);
    }
    table
}

fn lists(found: &Found) -> Table {
    let mut table = Table::new(["list", "objects", "MB", "wall, s", "server CPU, s"]);
    for line in found.lists.iter().filter(|line| line["items"].is_number()) {
        table.row([
            text(line, "case"),
            fixed(of(line, "/items"), 0),
            fixed(of(line, "/bytes") / 1e6, 1),
            fixed(of(line, "/seconds"), 3),
            fixed(of(line, "/cpu_seconds"), 3),
        ]);
    }
    table
}

/// Deliveries for a second of the server's CPU.
fn deliveries(line: &Value) -> f64 {
    of(line, "/deliveries") / of(line, "/cpu_seconds")
}

fn watches(found: &Found) -> Table {
    let head = [
        "watch",
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

fn writes_table(found: &Found) -> Table {
    let head = [
        "write, clients",
        "engine",
        "a second",
        "p50, ms",
        "p99, ms",
        "server CPU, µs",
    ];
    let mut table = Table::new(head);
    for (engine, lines) in &found.writes {
        for line in lines {
            table.row([
                text(line, "case"),
                (*engine).to_owned(),
                rate(of(line, "/per_second")),
                fixed(of(line, "/latency/p50_ms"), 2),
                fixed(of(line, "/latency/p99_ms"), 2),
                fixed(of(line, "/cpu_microseconds"), 0),
            ]);
        }
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

fn targets(options: &Options, found: &Found) -> Vec<Target> {
    let mut targets = Vec::new();
    if options.objects == APISERVER_PODS {
        let list = number(&found.lists, "protobuf", "cpu_seconds");
        let whose = "kube-apiserver's 1.4 s";
        let what = "CPU of a LIST of 20,000 Pods, protobuf";
        targets.push(Target::at_most(
            what,
            list,
            0.1,
            APISERVER_LIST_SECONDS,
            whose,
        ));
    }
    for line in &found.watches {
        let what = format!("deliveries for a CPU second, {}", text(line, "case"));
        let whose = "kube-apiserver's 20,000";
        targets.push(Target::at_least(
            &what,
            deliveries(line),
            8.0,
            APISERVER_DELIVERIES,
            whose,
        ));
        let what = format!("deliveries lost, {}", text(line, "case"));
        targets.push(Target::exactly(&what, of(line, "/lost"), 0.0));
    }
    if let Some(line) = found.starts.first() {
        let start = text(line, "start");
        let start = start.trim_end_matches(" ms").parse().unwrap_or(f64::NAN);
        targets.push(Target::at_most(
            "start until it answers",
            start,
            1.0,
            50.0,
            "50 ms",
        ));
        let rss = of(line, "/rss_kb") / 1024.0;
        targets.push(Target::at_most("memory at rest", rss, 1.0, 30.0, "30 MB"));
    }
    targets
}

fn chart(found: &Found) -> Chart {
    let title = "Deliveries to watchers for a second of the server's CPU (more is better)";
    let mut chart = Chart::new("server-watch", title);
    for line in &found.watches {
        let figure = deliveries(line);
        chart.bar(text(line, "case"), figure, fixed(figure, 0));
    }
    let label = format!("{APISERVER_DELIVERIES:.0}");
    chart.bar(
        "kube-apiserver, for comparison".to_owned(),
        APISERVER_DELIVERIES,
        label,
    );
    chart
}
