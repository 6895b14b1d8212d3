//! `bench server`: the cost of lists, watchers and writes for `kubist serve` on each storage
//! engine, and as the number of objects grows, compared with etcd and, optionally, a
//! kube-apiserver.
//!
//! Load and server share the cores; costs are the server's CPU time. Without a kube-apiserver, the
//! targets are relative to one measurement on a similar machine (v1.36, etcd 3.6),
//! and only ratios of ten are meaningful.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark waits for programs by the clock of the machine"
)]

mod access;
mod custom;
mod etcd;
mod figures;
mod load;
mod ours;
mod ownership;
mod scale;
mod store;
pub(super) mod subject;
mod sync;

use super::peers::Peers;
use super::report::Report;
use crate::interop::server;
use clap::Args;
use etcd::Etcd;
use kubist_test_support::process::{Outcome, root};
pub(super) use load::Load;
use load::Watching;
use scale::Scale;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use subject::{Engine, Subject};

/// The packages of `bench/` that it needs.
pub(super) const PACKAGES: [&str; 2] = ["driver", "load"];

/// Deliveries a second, to any number of watchers.
const DELIVERIES_PER_SECOND: f64 = 10_000.0;
/// Deliveries in all when updates are sent without a pause.
const FLOOD_DELIVERIES: u32 = 400_000;
/// Numbers of watchers for that, and with a connection each.
const CROWDS: [u32; 2] = [100, 1_000];
/// The time limit for everything. Growth, the last part, stops where it would exceed it.
const BUDGET: Duration = Duration::from_secs(12 * 60);
/// The least time for growth.
const GROWTH_MIN: Duration = Duration::from_secs(30);
/// The names of the subjects.
const APISERVER: &str = "kube-apiserver";
const FSYNC: &str = "etcd alone";
const NO_FSYNC: &str = "etcd alone, no fsync";
/// What requests and deliveries cost at least.
const FLOOR: &str = "a server that keeps nothing";

/// Options of `cargo xtask bench server`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Pods that are listed [default: 20000; 2000 with --quick]
    #[arg(long)]
    objects: Option<u64>,
    /// Numbers of watchers [default: 100,1000,10000; 100,1000 with --quick]
    #[arg(long, value_delimiter = ',')]
    watchers: Option<Vec<u32>>,
    /// Seconds of each watch case [default: 10; 2 with --quick]
    #[arg(long)]
    seconds: Option<u32>,
    /// Numbers of small objects at which costs are compared [default: 1000,10000,100000,1000000;
    /// 1000,10000 with --quick]
    #[arg(long, value_delimiter = ',')]
    steps: Option<Vec<u64>>,
    /// Run smaller and shorter cases: for a look, not for comparison
    #[arg(long)]
    quick: bool,
    /// Use this server binary instead of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Use this etcd instead of building one with Go (also: `KUBIST_ETCD_3_6`)
    #[arg(long, value_name = "PATH")]
    etcd: Option<PathBuf>,
    /// Also measure this kube-apiserver, on an etcd with fsync
    #[arg(long, value_name = "PATH")]
    kube_apiserver: Option<PathBuf>,
    /// Measure only apply, and writes and lists with managed fields
    #[arg(long)]
    ownership: bool,
    /// Measure only custom resources with large schemas and rules; needs Go, and its module proxy
    #[arg(long, conflicts_with = "ownership")]
    custom: bool,
    /// Measure only the leases of 100,000 nodes beside 1,000,000 Pods and 5,000 watches
    #[arg(long, conflicts_with_all = ["ownership", "custom"])]
    scale: bool,
    /// Measure only what it costs to obey roles, webhooks, a quota and a policy
    #[arg(long, conflicts_with_all = ["ownership", "custom", "scale"])]
    access: bool,
    /// Measure only `kubist etcd` beside etcd, and a kube-apiserver on both
    #[arg(long, conflicts_with_all = ["ownership", "custom", "scale", "access"])]
    store: bool,
    /// Also measure the creates and updates of this kubist binary, which has no managed fields
    #[arg(long, value_name = "PATH")]
    unmanaged: Option<PathBuf>,
}

/// The sizes of the cases.
struct Size {
    objects: u64,
    watchers: Vec<u32>,
    watch_seconds: u32,
    write_seconds: u32,
    steps: Vec<u64>,
    flood: u32,
}

impl Options {
    fn size(&self) -> Size {
        let numbers = |given: &Option<Vec<u32>>, quick: &[u32], whole: &[u32]| {
            let usual = if self.quick { quick } else { whole };
            given.clone().unwrap_or_else(|| usual.to_vec())
        };
        let steps: &[u64] = if self.quick {
            &[1_000, 10_000]
        } else {
            &[1_000, 10_000, 100_000, 1_000_000]
        };
        let of = |quick, whole| if self.quick { quick } else { whole };
        Size {
            objects: self.objects.unwrap_or_else(|| of(2_000, 20_000)),
            watchers: numbers(&self.watchers, &[100, 1_000], &[100, 1_000, 10_000]),
            watch_seconds: self.seconds.unwrap_or(if self.quick { 2 } else { 10 }),
            write_seconds: if self.quick { 1 } else { 5 },
            steps: self.steps.clone().unwrap_or_else(|| steps.to_vec()),
            flood: FLOOD_DELIVERIES / if self.quick { 8 } else { 1 },
        }
    }
}

/// The results. Each line names its subject, under `subject`.
#[derive(Default)]
struct Found {
    /// Start-up, and memory when idle and with the Pods.
    starts: Vec<Value>,
    lists: Vec<Value>,
    watches: Vec<Value>,
    writes: Vec<Value>,
    growth: Vec<Value>,
    /// Applies, and writes with managed fields and without.
    applies: Vec<Value>,
    /// Lists of Pods with managed fields and without.
    managed_lists: Vec<Value>,
    /// Creates, updates and reads of custom resources.
    customs: Vec<Value>,
    custom_lists: Vec<Value>,
    /// Requests under roles, webhooks, a quota and a policy.
    accesses: Vec<Value>,
    /// Writes to `kubist etcd` and to etcd.
    stores: Vec<Value>,
    /// Leases beside many Pods and watches.
    scales: Vec<Value>,
}

struct Bench {
    size: Size,
    begun: Instant,
    load: Load,
    binary: PathBuf,
    etcd: Option<PathBuf>,
    scratch: PathBuf,
    found: Found,
}

pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Vec<Report>> {
    let scratch = root().join("target/bench/server");
    std::fs::create_dir_all(&scratch)?;
    let mut bench = Bench {
        size: options.size(),
        binary: server::binary(options.kubist.as_deref())?,
        etcd: etcd::binary(options.etcd.as_deref())?,
        load: Load::of(peers),
        scratch,
        found: Found::default(),
        begun: Instant::now(),
    };
    let mut reports = Vec::new();
    let apiserver = options.kube_apiserver.as_deref();
    if options.scale {
        let scale = Scale::of(options.quick);
        bench.scale(scale)?;
        reports.push(scale::report(scale, &bench.found));
    } else if options.access {
        bench.access(apiserver)?;
        reports.push(access::report(&bench.found));
    } else if options.store {
        bench.store(apiserver)?;
        reports.push(store::report(&bench.found));
    } else if options.custom {
        bench.custom(apiserver)?;
        reports.push(custom::report(&bench.found));
    } else {
        if !options.ownership {
            bench.all(options)?;
            reports.push(figures::report(&bench.size, &bench.found));
        }
        bench.ownership(apiserver, options.unmanaged.as_deref())?;
        reports.push(ownership::report(&bench.size, &bench.found));
    }
    eprintln!("measured in {:.0} s", bench.begun.elapsed().as_secs_f64());
    Ok(reports)
}

fn named(engine: Engine) -> String {
    format!("Kubist, {}", engine.name())
}

/// Adds the subject to lines.
fn of(subject: &str, mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        line["subject"] = subject.into();
    }
    lines
}

impl Bench {
    /// Runs everything but the cases of field ownership.
    fn all(&mut self, options: &Options) -> Outcome {
        for engine in [Engine::Memory, Engine::Redb] {
            self.engine(engine)?;
        }
        if self.etcd.is_some() {
            self.engine(Engine::Etcd)?;
            self.etcd_alone(FSYNC, true)?;
            self.etcd_alone(NO_FSYNC, false)?;
        }
        if let Some(path) = &options.kube_apiserver {
            self.apiserver(path)?;
        }
        self.floor()?;
        let subject = self.kubist(Engine::Memory)?;
        self.lists(&subject, &named(Engine::Memory))?;
        self.watches(&subject, &named(Engine::Memory))?;
        subject.stop()?;
        self.grow()
    }

    fn start_etcd(&self, fsync: bool) -> Outcome<Etcd> {
        let binary = self.etcd.as_ref().ok_or("an etcd: see --etcd")?;
        Etcd::start(binary, &self.scratch.join("etcd"), fsync)
    }

    fn kubist(&self, engine: Engine) -> Outcome<Subject> {
        let etcd = match engine {
            Engine::Etcd => Some(self.start_etcd(true)?),
            Engine::Memory | Engine::Redb => None,
        };
        Subject::kubist(&self.binary, &self.scratch, engine, etcd, &[])
    }

    /// Starts a server on an engine, measures it idle, then writes.
    fn engine(&mut self, engine: Engine) -> Outcome {
        let subject = self.kubist(engine)?;
        self.started(&subject, &named(engine));
        self.writes(&subject, &named(engine))?;
        subject.stop()
    }

    fn started(&mut self, subject: &Subject, name: &str) {
        self.found.starts.push(json!({
            "subject": name,
            "start_ms": subject.start.as_secs_f64() * 1e3,
            "rss_kb": subject.rss_kb,
        }));
    }

    fn writes(&mut self, subject: &Subject, name: &str) -> Outcome {
        for clients in [1, 16] {
            let lines = self.load.write(subject, clients, self.size.write_seconds)?;
            self.found.writes.extend(of(name, lines));
        }
        Ok(())
    }

    /// Puts values of the size of those writes into etcd.
    fn etcd_alone(&mut self, name: &str, fsync: bool) -> Outcome {
        let bytes = self.found.writes.first().map(|line| line["bytes"].clone());
        let bytes = bytes.and_then(|it| it.as_u64()).unwrap_or_default();
        let etcd = self.start_etcd(fsync)?;
        for clients in [1, 16] {
            let lines = self
                .load
                .put(&etcd, clients, self.size.write_seconds, bytes)?;
            self.found.writes.extend(of(name, lines));
        }
        Ok(())
    }

    fn start_apiserver(&self, path: &Path) -> Outcome<Subject> {
        subject::apiserver(&self.load, &self.scratch, path, self.etcd.as_deref())
    }

    fn apiserver(&mut self, path: &Path) -> Outcome {
        let subject = self.start_apiserver(path)?;
        self.started(&subject, APISERVER);
        self.writes(&subject, APISERVER)?;
        self.lists(&subject, APISERVER)?;
        self.watches(&subject, APISERVER)?;
        subject.stop()
    }

    fn floor(&mut self) -> Outcome {
        let subject = Subject::floor(&self.scratch, || self.load.floor())?;
        self.writes(&subject, FLOOR)?;
        self.watches(&subject, FLOOR)?;
        subject.stop()
    }

    /// Fills a server with Pods and lists them.
    fn lists(&mut self, subject: &Subject, name: &str) -> Outcome {
        let filled = self.load.fill(subject, self.size.objects)?;
        let start = self.found.starts.iter_mut();
        for line in start.filter(|line| line["subject"] == name) {
            line["filled"] = filled.clone();
        }
        let lines = self.load.lists(subject)?;
        self.found.lists.extend(of(name, lines));
        Ok(())
    }

    fn watches(&mut self, subject: &Subject, name: &str) -> Outcome {
        let paced = |watchers: u32, apart: bool| {
            let rate = DELIVERIES_PER_SECOND / f64::from(watchers);
            Watching {
                watchers,
                rate,
                events: (rate * f64::from(self.size.watch_seconds)).ceil(),
                apart,
            }
        };
        let all = self.size.watchers.iter();
        let mut cases: Vec<Watching> = all.map(|&watchers| paced(watchers, false)).collect();
        for watchers in CROWDS {
            cases.push(paced(watchers, true));
        }
        for watchers in CROWDS {
            cases.push(Watching {
                watchers,
                rate: 0.0,
                events: f64::from(self.size.flood / watchers),
                apart: false,
            });
        }
        for case in cases {
            let lines = self.load.watch(subject, &case)?;
            self.found.watches.extend(of(name, lines));
        }
        Ok(())
    }

    fn grow(&mut self) -> Outcome {
        let left = BUDGET.saturating_sub(self.begun.elapsed()).max(GROWTH_MIN);
        let subject = self.kubist(Engine::Memory)?;
        let lines = self.load.grow(&subject, &self.size.steps, left)?;
        self.found.growth = of(&named(Engine::Memory), lines);
        subject.stop()
    }
}
