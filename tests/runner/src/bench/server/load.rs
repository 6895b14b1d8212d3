//! Runs the load program, `bench/load`.

use super::etcd::Etcd;
use super::subject::Subject;
use crate::bench::machine;
use crate::bench::peers::{self, Peers};
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The list cases: names and flags.
const LISTS: [(&str, &[&str]); 4] = [
    (
        "protobuf",
        &["--path", "/api/v1/pods", "--protobuf", "--times", "10"],
    ),
    ("JSON", &["--path", "/api/v1/pods", "--times", "3"]),
    (
        "protobuf, pages of 500",
        &["--path", "/api/v1/pods", "--protobuf", "--limit", "500"],
    ),
    (
        "protobuf, one label of many",
        &[
            "--path",
            "/api/v1/pods?labelSelector=app.kubernetes.io/name%3Dbackend-7",
            "--protobuf",
            "--times",
            "10",
        ],
    ),
];

/// The load program, and the driver.
pub(in crate::bench) struct Load {
    load: PathBuf,
    driver: PathBuf,
}

/// A watch case.
pub(super) struct Watching {
    pub(super) watchers: u32,
    /// Updates a second; 0 for no pause.
    pub(super) rate: f64,
    pub(super) events: f64,
    /// Whether each watcher has a connection of its own.
    pub(super) apart: bool,
}

impl Load {
    pub(in crate::bench) fn of(peers: &Peers) -> Self {
        Self {
            load: PathBuf::from(peers.rust("load").get_program()),
            driver: peers.driver(),
        }
    }

    pub(super) fn write(&self, at: &Subject, clients: u32, seconds: u32) -> Outcome<Vec<Value>> {
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        let flags = ["write", "--clients", &clients, "--seconds", &seconds];
        self.run(at, &flags)
    }

    /// The same on etcd itself.
    pub(super) fn put(
        &self,
        etcd: &Etcd,
        clients: u32,
        seconds: u32,
        bytes: u64,
    ) -> Outcome<Vec<Value>> {
        peers::lines(
            Command::new(&self.load)
                .args(["kv", "--etcd", &etcd.url])
                .args(["--clients", &clients.to_string()])
                .args(["--seconds", &seconds.to_string()])
                .args(["--bytes", &bytes.to_string()])
                .args(["--pid", &etcd.id().to_string()])
                .stdin(Stdio::null()),
        )
    }

    /// Applies, creates and updates; only creates and updates if `plain`.
    pub(super) fn applies(
        &self,
        at: &Subject,
        seconds: u32,
        round: u32,
        plain: bool,
    ) -> Outcome<Vec<Value>> {
        let (seconds, round) = (seconds.to_string(), round.to_string());
        let mut flags = vec!["apply", "--seconds", &seconds, "--round", &round];
        if plain {
            flags.push("--plain");
        }
        self.run(at, &flags)
    }

    /// Creates, updates and reads custom resources of the definitions in a file.
    pub(super) fn customs(
        &self,
        at: &Subject,
        definitions: &Path,
        seconds: u32,
        round: u32,
    ) -> Outcome<Vec<Value>> {
        let definitions = definitions.display().to_string();
        let (seconds, round) = (seconds.to_string(), round.to_string());
        let flags = ["custom", "--definitions", &definitions];
        let numbers = ["--seconds", &seconds, "--round", &round];
        self.run(at, &[&flags[..], &numbers].concat())
    }

    /// Creates and reads objects as a service account, under this many roles, a quota and a policy.
    pub(super) fn access(&self, at: &Subject, seconds: u32, roles: u32) -> Outcome<Vec<Value>> {
        let (seconds, roles) = (seconds.to_string(), roles.to_string());
        let flags = ["access", "--seconds", &seconds, "--roles", &roles];
        self.run(at, &flags)
    }

    /// Creates this many of each of them, to be listed.
    pub(super) fn fill_customs(&self, at: &Subject, definitions: &Path, count: u32) -> Outcome {
        let (definitions, count) = (definitions.display().to_string(), count.to_string());
        let flags = ["custom", "--definitions", &definitions, "--fill", &count];
        self.run(at, &flags).map(drop)
    }

    /// Lists one collection in JSON.
    pub(super) fn list_at(&self, at: &Subject, case: &str, path: &str) -> Outcome<Vec<Value>> {
        self.list(at, &[(case, &["--path", path, "--times", "5"])])
    }

    /// Lists all Pods, in protobuf and in JSON.
    pub(super) fn whole_lists(&self, at: &Subject) -> Outcome<Vec<Value>> {
        self.list(at, &LISTS[..2])
    }

    pub(super) fn lists(&self, at: &Subject) -> Outcome<Vec<Value>> {
        self.list(at, &LISTS)
    }

    fn list(&self, at: &Subject, cases: &[(&str, &[&str])]) -> Outcome<Vec<Value>> {
        let mut lines = Vec::new();
        for &(case, flags) in cases {
            lines.extend(self.run(at, &[&["list", "--case", case], flags].concat())?);
        }
        Ok(lines)
    }

    pub(super) fn watch(&self, at: &Subject, case: &Watching) -> Outcome<Vec<Value>> {
        let numbers = [
            case.watchers.to_string(),
            case.rate.to_string(),
            case.events.to_string(),
        ];
        let [watchers, rate, events] = &numbers;
        let mut flags = vec!["watch", "--watchers", watchers, "--rate", rate];
        flags.extend(["--events", events]);
        if case.apart {
            flags.push("--apart");
        }
        self.run(at, &flags)
    }

    pub(super) fn grow(&self, at: &Subject, steps: &[u64], limit: Duration) -> Outcome<Vec<Value>> {
        let steps: Vec<String> = steps.iter().map(u64::to_string).collect();
        let (steps, seconds) = (steps.join(","), limit.as_secs().to_string());
        self.run(at, &["grow", "--steps", &steps, "--seconds-max", &seconds])
    }

    /// Renews leases beside Pods and watches, as the flags say.
    pub(super) fn scale(&self, at: &Subject, flags: &[String]) -> Outcome<Vec<Value>> {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.run(at, &[&["scale"], &flags[..]].concat())
    }

    /// Fills a server with Pods, and measures its memory.
    pub(super) fn fill(&self, at: &Subject, objects: u64) -> Outcome<Value> {
        let filled = self.drive(at, "fill", objects)?;
        Ok(json!({
            "objects": objects,
            "rss_kb": machine::usage(at.id()).1,
            "seconds": filled.first().map(|line| line["seconds"].clone()),
        }))
    }

    /// Removes the managed fields of those Pods.
    pub(super) fn reset(&self, at: &Subject, objects: u64) -> Outcome {
        self.drive(at, "reset", objects).map(drop)
    }

    fn drive(&self, at: &Subject, command: &str, objects: u64) -> Outcome<Vec<Value>> {
        peers::lines(
            Command::new(&self.driver)
                .args([command, "--objects", &objects.to_string()])
                .arg("--kubeconfig")
                .arg(&at.kubeconfig)
                .stdin(Stdio::null()),
        )
    }

    /// Waits until a server answers.
    pub(super) fn ready(&self, kubeconfig: &Path) -> Outcome {
        let mut load = Command::new(&self.load);
        load.arg("ready").arg("--kubeconfig").arg(kubeconfig);
        peers::lines(load.stdin(Stdio::null())).map(drop)
    }

    /// Writes a new private key to a file.
    pub(super) fn key(&self, file: &Path) -> Outcome {
        let made = Command::new(&self.load).arg("key").output()?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned().into());
        }
        Ok(std::fs::write(file, made.stdout)?)
    }

    /// Starts a server that keeps nothing, and returns it with its port.
    pub(super) fn floor(&self) -> Outcome<(Child, String)> {
        let mut load = Command::new(&self.load);
        load.arg("floor")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = load.spawn()?;
        let output = child.stdout.take().ok_or("its output is piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let line: Value = serde_json::from_str(&line)?;
        Ok((child, line["port"].to_string()))
    }

    fn run(&self, at: &Subject, flags: &[&str]) -> Outcome<Vec<Value>> {
        let mut load = Command::new(&self.load);
        load.args(flags)
            .args(["--pid", &at.id().to_string()])
            .arg("--kubeconfig")
            .arg(&at.kubeconfig)
            .stdin(Stdio::null());
        if let Some(beside) = at.beside() {
            load.args(["--beside", &beside.to_string()]);
        }
        peers::lines(&mut load)
    }
}
