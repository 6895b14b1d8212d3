//! `bench informer`: each peer lists all Pods of one server and follows the same number of updates.
//!
//! The peers run one after the other against one server, so that none takes the other's CPU; each
//! has its own updates, ended by a Pod of its own that tells it that all have passed.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use clap::Args;
use serde_json::{Value, json};

use super::machine;
use crate::interop::server::{self, Server};
use crate::process::{Outcome, root};

/// Options of `cargo xtask bench informer`.
#[derive(Args)]
pub(super) struct Options {
    /// Pods on the server
    #[arg(long, default_value_t = 20_000)]
    objects: u64,
    /// Updates that each peer follows
    #[arg(long, default_value_t = 20_000)]
    updates: u64,
    /// Print one JSON object in place of a table
    #[arg(long)]
    json: bool,
    /// Use this server binary in place of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Only the peers whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// A peer: its name, its package, and the flags that choose the way it works.
struct Peer {
    name: &'static str,
    package: &'static str,
    flags: [&'static str; 2],
}

const fn peer(name: &'static str, package: &'static str, flags: [&'static str; 2]) -> Peer {
    Peer {
        name,
        package,
        flags,
    }
}

/// The first of each package is the one that ratios are made of.
const PEERS: [Peer; 6] = [
    peer(
        "kubist encoded, protobuf",
        "kubist-peer",
        ["--form", "encoded"],
    ),
    peer(
        "kubist decoded, protobuf",
        "kubist-peer",
        ["--form", "decoded"],
    ),
    peer(
        "kubist encoded, JSON",
        "kubist-peer",
        ["--form", "encoded-json"],
    ),
    peer(
        "kubist decoded, JSON",
        "kubist-peer",
        ["--form", "decoded-json"],
    ),
    peer("kube paged list, JSON", "kube-peer", ["--list", "paged"]),
    peer(
        "kube streaming list, JSON",
        "kube-peer",
        ["--list", "streaming"],
    ),
];

/// What one peer's two phases gave.
struct Measured {
    name: &'static str,
    sync: Value,
    updates: Value,
    updates_per_second: f64,
}

pub(super) fn run(options: &Options) -> Outcome {
    let binary = server::binary(options.kubist.as_deref())?;
    let driver = super::build("driver")?;
    let scratch = root().join("target/bench");
    std::fs::create_dir_all(&scratch)?;
    let kubeconfig = scratch.join("kubeconfig");
    let server = Server::start(&binary, &kubeconfig, &["--controllers", "none"])?;
    let filled = drive(
        &driver,
        &kubeconfig,
        &["fill", "--objects", &options.objects.to_string()],
    )?;
    let (cpu, rss) = machine::usage(server.id());
    eprintln!(
        "filled in {} s; the server has used {cpu:.1} s of CPU, {} MB",
        filled["seconds"],
        rss / 1024
    );
    let mut measured = Vec::new();
    for (number, peer) in PEERS.iter().enumerate() {
        if options
            .only
            .as_ref()
            .is_some_and(|only| !peer.name.contains(only))
        {
            continue;
        }
        let program = super::build(peer.package)?;
        let marker = format!("marker-{number}");
        measured.push(measure(
            options,
            peer,
            &program,
            &driver,
            &kubeconfig,
            &marker,
        )?);
    }
    let (cpu, rss) = machine::usage(server.id());
    let server_usage = json!({"start": server.start, "cpu_seconds": cpu, "rss_kb": rss});
    server.stop()?;
    if options.json {
        print_json(options, &measured, &server_usage);
    } else {
        print_table(options, &measured, &server_usage);
    }
    Ok(())
}

/// Runs the driver and returns what it prints.
fn drive(driver: &Path, kubeconfig: &Path, arguments: &[&str]) -> Outcome<Value> {
    let output = Command::new(driver)
        .args(arguments)
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .output()?;
    if !output.status.success() {
        return Err(format!("driver: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn measure(
    options: &Options,
    peer: &Peer,
    program: &Path,
    driver: &Path,
    kubeconfig: &Path,
    marker: &str,
) -> Outcome<Measured> {
    let mut child = Command::new(program)
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(peer.flags)
        .args(["--marker", marker])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
    let result = follow(options, driver, kubeconfig, marker, &mut lines);
    if result.is_err() {
        child.kill().ok();
    }
    let status = child.wait()?;
    let (sync, updates, written) = result.map_err(|error| format!("{}: {error}", peer.name))?;
    if !status.success() {
        return Err(format!("{}: {status}", peer.name).into());
    }
    let synced = sync["objects"].as_u64().unwrap_or(0);
    if synced < options.objects {
        return Err(format!("{}: synced with {synced} objects", peer.name).into());
    }
    eprintln!("{}: sync {sync}, updates {updates}", peer.name);
    Ok(Measured {
        name: peer.name,
        sync,
        updates,
        updates_per_second: written["writes"].as_f64().unwrap_or(0.0)
            / written["seconds"].as_f64().unwrap_or(f64::NAN),
    })
}

/// Waits for the first line, makes the updates, waits for the second.
fn follow(
    options: &Options,
    driver: &Path,
    kubeconfig: &Path,
    marker: &str,
    lines: &mut Lines<BufReader<ChildStdout>>,
) -> Outcome<(Value, Value, Value)> {
    let sync = next(lines)?;
    let objects = options.objects.to_string();
    let updates = options.updates.to_string();
    let arguments = [
        "update",
        "--objects",
        &objects,
        "--updates",
        &updates,
        "--marker",
        marker,
    ];
    let written = drive(driver, kubeconfig, &arguments)?;
    Ok((sync, next(lines)?, written))
}

fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> Outcome<Value> {
    let line = lines.next().ok_or("it ended before it was done")??;
    Ok(serde_json::from_str(&line)?)
}

impl Measured {
    fn number(&self, phase: &str, key: &str) -> f64 {
        let phase = if phase == "sync" {
            &self.sync
        } else {
            &self.updates
        };
        phase[key].as_f64().unwrap_or(f64::NAN)
    }

    fn bytes_per_object(&self) -> f64 {
        self.number("sync", "rss_growth_kb") * 1024.0 / self.number("sync", "objects")
    }
}

/// Ours over kube's, for each pair of forms that is there: sync CPU, RSS, peak, CPU of updates.
fn ratios(measured: &[Measured]) -> Vec<Value> {
    let kube = |it: &&Measured| it.name.starts_with("kube ");
    let Some(theirs) = measured.iter().find(kube) else {
        return Vec::new();
    };
    let ratio = |ours: &Measured| {
        let of = |phase: &str, key: &str| ours.number(phase, key) / theirs.number(phase, key);
        json!({
            "ours": ours.name,
            "theirs": theirs.name,
            "sync_cpu": of("sync", "cpu_seconds"),
            "sync_wall": of("sync", "wall_seconds"),
            "rss_growth": of("sync", "rss_growth_kb"),
            "peak": of("sync", "peak_kb"),
            "updates_cpu": of("updates", "cpu_seconds"),
        })
    };
    measured
        .iter()
        .filter(|it| it.name.starts_with("kubist"))
        .map(ratio)
        .collect()
}

fn print_json(options: &Options, measured: &[Measured], server: &Value) {
    let runs: Vec<Value> = measured
        .iter()
        .map(|it| {
            json!({
                "peer": it.name, "sync": it.sync, "updates": it.updates,
                "bytes_per_object": it.bytes_per_object(),
                "updates_per_second": it.updates_per_second,
            })
        })
        .collect();
    let all = json!({
        "machine": machine::describe(), "objects": options.objects, "updates": options.updates,
        "server": server, "runs": runs, "ratios": ratios(measured),
    });
    println!("{all}");
}

fn print_table(options: &Options, measured: &[Measured], server: &Value) {
    println!("machine: {}", machine::describe());
    println!("server: {server}");
    println!(
        "{} Pods, then {} updates\n",
        options.objects, options.updates
    );
    println!(
        "{:<28}{:>9}{:>9}{:>9}{:>9}{:>11}{:>12}{:>9}",
        "", "sync s", "CPU s", "RSS MB", "peak MB", "bytes/Pod", "updates CPU", "RSS MB"
    );
    for it in measured {
        println!(
            "{:<28}{:>9.2}{:>9.2}{:>9.0}{:>9.0}{:>11.0}{:>12.2}{:>9.0}",
            it.name,
            it.number("sync", "wall_seconds"),
            it.number("sync", "cpu_seconds"),
            it.number("sync", "rss_kb") / 1024.0,
            it.number("sync", "peak_kb") / 1024.0,
            it.bytes_per_object(),
            it.number("updates", "cpu_seconds"),
            it.number("updates", "rss_kb") / 1024.0,
        );
    }
    println!();
    for ratio in ratios(measured) {
        let of = |key: &str| ratio[key].as_f64().unwrap_or(f64::NAN);
        println!(
            "{} / {}: sync CPU 1/{:.1}, RSS growth 1/{:.1}, peak 1/{:.1}, updates CPU 1/{:.1}",
            ratio["ours"].as_str().unwrap_or_default(),
            ratio["theirs"].as_str().unwrap_or_default(),
            1.0 / of("sync_cpu"),
            1.0 / of("rss_growth"),
            1.0 / of("peak"),
            1.0 / of("updates_cpu"),
        );
    }
}
