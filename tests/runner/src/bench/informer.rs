//! `bench informer`: each peer lists all Pods of a server, follows updates, and lists again after
//! it has missed more updates than the server remembers.
//!
//! The peers run one after another against one server, so that they do not share the CPU. Each has
//! its own updates, which end with a marker Pod. They reach the server through a [`Line`] that can
//! be cut.

mod figures;
mod line;

use super::machine;
use super::peers::{self, Peers};
use super::report::Report;
use super::server::{Load, subject};
use crate::interop::server::{self, Server};
use clap::Args;
use figures::Measured;
use kubist_test_support::process::{Outcome, root};
use line::Line;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

/// Options of `cargo xtask bench informer`.
#[derive(Args)]
#[group(skip)]
pub(super) struct Options {
    /// Pods on the server
    #[arg(long, default_value_t = 20_000)]
    objects: u64,
    /// Updates that each peer follows
    #[arg(long, default_value_t = 20_000)]
    updates: u64,
    /// Updates that each peer misses before it lists again; the server's history is shorter
    #[arg(long, default_value_t = 3_000)]
    missed: u64,
    /// Use this server binary instead of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Repeat first sync and updates against this kube-apiserver
    #[arg(long, value_name = "PATH")]
    kube_apiserver: Option<PathBuf>,
    /// Its etcd, instead of one that Go builds (also: `KUBIST_ETCD_3_6`)
    #[arg(long, value_name = "PATH", requires = "kube_apiserver")]
    etcd: Option<PathBuf>,
    /// Only the peers whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

impl Options {
    pub(super) fn objects(&self) -> u64 {
        self.objects
    }

    pub(super) fn updates(&self) -> u64 {
        self.updates
    }
}

/// The peer of ours that costs least.
const ENCODED: &str = "Kubist encoded, protobuf";
/// The peer that does what the others do with JSON.
const DECODED_JSON: &str = "Kubist decoded, JSON";
/// The peer whose memory over JSON is compared.
const STRIPPED: &str = "Kubist encoded, JSON, no managedFields";

/// The peer that receives the bytes and does nothing with them.
const FLOOR: &str = "receiving the bytes alone";
const FLOOR_PROGRAM: &str = "kubist-floor";
/// The peer that also copies the bytes of the first sync to memory of its own, as whoever keeps
/// them does.
const KEEPING: &str = "receiving and keeping the bytes";

/// A peer: its name, its program, and its flags.
type Peer = (&'static str, &'static str, &'static [&'static str]);

const PEERS: [Peer; 13] = [
    (ENCODED, "kubist-peer", &["--form", "encoded"]),
    (
        "Kubist decoded, protobuf",
        "kubist-peer",
        &["--form", "decoded"],
    ),
    (
        "Kubist encoded, JSON",
        "kubist-peer",
        &["--form", "encoded-json"],
    ),
    (
        STRIPPED,
        "kubist-peer",
        &["--form", "encoded-json", "--strip"],
    ),
    (DECODED_JSON, "kubist-peer", &["--form", "decoded-json"]),
    (
        "client-go, protobuf",
        "go-peer",
        &["informer", "--content", "protobuf"],
    ),
    (
        "client-go, JSON",
        "go-peer",
        &["informer", "--content", "json"],
    ),
    (
        "client-go, JSON, no managedFields",
        "go-peer",
        &["informer", "--content", "json", "--strip"],
    ),
    ("kube, paged list, JSON", "kube-peer", &["--list", "paged"]),
    (
        "kube, streaming list, JSON",
        "kube-peer",
        &["--list", "streaming"],
    ),
    (
        "kube, streaming list, JSON, no managedFields",
        "kube-peer",
        &["--list", "streaming", "--strip"],
    ),
    (FLOOR, FLOOR_PROGRAM, &[]),
    (KEEPING, FLOOR_PROGRAM, &["--keep"]),
];

fn is_floor(peer: &str) -> bool {
    peer == FLOOR || peer == KEEPING
}

/// The environment of all peers.
struct Bench<'a> {
    options: &'a Options,
    driver: PathBuf,
    /// The server's address.
    kubeconfig: PathBuf,
    /// The address of the line.
    peers: PathBuf,
    line: Line,
    /// Whether peers can be made to list again: only where the history is short.
    relists: bool,
}

/// Measures against ours, and against a kube-apiserver if there is one.
pub(super) fn run(peers: &Peers, options: &Options) -> Outcome<Vec<Report>> {
    let scratch = root().join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    let mut reports = vec![against_kubist(peers, options, &scratch)?];
    if let Some(path) = &options.kube_apiserver {
        reports.push(against_apiserver(peers, options, &scratch, path)?);
    }
    Ok(reports)
}

fn against_kubist(peers: &Peers, options: &Options, scratch: &Path) -> Outcome<Report> {
    let binary = server::binary(options.kubist.as_deref())?;
    let kubeconfig = scratch.join("kubeconfig");
    // More than a peer can fall behind by, and less than it misses.
    let history = (options.missed - options.missed / 5).max(1).to_string();
    let extra = ["--controllers", "none", "--history", &history];
    let server = Server::start(&binary, &kubeconfig, &extra)?;
    let bench = Bench::new(peers, options, &server.url, kubeconfig, true)?;
    bench.fill(server.id())?;
    let measured = bench.all(peers)?;
    let (cpu, rss) = machine::usage(server.id());
    let usage = json!({"start": server.start, "cpu_seconds": cpu, "rss_kb": rss});
    server.stop()?;
    Ok(figures::report(options, &measured, &usage))
}

/// Its history is too long for a relist.
fn against_apiserver(
    peers: &Peers,
    options: &Options,
    scratch: &Path,
    path: &Path,
) -> Outcome<Report> {
    let load = Load::of(peers);
    let subject = subject::apiserver(&load, scratch, path, options.etcd.as_deref())?;
    let url = subject.url()?;
    let bench = Bench::new(peers, options, &url, subject.kubeconfig.clone(), false)?;
    bench.fill(subject.id())?;
    let measured = bench.all(peers)?;
    Ok(figures::report_on_apiserver(options, &measured))
}

impl<'a> Bench<'a> {
    fn new(
        peers: &Peers,
        options: &'a Options,
        url: &str,
        kubeconfig: PathBuf,
        relists: bool,
    ) -> Outcome<Self> {
        let line = Line::to(url.trim_start_matches("https://").parse()?)?;
        let through = std::fs::read_to_string(&kubeconfig)?
            .replace(url, &format!("https://{}", line.address));
        let bench = Self {
            options,
            driver: peers.driver(),
            peers: kubeconfig.with_extension("line"),
            kubeconfig,
            line,
            relists,
        };
        std::fs::write(&bench.peers, through)?;
        Ok(bench)
    }

    /// Measures each peer.
    fn all(&self, peers: &Peers) -> Outcome<Vec<Measured>> {
        let (bench, options) = (self, self.options);
        let mut measured = Vec::new();
        for (number, peer) in PEERS.iter().enumerate() {
            let wanted = options.only.as_ref();
            if wanted.is_some_and(|only| !peer.0.contains(only)) && !is_floor(peer.0) {
                continue;
            }
            let program = match peer.1 {
                "go-peer" => peers.go(),
                name => Some(peers.rust(name)),
            };
            let Some(program) = program else { continue };
            let mut figures = bench.measure(program, peer, number)?;
            if peer.1 == "kubist-peer" {
                let heap = bench.heap(peers, peer)?;
                figures.sync["heap_bytes"] = heap["heap_bytes"].clone();
            }
            measured.push(figures);
        }
        Ok(measured)
    }

    fn fill(&self, server: u32) -> Outcome {
        let filled = self.drive("fill", &[])?;
        let (cpu, rss) = machine::usage(server);
        let (seconds, megabytes) = (&filled["seconds"], rss / 1024);
        eprintln!("filled in {seconds} s; the server: {cpu:.1} s of CPU, {megabytes} MB");
        Ok(())
    }

    /// Runs the driver and returns its output.
    fn drive(&self, command: &str, arguments: &[&str]) -> Outcome<Value> {
        let output = Command::new(&self.driver)
            .arg(command)
            .args(["--objects", &self.options.objects.to_string()])
            .args(arguments)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .output()?;
        if !output.status.success() {
            return Err(format!("driver: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn update(&self, updates: u64, marker: &str) -> Outcome<Value> {
        let updates = updates.to_string();
        self.drive("update", &["--updates", &updates, "--marker", marker])
    }

    fn measure(&self, mut program: Command, peer: &Peer, number: usize) -> Outcome<Measured> {
        let (name, _, flags) = *peer;
        let (marker, relist) = (format!("marker-{number}"), format!("relist-{number}"));
        let mut child = program
            .args(flags)
            .arg("--kubeconfig")
            .arg(&self.peers)
            .args(["--marker", &marker, "--relist-marker", &relist])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let relists = self.relists && !is_floor(name);
        let result = self.follow(name, &marker, relists.then_some(&relist), &mut lines);
        if result.is_err() || !relists {
            // It may wait for a list that will not come.
            child.kill().ok();
        }
        let status = child.wait()?;
        let measured = result.map_err(|error| format!("{name}: {error}"))?;
        if relists && !status.success() {
            return Err(format!("{name}: {status}").into());
        }
        Ok(measured)
    }

    /// Repeats the first sync with a counting allocator.
    fn heap(&self, peers: &Peers, peer: &Peer) -> Outcome<Value> {
        let mut program = peers.rust("kubist-heap");
        program.args(peer.2).arg("--kubeconfig").arg(&self.peers);
        let lines = peers::lines(program.args(["--marker", "none", "--relist-marker", "none"]))?;
        Ok(lines.into_iter().next().ok_or("it printed nothing")?)
    }

    /// Waits for each line of the peer, and starts the next phase. The last is that of the updates
    /// if there is no `relist`.
    fn follow(
        &self,
        name: &'static str,
        marker: &str,
        relist: Option<&String>,
        lines: &mut Lines<BufReader<ChildStdout>>,
    ) -> Outcome<Measured> {
        let sync = next(name, lines)?;
        let synced = sync["objects"].as_u64().unwrap_or(0);
        if synced < self.options.objects {
            return Err(format!("synced with {synced} objects").into());
        }
        let written = self.update(self.options.updates, marker)?;
        let updates = next(name, lines)?;
        if updates["lists"] != 0 {
            return Err("it listed again where it should have followed".into());
        }
        let mut measured = Measured {
            name,
            sync,
            updates,
            relist: Value::Null,
            updates_per_second: written["writes"].as_f64().unwrap_or(0.0)
                / written["seconds"].as_f64().unwrap_or(f64::NAN),
        };
        let Some(relist) = relist else {
            return Ok(measured);
        };
        self.line.hold();
        let missed = self.update(self.options.missed, relist);
        self.line.cut();
        missed?;
        let relist = next(name, lines)?;
        if relist["lists"] == 0 {
            return Err("it did not list again".into());
        }
        measured.relist = relist;
        Ok(measured)
    }
}

fn next(name: &str, lines: &mut Lines<BufReader<ChildStdout>>) -> Outcome<Value> {
    let line = lines.next().ok_or("it ended before it was done")??;
    eprintln!("{name}: {line}");
    Ok(serde_json::from_str(&line)?)
}

/// Returns the file of Pods for peers without a generator.
pub(super) fn pods_file(peers: &Peers, objects: u64) -> Outcome<PathBuf> {
    let scratch: &Path = &root().join("target/bench");
    std::fs::create_dir_all(scratch)?;
    let path = scratch.join("pods.json");
    let status = Command::new(peers.driver())
        .args(["print", "--objects", &objects.to_string()])
        .stdout(std::fs::File::create(&path)?)
        .status()?;
    if status.success() {
        Ok(path)
    } else {
        Err(format!("driver print: {status}").into())
    }
}
