//! The results of `bench informer`, as tables, charts and targets.

use super::{DECODED_JSON, ENCODED, FLOOR, KEEPING, Options, STRIPPED, is_floor};
use crate::bench::chart::Chart;
use crate::bench::figure::Figure;
use crate::bench::report::Report;
use crate::bench::samples::Samples;
use crate::bench::table::{Table, fixed};
use crate::bench::verdict::Verdict;
use serde_json::{Value, json};

/// The results of a peer's phases.
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) sync: Value,
    pub(super) updates: Value,
    pub(super) relist: Value,
    pub(super) updates_per_second: f64,
}

const KB: f64 = 1024.0;

impl Measured {
    fn number(&self, phase: &str, key: &str) -> f64 {
        let phase = match phase {
            "sync" => &self.sync,
            "updates" => &self.updates,
            _ => &self.relist,
        };
        phase[key].as_f64().unwrap_or(f64::NAN)
    }

    /// Resident memory that the sync added, in bytes for each object.
    fn resident(&self) -> f64 {
        self.number("sync", "rss_growth_kb") * KB / self.number("sync", "objects")
    }

    /// Live heap that the sync added, in bytes for each object.
    fn heap(&self) -> f64 {
        self.number("sync", "heap_bytes") / self.number("sync", "objects")
    }

    fn peak_over_steady(&self) -> f64 {
        self.number("relist", "peak_kb") / self.number("relist", "rss_before_kb")
    }
}

pub(super) fn report(options: &Options, measured: &[Measured], server: &Value) -> Report {
    Report {
        name: "informer",
        what: format!(
            "{} Pods, then {} updates, then {} that the peer misses and a new list.",
            options.objects, options.updates, options.missed
        ),
        tables: vec![sync(measured), changes(options, measured)],
        verdicts: verdicts_of(options, measured),
        charts: charts(options, measured),
        sizes: json!({
            "objects": options.objects, "updates": options.updates, "missed": options.missed,
        }),
        ours: ours(options, measured),
        json: json!({
            "server": server, "runs": runs(measured),
        }),
    }
}

/// The same without relists, against a kube-apiserver.
pub(super) fn report_on_apiserver(options: &Options, measured: &[Measured]) -> Report {
    Report {
        name: "informer-kube-apiserver",
        what: format!(
            "{} Pods, then {} updates.",
            options.objects, options.updates
        ),
        tables: vec![sync(measured), changes(options, measured)],
        verdicts: verdicts_of(options, measured),
        charts: Vec::new(),
        sizes: json!({"objects": options.objects, "updates": options.updates}),
        ours: ours(options, measured),
        json: json!({"runs": runs(measured)}),
    }
}

fn runs(measured: &[Measured]) -> Vec<Value> {
    let runs = measured.iter().map(|it| {
        json!({
            "peer": it.name, "sync": it.sync, "updates": it.updates, "relist": it.relist,
            "updates_per_second": it.updates_per_second,
        })
    });
    runs.collect()
}

fn sync(measured: &[Measured]) -> Table {
    let mut table = Table::new([
        "first sync",
        "wall, s",
        "CPU, s",
        "RSS, MB",
        "peak, MB",
        "RSS per Pod, kB",
        "live heap per Pod, kB",
    ]);
    for it in measured {
        table.row([
            it.name.to_owned(),
            fixed(it.number("sync", "wall_seconds"), 2),
            fixed(it.number("sync", "cpu_seconds"), 2),
            fixed(it.number("sync", "rss_kb") / KB, 0),
            fixed(it.number("sync", "peak_kb") / KB, 0),
            fixed(it.resident() / 1e3, 1),
            fixed(it.heap() / 1e3, 1),
        ]);
    }
    table
}

fn changes(options: &Options, measured: &[Measured]) -> Table {
    let mut table = Table::new([
        "updates, relist",
        "updates/s",
        "CPU an update, µs",
        "RSS after, MB",
        "relist CPU, s",
        "RSS before, MB",
        "peak, MB",
        "peak / before",
    ]);
    for it in measured {
        table.row([
            it.name.to_owned(),
            fixed(it.updates_per_second, 0),
            fixed(update_cpu(options, it), 0),
            fixed(it.number("updates", "rss_kb") / KB, 0),
            fixed(it.number("relist", "cpu_seconds"), 2),
            fixed(it.number("relist", "rss_before_kb") / KB, 0),
            fixed(it.number("relist", "peak_kb") / KB, 0),
            fixed(it.peak_over_steady(), 2),
        ]);
    }
    table
}

/// Microseconds.
fn update_cpu(options: &Options, it: &Measured) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of updates is small")]
    let updates = options.updates as f64;
    it.number("updates", "cpu_seconds") * 1e6 / updates
}

/// The peers' forms. Our cheapest form is compared with the cheapest of each peer, and decoded
/// JSON with decoded JSON.
const GO: [&str; 2] = ["client-go, protobuf", "client-go, JSON"];
const GO_STRIPPED: &str = "client-go, JSON, no managedFields";
const KUBE: [&str; 2] = ["kube, paged list, JSON", "kube, streaming list, JSON"];
const KUBE_STRIPPED: &str = "kube, streaming list, JSON, no managedFields";
const DECODED_PROTOBUF: &str = "Kubist decoded, protobuf";

fn verdicts_of(options: &Options, measured: &[Measured]) -> Vec<Verdict> {
    let mut verdicts = syncs(measured);
    verdicts.extend(updates(options, measured));
    verdicts.extend(memory(measured));
    verdicts.extend(bounds(measured));
    verdicts
}

/// The figure of a peer; an empty one if the peer was not measured.
fn of(measured: &[Measured], name: &str, figure: impl Fn(&Measured) -> f64) -> Samples {
    let found = measured.iter().find(|it| it.name == name);
    found.map_or_else(Samples::default, |it| Samples::once(figure(it)))
}

fn less(
    measured: &[Measured],
    what: &str,
    (ours, theirs): (&str, &[&str]),
    figure: impl Fn(&Measured) -> f64,
) -> Verdict {
    let peers = theirs.iter().map(|&it| (it, of(measured, it, &figure)));
    Verdict::less(what, of(measured, ours, &figure)).beside(peers)
}

/// Any peer whose content is JSON.
const JSON: [&str; 3] = [GO[1], KUBE[0], KUBE[1]];

fn syncs(measured: &[Measured]) -> Vec<Verdict> {
    let cpu = |it: &Measured| it.number("sync", "cpu_seconds");
    let less = |what, ours, theirs: &[&str]| less(measured, what, (ours, theirs), cpu);
    let of = |name| of(measured, name, cpu);
    let first = "CPU of the first sync, encoded";
    let mut verdicts = vec![
        less(first, ENCODED, &[])
            .limit(FLOOR, of(FLOOR).median())
            .goal_of_limit(1.15),
    ];
    let keeping = [
        less("the same, with what is kept", ENCODED, &[]),
        less(first, ENCODED, &GO).goal(8.0),
        less(first, ENCODED, &KUBE).goal(10.0),
        less("CPU of the first sync, decoded JSON", DECODED_JSON, &JSON),
    ];
    verdicts.extend(keeping.map(|it| it.limit(KEEPING, of(KEEPING).median())));
    verdicts
}

fn updates(options: &Options, measured: &[Measured]) -> [Verdict; 3] {
    let cpu = |it: &Measured| update_cpu(options, it);
    let less = |what, ours, theirs: &[&str]| less(measured, what, (ours, theirs), cpu);
    let verdicts = [
        less("CPU of an update, encoded", ENCODED, &GO).goal(6.0),
        less("CPU of an update, encoded", ENCODED, &KUBE).goal(5.0),
        less("CPU of an update, decoded JSON", DECODED_JSON, &JSON),
    ];
    let limit = of(measured, FLOOR, cpu).median();
    verdicts.map(|it| it.limit(FLOOR, limit))
}

/// What is kept without managed fields may be less than what was received, so it has no limit.
fn memory(measured: &[Measured]) -> Vec<Verdict> {
    let stripped = (STRIPPED, &[GO_STRIPPED, KUBE_STRIPPED][..]);
    let of_heap = |form: &str, systems: (&str, &[&str])| {
        let what = format!("live heap per Pod, {form}");
        less(measured, &what, systems, Measured::heap)
    };
    let resident = |form: &str, systems: (&str, &[&str])| {
        let what = format!("RSS per Pod, {form}");
        less(measured, &what, systems, Measured::resident)
    };
    let heaps = [
        of_heap("encoded", (ENCODED, &GO)).goal(3.0),
        of_heap("decoded protobuf", (DECODED_PROTOBUF, &GO[..1])).goal(1.0),
        of_heap("decoded JSON", (DECODED_JSON, &GO[1..])),
    ];
    let residents = [
        resident("encoded", (ENCODED, &GO)),
        resident("encoded", (ENCODED, &KUBE)).goal(9.0),
        resident("decoded JSON", (DECODED_JSON, &JSON)),
    ];
    let kept = |figure: fn(&Measured) -> f64| of(measured, KEEPING, figure).median();
    let limited = |it: [Verdict; 3], limit: f64| it.map(|it| it.limit(KEEPING, limit));
    let mut verdicts = Vec::from(limited(heaps, kept(Measured::heap)));
    verdicts.push(of_heap("JSON without managedFields", stripped).goal(2.0));
    verdicts.extend(limited(residents, kept(Measured::resident)));
    verdicts.push(resident("JSON without managedFields", stripped));
    verdicts
}

/// What has a limit of its own, and no peer.
fn bounds(measured: &[Measured]) -> [Verdict; 2] {
    let of = |phase, key| of(measured, ENCODED, |it| it.number(phase, key));
    [
        Verdict::less("peak of a relist", of("relist", "peak_kb"))
            .limit("steady state", of("relist", "rss_before_kb").median())
            .goal_of_limit(1.25),
        Verdict::less("full decodes in the first sync", of("sync", "full_decodes"))
            .goal_value("0", 0.0),
    ]
}

fn ours(options: &Options, measured: &[Measured]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for it in measured.iter().filter(|it| it.name.starts_with("Kubist")) {
        let mut less = |what: &str, value: f64| {
            let name = format!("{}, {what}", it.name);
            figures.push(Figure::less(name, Samples::once(value)));
        };
        less("first sync, CPU s", it.number("sync", "cpu_seconds"));
        less("RSS per Pod, bytes", it.resident());
        less("live heap per Pod, bytes", it.heap());
        less("update, CPU µs", update_cpu(options, it));
        less("relist, CPU s", it.number("relist", "cpu_seconds"));
        less("relist, peak / before", it.peak_over_steady());
        let name = format!("{}, updates a second", it.name);
        figures.push(Figure::more(name, Samples::once(it.updates_per_second)));
    }
    figures
}

fn charts(options: &Options, measured: &[Measured]) -> Vec<Chart> {
    let pods = options.objects;
    let mut cpu = Chart::new(
        "informer-sync",
        format!("First sync of {pods} Pods: CPU seconds of the client (less is better)"),
    );
    let mut memory = Chart::new(
        "informer-memory",
        "Resident memory per cached Pod, kB (less is better)",
    );
    let mut update = Chart::new(
        "informer-update",
        "CPU for one watch event, µs (less is better)",
    );
    let mut peak = Chart::new(
        "informer-relist",
        "Most resident memory during a relist, MB (less is better)",
    );
    for it in measured.iter().filter(|it| !is_floor(it.name)) {
        let seconds = it.number("sync", "cpu_seconds");
        cpu.bar(it.name, seconds, format!("{seconds:.2} s"));
        let kilobytes = it.resident() / 1e3;
        memory.bar(it.name, kilobytes, format!("{kilobytes:.1} kB"));
        let microseconds = update_cpu(options, it);
        update.bar(it.name, microseconds, format!("{microseconds:.0} µs"));
        let megabytes = it.number("relist", "peak_kb") / KB;
        peak.bar(it.name, megabytes, format!("{megabytes:.0} MB"));
    }
    vec![cpu, memory, update, peak]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(name: &'static str, cpu: f64, heap: f64) -> Measured {
        Measured {
            name,
            sync: json!({"cpu_seconds": cpu, "heap_bytes": heap, "objects": 1}),
            updates: json!({}),
            relist: json!({}),
            updates_per_second: 1.0,
        }
    }

    #[test]
    fn the_encoded_form_meets_the_cheapest_of_each_peer_and_decoded_json_decoded_json() {
        let options = Options {
            objects: 1,
            updates: 1,
            missed: 1,
            kubist: None,
            kube_apiserver: None,
            etcd: None,
            only: None,
        };
        let measured = [
            measured(ENCODED, 1.0, 5.0),
            measured(DECODED_JSON, 2.0, 12.0),
            measured(STRIPPED, 2.0, 6.0),
            measured(GO[0], 9.0, 17.0),
            measured(GO[1], 15.0, 17.0),
            measured(GO_STRIPPED, 15.0, 15.0),
            measured(KUBE[0], 4.0, f64::NAN),
            measured(KUBE[1], 3.0, f64::NAN),
            measured(FLOOR, 0.9, f64::NAN),
            measured(KEEPING, 0.95, f64::NAN),
        ];
        let verdicts = verdicts_of(&options, &measured);
        let json: Vec<Value> = verdicts.iter().map(Verdict::json).collect();
        let peers = |what: &str| -> Vec<Value> {
            let of = json.iter().filter(|it| it["what"] == *what);
            of.map(|it| it["best_peer"].clone()).collect()
        };
        let encoded = [Value::Null, GO[0].into(), KUBE[1].into()];
        assert_eq!(peers("CPU of the first sync, encoded"), encoded);
        assert_eq!(peers("CPU of the first sync, decoded JSON"), [KUBE[1]]);
        let stripped = peers("live heap per Pod, JSON without managedFields");
        assert_eq!(stripped, [GO_STRIPPED]);
        let known: Vec<_> = verdicts.iter().filter(|it| it.is_known()).collect();
        assert_eq!(known.len(), 8, "updates, RSS and relists were not measured");
    }
}
