//! The tables, targets and charts of `bench server`.

use super::ours::ours;
use super::{APISERVER, FLOOR, FSYNC, Found, Size, named};
use crate::bench::chart::Chart;
use crate::bench::report::Report;
use crate::bench::samples::Samples;
use crate::bench::server::subject::Engine;
use crate::bench::table::{Table, fixed};
use crate::bench::verdict::Verdict;
use serde_json::{Value, json};

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
        charts: vec![watch_chart(found), list_chart(found)],
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

pub(super) fn lists(found: &Found) -> Table {
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

pub(super) fn watches(found: &Found) -> Table {
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

/// Verdicts beside a kube-apiserver need one in the same run.
fn verdicts(size: &Size, found: &Found) -> Vec<Verdict> {
    let mut verdicts = list_verdicts(size, found);
    verdicts.extend(watch_verdicts(found));
    verdicts.extend(write_verdicts(found));
    let once = Samples::once;
    for line in whose(&found.starts, &named(Engine::Memory)) {
        let start = Verdict::less("start until it answers", once(of(line, "/start_ms")));
        let rss = Verdict::less("memory at rest", once(of(line, "/rss_kb") / 1024.0));
        verdicts.push(start.goal_value("50 ms", 50.0));
        verdicts.push(rss.goal_value("30 MB", 30.0));
    }
    verdicts
}

/// Whole lists are compared by the byte, because servers own fields of the objects.
fn list_verdicts(size: &Size, found: &Found) -> Vec<Verdict> {
    let memory = named(Engine::Memory);
    let mut verdicts = Vec::new();
    for line in whose(&found.lists, &memory) {
        let case = text(line, "case");
        let of_case = |subject: &str, path| figure(&found.lists, subject, &case, path);
        let cpu = |subject: &str| of_case(subject, "/cpu_seconds");
        let by_byte = |subject: &str| cpu(subject) / of_case(subject, "/bytes");
        let compare = |what: &str, figure: &dyn Fn(&str) -> f64| {
            let what = format!("{what} of {} Pods, {case}", size.objects);
            let verdict = Verdict::less(what, Samples::once(figure(&memory)));
            verdict.beside([(APISERVER, Samples::once(figure(APISERVER)))])
        };
        verdicts.push(match case.as_str() {
            "protobuf" => compare("CPU for a byte, LIST", &by_byte).goal(10.0),
            "JSON" => compare("CPU for a byte, LIST", &by_byte).goal(12.0),
            it if it.contains("label") => compare("CPU, LIST", &cpu),
            _ => compare("CPU for a byte, LIST", &by_byte),
        });
    }
    verdicts
}

/// Watchers with a connection each come first: kubelets and controllers have their own.
fn watch_verdicts(found: &Found) -> Vec<Verdict> {
    let memory = named(Engine::Memory);
    let mut lines: Vec<&Value> = whose(&found.watches, &memory).collect();
    lines.sort_by_key(|line| !text(line, "case").contains("apart"));
    let mut verdicts = Vec::new();
    for line in lines {
        let case = text(line, "case");
        let of_case = |subject: &str| {
            let mut lines = whose(&found.watches, subject);
            lines.find(|it| text(it, "case") == case).map(deliveries)
        };
        let what = format!("deliveries for a CPU second, {case}");
        let verdict = Verdict::more(what, Samples::once(deliveries(line)));
        let verdict = verdict.beside([(APISERVER, Samples::new(of_case(APISERVER)))]);
        // Where watchers share a connection, it gathers nothing, and is no limit of who does.
        verdicts.push(if case.contains("apart") {
            let floor = of_case(FLOOR).unwrap_or(f64::NAN);
            verdict.goal(6.0).limit(FLOOR, floor)
        } else {
            verdict.goal(8.0)
        });
        let lost = Samples::once(of(line, "/lost"));
        verdicts.push(Verdict::less(format!("deliveries lost, {case}"), lost).goal_value("0", 0.0));
    }
    verdicts
}

/// On etcd, the CPU of etcd counts on both sides.
fn write_verdicts(found: &Found) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for theirs in whose(&found.writes, APISERVER) {
        let case = text(theirs, "case");
        let alone = |subject: &str| figure(&found.writes, subject, &case, "/cpu_microseconds");
        let both = |subject: &str| {
            alone(subject) + figure(&found.writes, subject, &case, "/beside_microseconds")
        };
        let compare = |what: &str, engine, limit, cpu: &dyn Fn(&str) -> f64| {
            let ours = Samples::once(cpu(&named(engine)));
            let verdict = Verdict::less(format!("CPU of a write, {case}, {what}"), ours);
            let verdict = verdict.beside([(APISERVER, Samples::once(cpu(APISERVER)))]);
            verdict.limit(limit, alone(limit))
        };
        verdicts.extend([
            compare("etcd, with etcd's", Engine::Etcd, FSYNC, &both).goal(4.0),
            compare("etcd, the servers alone", Engine::Etcd, FLOOR, &alone),
            // It keeps what it writes, which is etcd's part there.
            compare("redb", Engine::Redb, FLOOR, &both).goal(10.0),
            compare("memory", Engine::Memory, FLOOR, &alone).goal(12.0),
        ]);
    }
    verdicts
}

fn watch_chart(found: &Found) -> Chart {
    let title = "Deliveries to watchers for a second of the server's CPU (more is better)";
    let mut chart = Chart::new("server-watch", title);
    let servers = found.watches.iter();
    for line in servers.filter(|line| line["subject"] != FLOOR) {
        let ours = deliveries(line);
        let label = format!("{}: {}", text(line, "subject"), text(line, "case"));
        chart.bar(label, ours, fixed(ours, 0));
    }
    chart
}

fn list_chart(found: &Found) -> Chart {
    let title = "CPU of the server for a LIST, s (less is better)";
    let mut chart = Chart::new("server-list", title);
    for line in &found.lists {
        let seconds = of(line, "/cpu_seconds");
        let label = format!("{}: {}", text(line, "subject"), text(line, "case"));
        chart.bar(label, seconds, fixed(seconds, 3));
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        objects: 20_000,
        watchers: Vec::new(),
        watch_seconds: 1,
        write_seconds: 1,
        steps: Vec::new(),
        flood: 1,
    };

    fn found(subjects: &[&str]) -> Found {
        let mut found = Found::default();
        for subject in subjects {
            let bytes = if *subject == APISERVER { 200 } else { 100 };
            found.lists.push(json!({
                "subject": subject, "case": "protobuf", "cpu_seconds": 0.1, "bytes": bytes,
            }));
            found.watches.push(json!({
                "subject": subject, "case": "100 watchers", "deliveries": 8_000, "lost": 0,
                "cpu_seconds": 0.1,
            }));
            found.writes.push(json!({
                "subject": subject, "case": "create", "cpu_microseconds": 100,
                "beside_microseconds": bytes,
            }));
        }
        found
    }

    fn known(found: &Found) -> Vec<Value> {
        let verdicts = verdicts(&SIZE, found);
        let known = verdicts.iter().filter(|it| it.is_known());
        known.map(Verdict::json).collect()
    }

    #[test]
    fn nothing_is_compared_with_a_kube_apiserver_of_another_run() {
        let alone = known(&found(&[&named(Engine::Memory)]));
        let what: Vec<_> = alone.iter().map(|it| it["what"].clone()).collect();
        assert_eq!(what, ["deliveries lost, 100 watchers"]);
    }

    #[test]
    fn lists_are_compared_by_the_byte_and_writes_on_etcd_with_etcd() {
        let known = known(&found(&[
            &named(Engine::Etcd),
            &named(Engine::Memory),
            APISERVER,
        ]));
        let ahead = |what: &str| {
            let of = known
                .iter()
                .find(|it| it["what"].as_str().is_some_and(|it| it.contains(what)));
            of.and_then(|it| it["ahead_by"].as_f64())
        };
        assert_eq!(ahead("LIST of 20000 Pods, protobuf"), Some(0.5));
        assert_eq!(ahead("etcd, with etcd's"), Some(1.5));
        assert_eq!(ahead("etcd, the servers alone"), Some(1.0));
        assert_eq!(ahead("redb"), None, "not measured");
    }
}
