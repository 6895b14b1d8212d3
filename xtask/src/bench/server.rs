//! `bench server`: what `kubist serve` takes for lists, watchers and writes, on each engine, and as
//! objects become many.
//!
//! Load and server share the cores; costs are the server's CPU time. kube-apiserver's figures are
//! those of one measurement on a machine like this one (v1.36, etcd 3.6 without fsync), and only
//! ratios of ten are read from them.

mod figures;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::{Value, json};

use super::machine;
use super::peers::{self, Peers};
use super::report::Report;
use crate::interop::server::{self, Server};
use crate::process::{Outcome, root};

/// The packages of `bench/` that it needs.
pub(super) const PACKAGES: [&str; 2] = ["driver", "load"];

/// Deliveries a second that watchers are given, however many they are.
const DELIVERIES_PER_SECOND: f64 = 10_000.0;

/// The server needs no more than it is asked for.
const NO_CONTROLLERS: [&str; 2] = ["--controllers", "none"];

/// Options of `cargo xtask bench server`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Pods that are listed
    #[arg(long, default_value_t = 20_000)]
    objects: u64,
    /// Numbers of watchers
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1_000, 10_000])]
    watchers: Vec<u32>,
    /// Seconds of watching for each number of watchers
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Numbers of small objects at which costs are compared
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000])]
    steps: Vec<u64>,
    /// Use this server binary in place of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
}

/// What was found.
struct Found {
    /// Of each engine: how it starts, and what it holds at rest.
    starts: Vec<Value>,
    lists: Vec<Value>,
    watches: Vec<Value>,
    /// Of each engine: its writes.
    writes: Vec<(&'static str, Vec<Value>)>,
    growth: Vec<Value>,
}

struct Bench<'a> {
    options: &'a Options,
    peers: &'a Peers,
    binary: PathBuf,
    scratch: PathBuf,
}

pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Report> {
    let bench = Bench {
        options,
        peers,
        binary: server::binary(options.kubist.as_deref())?,
        scratch: root().join("target/bench/server"),
    };
    std::fs::create_dir_all(&bench.scratch)?;
    let (mut starts, mut writes) = (Vec::new(), Vec::new());
    for engine in ["memory", "redb"] {
        let (start, lines) = bench.engine(engine)?;
        starts.push(start);
        writes.push((engine, lines));
    }
    let (lists, watches) = bench.read()?;
    let growth = bench.grow()?;
    let found = Found {
        starts,
        lists,
        watches,
        writes,
        growth,
    };
    Ok(figures::report(options, &found))
}

impl Bench<'_> {
    fn start(&self, extra: &[&str]) -> Outcome<Server> {
        let kubeconfig = self.scratch.join("kubeconfig");
        Server::start(
            &self.binary,
            &kubeconfig,
            &[&NO_CONTROLLERS, extra].concat(),
        )
    }

    /// Starts on an engine, at rest, then writes with one client and with 16.
    fn engine(&self, engine: &str) -> Outcome<(Value, Vec<Value>)> {
        let data = self.scratch.join("data");
        let _gone = std::fs::remove_dir_all(&data);
        let text = data.display().to_string();
        let extra: &[&str] = match engine {
            "redb" => &["--data-dir", &text],
            _ => &[],
        };
        let server = self.start(extra)?;
        let start = json!({
            "engine": engine,
            "start": server.start,
            "rss_kb": machine::usage(server.id()).1,
        });
        let mut lines = Vec::new();
        for clients in ["1", "16"] {
            lines.extend(self.load(&server, &["write", "--clients", clients])?);
        }
        server.stop()?;
        Ok((start, lines))
    }

    /// Lists of all Pods, then watchers, of one server on its engine in memory.
    fn read(&self) -> Outcome<(Vec<Value>, Vec<Value>)> {
        let server = self.start(&[])?;
        let filled = self.fill(&server)?;
        let mut lists = vec![filled];
        for (case, flags) in [
            ("protobuf", &["--path", "/api/v1/pods", "--protobuf"][..]),
            ("JSON", &["--path", "/api/v1/pods"]),
            (
                "protobuf, pages of 500",
                &["--path", "/api/v1/pods", "--protobuf", "--limit", "500"],
            ),
            (
                "protobuf, one label of many",
                &[
                    "--path",
                    "/api/v1/pods?labelSelector=app%3Dapp-7",
                    "--protobuf",
                ],
            ),
        ] {
            lists.extend(self.load(&server, &[&["list", "--case", case], flags].concat())?);
        }
        let mut watches = Vec::new();
        for &watchers in &self.options.watchers {
            let rate = DELIVERIES_PER_SECOND / f64::from(watchers);
            let events = (rate * f64::from(self.options.seconds)).ceil().to_string();
            let (watchers, rate) = (watchers.to_string(), rate.to_string());
            let flags = [
                "watch",
                "--watchers",
                &watchers,
                "--rate",
                &rate,
                "--events",
                &events,
            ];
            watches.extend(self.load(&server, &flags)?);
        }
        server.stop()?;
        Ok((lists, watches))
    }

    fn grow(&self) -> Outcome<Vec<Value>> {
        let server = self.start(&[])?;
        let steps: Vec<String> = self.options.steps.iter().map(u64::to_string).collect();
        let lines = self.load(&server, &["grow", "--steps", &steps.join(",")])?;
        server.stop()?;
        Ok(lines)
    }

    /// Fills the server with Pods; what it then holds.
    fn fill(&self, server: &Server) -> Outcome<Value> {
        let mut driver = Command::new(self.peers.driver());
        driver.args(["fill", "--objects", &self.options.objects.to_string()]);
        let filled = peers::lines(driver.arg("--kubeconfig").arg(&server.kubeconfig))?;
        Ok(json!({
            "case": "filled",
            "rss_kb": machine::usage(server.id()).1,
            "fill": filled,
        }))
    }

    fn load(&self, server: &Server, flags: &[&str]) -> Outcome<Vec<Value>> {
        peers::lines(
            self.peers
                .rust("load")
                .args(flags)
                .args(["--pid", &server.id().to_string()])
                .arg("--kubeconfig")
                .arg(&server.kubeconfig as &Path)
                .stdin(Stdio::null()),
        )
    }
}
