//! The tables, targets and charts of `bench server`.

use super::ours::ours;
use super::{APISERVER, Found, Size, named};
use crate::bench::chart::Chart;
use crate::bench::report::Report;
use crate::bench::samples::Samples;
use crate::bench::server::subject::Engine;
use crate::bench::table::{Table, fixed};
use crate::bench::verdict::Verdict;
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
        verdicts: verdicts(size, found),
        charts: vec![watch_chart(found), list_chart(size, found)],
        sizes: json!({
            "objects": size.objects, "watch_seconds": size.watch_seconds,
            "write_seconds": size.write_seconds, "flood": size.flood,
        }),
        ours: ours(found),
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
pub(super) fn whose<'a>(lines: &'a [Value], subject: &str) -> impl Iterator<Item = &'a Value> {
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
pub(super) fn deliveries(line: &Value) -> f64 {
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

/// Names of a kube-apiserver's figures that another run measured.
const ELSEWHERE: &str = "kube-apiserver, in another run";

/// Returns the CPU seconds of a kube-apiserver for its list: of this run, or else the known one.
fn apiserver_list(size: &Size, found: &Found) -> (f64, &'static str) {
    let here = figure(&found.lists, APISERVER, "protobuf", "/cpu_seconds");
    match (here.is_finite(), size.objects == APISERVER_PODS) {
        (true, _) => (here, APISERVER),
        (false, true) => (APISERVER_LIST_SECONDS, ELSEWHERE),
        (false, false) => (f64::NAN, APISERVER),
    }
}

/// Returns its deliveries for a CPU second in a case: of this run, or else the known one.
fn apiserver_deliveries(found: &Found, case: &str) -> (f64, &'static str) {
    let mut lines = whose(&found.watches, APISERVER);
    match lines.find(|line| line["case"] == *case) {
        Some(line) => (deliveries(line), APISERVER),
        None => (APISERVER_DELIVERIES, ELSEWHERE),
    }
}

fn verdicts(size: &Size, found: &Found) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let memory = named(Engine::Memory);
    let once = Samples::once;
    for (case, goal) in [("protobuf", Some(10.0)), ("JSON", None)] {
        let cpu = |subject: &str| figure(&found.lists, subject, case, "/cpu_seconds");
        let what = format!("CPU of a LIST of {} Pods, {case}", size.objects);
        let verdict = Verdict::less(what, once(cpu(&memory)));
        verdicts.push(match goal {
            Some(goal) => {
                let (theirs, whom) = apiserver_list(size, found);
                verdict.beside([(whom, once(theirs))]).goal(goal)
            }
            None => verdict.beside([(APISERVER, once(cpu(APISERVER)))]),
        });
    }
    for line in whose(&found.watches, &memory) {
        let case = text(line, "case");
        let (theirs, whom) = apiserver_deliveries(found, &case);
        let what = format!("deliveries for a CPU second, {case}");
        let verdict = Verdict::more(what, once(deliveries(line)));
        let verdict = verdict.beside([(whom, once(theirs))]).goal(8.0);
        verdicts.push(if case.contains("apart") {
            verdict.limit_named("a record, a system call and two wake-ups for each")
        } else {
            verdict
        });
        let lost = Verdict::less(format!("deliveries lost, {case}"), once(of(line, "/lost")));
        verdicts.push(lost.goal_value("0", 0.0));
    }
    for line in whose(&found.starts, &memory) {
        let start = Verdict::less("start until it answers", once(of(line, "/start_ms")));
        let rss = Verdict::less("memory at rest", once(of(line, "/rss_kb") / 1024.0));
        verdicts.push(start.goal_value("50 ms", 50.0));
        verdicts.push(rss.goal_value("30 MB", 30.0));
    }
    verdicts
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
        chart.bar(ELSEWHERE, known, fixed(known, 0));
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        objects: APISERVER_PODS,
        watchers: Vec::new(),
        watch_seconds: 1,
        write_seconds: 1,
        steps: Vec::new(),
        flood: 1,
    };

    fn found(subjects: &[&str]) -> Found {
        let mut found = Found::default();
        for subject in subjects {
            let list = json!({"subject": subject, "case": "protobuf", "cpu_seconds": 0.1});
            let watch = json!({
                "subject": subject, "case": "100 watchers", "deliveries": 8_000, "lost": 0,
                "cpu_seconds": 0.1,
            });
            found.lists.push(list);
            found.watches.push(watch);
        }
        found
    }

    fn known(found: &Found) -> Vec<Value> {
        let verdicts = verdicts(&SIZE, found);
        let known = verdicts.iter().filter(|it| it.is_known());
        known.map(Verdict::json).collect()
    }

    #[test]
    fn a_kube_apiserver_of_this_run_is_compared_before_that_of_another() {
        let memory = named(Engine::Memory);
        let alone = known(&found(&[&memory]));
        assert_eq!(alone[0]["best_peer"], ELSEWHERE);
        assert_eq!(alone[1]["ahead_by"], 4.0, "of 20,000 deliveries");
        let beside = known(&found(&[&memory, APISERVER]));
        assert_eq!(beside[0]["best_peer"], APISERVER);
        assert_eq!(beside[1]["ahead_by"], 1.0);
        assert_eq!(beside[2]["short_of_goal_by"], 1.0, "nothing was lost");
    }
}
