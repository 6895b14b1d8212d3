//! The part of `bench server` about the store: writes to `kubist etcd` beside etcd, and a
//! kube-apiserver on each of them.

use super::etcd::{Etcd, Keeping};
use super::figures::{figure, lists, watches, write_table};
use super::ours::{REQUESTS, ours_of};
use super::ownership::least;
use super::{Bench, Found, of as lines_of, subject, sync};
use crate::bench::report::Report;
use crate::bench::samples::Samples;
use crate::bench::verdict::Verdict;
use kubist_test_support::process::Outcome;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Rounds over all stores, each empty; the least CPU time of a case counts.
const ROUNDS: u32 = 3;
/// How long a round syncs.
const SYNC_TIME: Duration = Duration::from_secs(2);
/// Bytes of a value, as of a small object.
const BYTES: u64 = 400;
/// The stores with what they keep: ours, and etcd if it can.
const KEPT: [(&str, Option<&str>, Keeping); 3] = [
    ("Kubist, etcd API", Some("etcd"), Keeping::Synced),
    (
        "Kubist, etcd API, no fsync",
        Some("etcd, no fsync"),
        Keeping::Unsynced,
    ),
    ("Kubist, etcd API, memory", None, Keeping::Nothing),
];
/// A write and a sync, and nothing else.
const DISK: &str = "the disk";
const SYNC: &str = "sync alone";
/// The API servers on the stores that sync.
const ON_OURS: &str = "kube-apiserver on Kubist";
const ON_ETCD: &str = "kube-apiserver on etcd";
/// The cases of writes.
const WRITES: [&str; 4] = ["create, 1", "update, 1", "create, 16", "update, 16"];

impl Bench {
    /// Measures the stores in turn, and then a kube-apiserver on two of them.
    pub(super) fn store(&mut self, apiserver: Option<&Path>) -> Outcome {
        for _ in 0..ROUNDS {
            let bytes = usize::try_from(BYTES)?;
            let line = sync::alone(&self.scratch.join("disk"), SYNC_TIME, bytes)?;
            least(&mut self.found.stores, lines_of(DISK, vec![line]));
            for (ours, theirs, keeping) in KEPT {
                self.puts(ours, |folder, bench| {
                    Etcd::kubist(&bench.binary, folder, keeping)
                })?;
                if let Some(theirs) = theirs {
                    self.puts(theirs, |_, bench| {
                        bench.start_etcd(keeping == Keeping::Synced)
                    })?;
                }
            }
        }
        let Some(apiserver) = apiserver else {
            return Ok(());
        };
        let folder = self.scratch.join("etcd");
        let etcd = Etcd::kubist(&self.binary, &folder, Keeping::Synced)?;
        self.on_store(ON_OURS, apiserver, etcd)?;
        let etcd = self.start_etcd(true)?;
        self.on_store(ON_ETCD, apiserver, etcd)
    }

    fn puts(&mut self, name: &str, start: impl FnOnce(&Path, &Self) -> Outcome<Etcd>) -> Outcome {
        let etcd = start(&self.scratch.join("etcd"), self)?;
        let seconds = if self.size.write_seconds > 1 { 3 } else { 1 };
        for clients in [1, 16] {
            let lines = self.load.put(&etcd, clients, seconds, BYTES)?;
            least(&mut self.found.stores, lines_of(name, lines));
        }
        Ok(())
    }

    fn on_store(&mut self, name: &str, apiserver: &Path, etcd: Etcd) -> Outcome {
        let subject = subject::apiserver_on(&self.load, &self.scratch, apiserver, etcd)?;
        self.writes(&subject, name)?;
        self.lists(&subject, name)?;
        self.watches(&subject, name)?;
        subject.stop()
    }
}

pub(super) fn report(found: &Found) -> Report {
    let mut tables = vec![write_table("put, clients", &found.stores)];
    if !found.writes.is_empty() {
        tables.push(write_table("write, clients", &found.writes));
        tables.push(lists(found));
        tables.push(watches(found));
    }
    Report {
        name: "store",
        what: format!(
            "Compare-and-set puts of {BYTES} bytes; the least CPU time of {ROUNDS} rounds. The \
             disk: a file that does not grow is written and synced by one thread. Then a \
             kube-apiserver on two of the stores, with fsync."
        ),
        tables,
        verdicts: verdicts(found),
        charts: Vec::new(),
        sizes: json!({"bytes": BYTES}),
        ours: ours_of("", &found.stores, REQUESTS),
        json: json!({
            "puts": found.stores,
            "writes": found.writes,
            "lists": found.lists,
            "watches": found.watches,
        }),
    }
}

fn verdicts(found: &Found) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (ours, theirs, keeping) in KEPT {
        let Some(theirs) = theirs else { continue };
        for case in WRITES {
            let cpu =
                |subject| Samples::once(figure(&found.stores, subject, case, "/cpu_microseconds"));
            let verdict = Verdict::less(format!("CPU of a put to {ours}: {case}"), cpu(ours));
            let verdict = verdict.beside([(theirs, cpu(theirs))]).goal(3.0);
            verdicts.push(if keeping == Keeping::Synced && case.ends_with(", 1") {
                verdict.limit(SYNC, figure(&found.stores, DISK, SYNC, "/cpu_microseconds"))
            } else {
                verdict
            });
        }
    }
    for case in WRITES.iter().filter(|_| !found.writes.is_empty()) {
        let slow = |subject| Samples::once(figure(&found.writes, subject, case, "/latency/p50_ms"));
        let verdict = Verdict::less(format!("time of a write, {ON_OURS}: {case}"), slow(ON_OURS));
        verdicts.push(verdict.beside([(ON_ETCD, slow(ON_ETCD))]).goal(1.0));
    }
    verdicts
}
