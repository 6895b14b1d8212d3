//! The results of `bench informer`, as tables, charts and targets.

use super::{ENCODED, Options};
use crate::bench::chart::Chart;
use crate::bench::report::Report;
use crate::bench::table::{Table, fixed};
use crate::bench::target::Target;
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
    let runs: Vec<Value> = measured
        .iter()
        .map(|it| {
            json!({
                "peer": it.name, "sync": it.sync, "updates": it.updates, "relist": it.relist,
                "updates_per_second": it.updates_per_second,
            })
        })
        .collect();
    Report {
        name: "informer",
        what: format!(
            "{} Pods, then {} updates, then {} that the peer misses and a new list.",
            options.objects, options.updates, options.missed
        ),
        tables: vec![sync(measured), changes(options, measured)],
        targets: targets(options, measured),
        charts: charts(options, measured),
        json: json!({
            "objects": options.objects, "updates": options.updates, "missed": options.missed,
            "server": server, "runs": runs,
        }),
    }
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

fn targets(options: &Options, measured: &[Measured]) -> Vec<Target> {
    let by = |name: &str| measured.iter().find(|it| it.name == name);
    let Some(ours) = by(ENCODED) else {
        return Vec::new();
    };
    let mut targets = Vec::new();
    let cpu = |it: &Measured| it.number("sync", "cpu_seconds");
    let update = |it: &Measured| update_cpu(options, it);
    if let Some(go) = by("client-go, protobuf") {
        let whose = "client-go's, protobuf";
        let mut at_most = |what: &str, ours: f64, share: f64, theirs: f64| {
            targets.push(Target::at_most(what, ours, share, theirs, whose));
        };
        at_most("CPU of the first sync", cpu(ours), 1.0 / 8.0, cpu(go));
        at_most("CPU of an update", update(ours), 1.0 / 8.0, update(go));
        at_most(
            "live heap per Pod, encoded",
            ours.heap(),
            1.0 / 3.0,
            go.heap(),
        );
        if let Some(decoded) = by("Kubist decoded, protobuf") {
            at_most("live heap per Pod, decoded", decoded.heap(), 1.0, go.heap());
        }
    }
    if let (Some(ours), Some(go)) = (by(super::STRIPPED), by("client-go, JSON")) {
        let what = "live heap per Pod, JSON, managedFields dropped";
        let whose = "client-go's, JSON";
        targets.push(Target::at_most(what, ours.heap(), 0.5, go.heap(), whose));
    }
    if let Some(kube) = by("kube, paged list, JSON") {
        let mut at_most = |what: &str, ours: f64, share: f64, theirs: f64| {
            targets.push(Target::at_most(what, ours, share, theirs, "kube's"));
        };
        at_most("CPU of the first sync", cpu(ours), 1.0 / 10.0, cpu(kube));
        at_most("CPU of an update", update(ours), 1.0 / 5.0, update(kube));
        at_most(
            "RSS per Pod, encoded",
            ours.resident(),
            1.0 / 9.0,
            kube.resident(),
        );
    }
    targets.push(Target::at_most(
        "peak of a relist",
        ours.number("relist", "peak_kb"),
        1.25,
        ours.number("relist", "rss_before_kb"),
        "steady state",
    ));
    let decodes = ours.number("sync", "full_decodes");
    targets.push(Target::exactly(
        "full decodes in the first sync",
        decodes,
        0.0,
    ));
    targets
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
    for it in measured {
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
