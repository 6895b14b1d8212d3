//! `bench cache`: the store of an informer, with an index by namespace and one by node.
//!
//! kube's store has no indexes: an index look-up of the others is a scan there.

use super::chart::Chart;
use super::figure::Figure;
use super::informer;
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
const CASES: [(&str, &str); 12] = [
    ("replace", "replace all, one object"),
    ("add", "add"),
    ("update", "update"),
    ("get", "get"),
    ("find in place", "find it in place"),
    ("get and read", "get, and read its version"),
    ("read in place", "read its version in place"),
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

/// What operations cost at least, as `limits.rs` of the peer measures it: names in our output, and
/// in tables.
const FLOORS: [(&str, &str); 9] = [
    ("plain, add", "add to a `HashMap`"),
    ("plain, update", "update in a `HashMap`"),
    ("plain, get", "get from a `HashMap`"),
    ("plain, find", "find in a `HashMap`"),
    ("plain, read", "read in a `HashMap`"),
    ("known, get", "counting a known object"),
    ("known, read", "reading a known object"),
    (
        "known, by index",
        "copying a known list of a node's objects",
    ),
    ("known, select", "copying a known list of what is selected"),
];

/// The limit of a case.
const LIMITS: [(&str, &str); 10] = [
    // Into an empty store, a list adds every object.
    ("replace", "plain, add"),
    ("add", "plain, add"),
    ("update", "plain, update"),
    ("get", "plain, get"),
    ("find in place", "plain, find"),
    ("get and read", "plain, read"),
    ("read in place", "plain, read"),
    ("by-index", "known, by index"),
    ("select", "known, select"),
    ("select with an index", "known, select"),
];

const ENCODED: &str = "Kubist, encoded";
const DECODED: &str = "Kubist, decoded";
const THEIRS: [&str; 2] = ["client-go", "kube"];
const TIME: &str = "nanoseconds";
const READS: &str = "reads_per_second";
const WRITES: &str = "writes_per_second";
const READERS: &str = "readers";
/// Readers that borrow an object without counting a reference, as Go code that follows a pointer
/// does.
const IN_PLACE: &str = "readers in place";
/// The limit of both: readers of a map that nobody writes, beside the writer of another.
const APART: &str = "a `HashMap` that nobody writes";

fn apart(case: &str) -> String {
    format!("plain, {case}")
}

pub(super) fn run(peers: &Peers, options: &Options, rounds: Rounds) -> Outcome<Report> {
    let objects = options.objects.to_string();
    let seconds = options.seconds.to_string();
    let selector = format!("{LABEL}={APP}");
    let [objects, seconds, selector] = [&objects, &seconds, &selector].map(String::as_str);
    let ours = |name, form| {
        Contestant::new(name, move || {
            let mut command = peers.rust("kubist-parts");
            command.args(["cache", "--form", form, "--selector", selector]);
            command.args(["--objects", objects, "--seconds", seconds]);
            command
        })
    };
    let pods = match peers.go_program() {
        Some(_) => Some(informer::pods_file(peers, options.objects)?),
        None => None,
    };
    let mut contestants = vec![ours(ENCODED, "encoded"), ours(DECODED, "decoded")];
    if let Some((program, file)) = peers.go_program().zip(pods.as_ref()) {
        contestants.push(Contestant::new("client-go", move || {
            let mut command = Command::new(program);
            command.args(["cache", "--selector", selector, "--seconds", seconds]);
            command.arg("--pods").arg(file);
            command
        }));
    }
    contestants.push(Contestant::new("kube", move || {
        let mut command = peers.rust("kube-parts");
        command.args(["cache", "--app", APP]);
        command.args(["--objects", objects, "--seconds", seconds]);
        command
    }));
    let systems = interleave(rounds, &contestants, peers::lines)?;
    if let Some(pods) = &pods {
        std::fs::remove_file(pods)?;
    }
    Ok(report(options, rounds, &systems))
}

fn report(options: &Options, rounds: Rounds, systems: &[System]) -> Report {
    let json: Vec<_> = systems.iter().map(System::json).collect();
    Report {
        name: "cache",
        what: format!(
            "{} Pods, two indexes; each write is visible before the next. {}",
            options.objects,
            rounds.sentence()
        ),
        tables: vec![cases(systems), readers(systems)],
        verdicts: verdicts(systems),
        charts: charts(systems),
        sizes: json!({"objects": options.objects, "seconds": options.seconds}),
        ours: ours(systems),
        json: json!({"systems": json}),
    }
}

fn cases(systems: &[System]) -> Table {
    let mut head = vec![""];
    head.extend(systems.iter().map(|it| it.name));
    let mut table = Table::with_head(&head);
    for (case, title) in CASES.into_iter().chain(FLOORS) {
        let cell = |it: &System| it.samples(case, TIME).show(duration);
        table.row(std::iter::once(title.to_owned()).chain(systems.iter().map(cell)));
    }
    table
}

fn readers(systems: &[System]) -> Table {
    let mut table = Table::new(["two readers beside a writer", "reads", "writes"]);
    for system in systems {
        for (case, suffix) in [(READERS, ""), (IN_PLACE, ", in place")] {
            let reads = system.samples(case, READS);
            if reads.median().is_finite() {
                table.row([
                    format!("{}{suffix}", system.name),
                    reads.show(rate),
                    system.samples(case, WRITES).show(rate),
                ]);
            }
        }
    }
    for (ours, form) in [(ENCODED, "encoded"), (DECODED, "decoded")] {
        for (case, suffix) in [(READERS, ""), (IN_PLACE, ", in place")] {
            table.row([
                format!("{APART}, {form}{suffix}"),
                find(systems, ours, &apart(case), READS).show(rate),
                find(systems, ours, &apart(case), WRITES).show(rate),
            ]);
        }
    }
    table
}

/// Each form of ours is compared with the peers' only form.
fn verdicts(systems: &[System]) -> Vec<Verdict> {
    let theirs = |case: &str, key: &str| -> Vec<(&str, Samples)> {
        let peers = THEIRS.into_iter();
        peers.map(|it| (it, find(systems, it, case, key))).collect()
    };
    let mut verdicts = Vec::new();
    for (case, title) in CASES {
        // A pointer of Go's, which counts nothing, is what they have in place.
        let theirs_case = match case {
            "read in place" => "get and read",
            "find in place" => "get",
            _ => case,
        };
        for (ours, form) in [(ENCODED, "encoded"), (DECODED, "decoded")] {
            let own = |case: &str| find(systems, ours, case, TIME);
            let mut verdict = Verdict::less(format!("{title}, {form}"), own(case));
            verdict = verdict.beside(theirs(theirs_case, TIME));
            let limit = LIMITS.iter().find(|it| it.0 == case);
            if let Some((name, title)) =
                limit.and_then(|limit| FLOORS.iter().find(|it| it.0 == limit.1))
            {
                verdict = verdict.limit(title, own(name).median());
            }
            verdicts.push(verdict);
        }
    }
    let look_up = |case: &str| find(systems, ENCODED, case, TIME);
    verdicts.push(
        Verdict::less(
            "look-up in an index of more objects",
            look_up("by-index of 40"),
        )
        .limit(
            "with a quarter of the objects",
            look_up("by-index of 40, a quarter").median(),
        )
        .goal_of_limit(1.5),
    );
    for (ours, form) in [(ENCODED, "encoded"), (DECODED, "decoded")] {
        for (case, way, goal) in [(READERS, "get", 1.0), (IN_PLACE, "in place", 2.0)] {
            for (what, key, goal) in [
                ("reads beside a busy writer", READS, goal),
                ("writes beside two readers", WRITES, 1.0),
            ] {
                let what = format!("{what}, {way}, {form}");
                let verdict = Verdict::more(what, find(systems, ours, case, key));
                let limit = find(systems, ours, &apart(case), key).median();
                let verdict = verdict.beside(theirs(READERS, key)).goal(goal);
                verdicts.push(verdict.limit(APART, limit));
            }
        }
    }
    verdicts
}

fn ours(systems: &[System]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, form) in [(ENCODED, "encoded"), (DECODED, "decoded")] {
        for (case, title) in CASES {
            let time = find(systems, name, case, TIME);
            figures.push(Figure::less(format!("{title}, {form}, ns"), time));
        }
        for case in [READERS, IN_PLACE] {
            for (key, what) in [(READS, "reads"), (WRITES, "writes")] {
                let samples = find(systems, name, case, key);
                figures.push(Figure::more(
                    format!("{case}, {form}, {what} a second"),
                    samples,
                ));
            }
        }
    }
    figures
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
    for system in systems {
        let name = system.name;
        let of = |case: &str, key: &str| system.samples(case, key).median();
        for (case, suffix) in [(READERS, ""), (IN_PLACE, ", in place")] {
            let figure = of(case, READS);
            reads.bar(format!("{name}{suffix}"), figure, rate(figure));
        }
        for (case, suffix) in [("select", ""), ("select with an index", ", with an index")] {
            let figure = of(case, TIME);
            select.bar(format!("{name}{suffix}"), figure, duration(figure));
        }
        let figure = of("update", TIME);
        update.bar(name, figure, duration(figure));
    }
    vec![update, select, reads]
}
