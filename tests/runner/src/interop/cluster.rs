//! A kube-controller-manager, a kube-scheduler and kwok for a server, with two nodes that kwok
//! simulates. `tests/interop/kubernetes` and `tests/interop/kwok` have the versions.

use super::kubectl::Shell;
use super::kubelets::Kubelet;
use super::subject::{Running as Server, Subject, Surroundings};
use crate::running::{Running, repeat};
use kubist_test_support::process::{self, Outcome, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The packages of the two programs of Kubernetes.
const PACKAGES: [(&str, &str); 2] = [
    (
        "kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    ),
    ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
];
/// What kwok does with nodes and Pods, below `kustomize/stage` of its module.
const STAGES: [&str; 5] = [
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
];
/// Requests in a second, so that the clients' own limits are not what is measured.
const RATE: [&str; 4] = ["--kube-api-qps", "200", "--kube-api-burst", "400"];
/// Programs without symbols are half as large.
pub(super) const STRIPPED: &str = "-ldflags=-s -w";
/// The time limit for the nodes to become ready, and for the first controllers to have run.
const READY_LIMIT: Duration = Duration::from_secs(60);

/// Builds the three programs into a folder.
pub(super) fn build(programs: &Path) -> Outcome {
    for (name, package) in PACKAGES {
        go_build("kubernetes", package, &programs.join(name))?;
    }
    go_build("kwok", "sigs.k8s.io/kwok/cmd/kwok", &programs.join("kwok"))
}

/// Builds a package of a module below `tests/interop`.
pub(super) fn go_build(module: &str, package: &str, to: &Path) -> Outcome {
    let mut go = Command::new("go");
    go.args(["build", STRIPPED, "-o"]).arg(to).arg(package);
    process::run_with(go.current_dir(root().join("tests/interop").join(module)))
}

/// Returns the folder of a module that a module below `tests/interop` requires, in Go's cache.
pub(super) fn go_module(of: &str, module: &str) -> Outcome<PathBuf> {
    let output = Command::new("go")
        .args(["list", "-m", "-f", "{{.Dir}}", module])
        .current_dir(root().join("tests/interop").join(of))
        .output()?;
    let folder = String::from_utf8(output.stdout)?;
    if folder.trim().is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(PathBuf::from(folder.trim()))
}

/// Who simulates the kubelets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nodes {
    /// kwok: Pods become ready, and nothing runs.
    Simulated,
    /// kwok keeps the nodes, and the caller their Pods.
    Processes,
}

/// A server with its controllers. Dropping it stops all.
pub(super) struct Cluster {
    /// The controllers, with their names. They are dropped before the server.
    controllers: Vec<(&'static str, Running)>,
    pub(super) server: Server,
    /// For the administrator.
    pub(super) kubectl: Shell,
    /// Of all nodes.
    pub(super) kubelet: Kubelet,
}

impl Cluster {
    /// Starts everything in an emptied folder, and waits until the nodes are ready.
    pub(super) fn start(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Self> {
        Self::start_with(subject, Nodes::Simulated, programs, folder)
    }

    /// The same with these nodes.
    pub(super) fn start_with(
        subject: Subject<'_>,
        nodes: Nodes,
        programs: &Path,
        folder: &Path,
    ) -> Outcome<Self> {
        let server = subject.start(Surroundings::Controllers, folder)?;
        let kubectl = Shell::on_path(&server.kubeconfig, folder);
        let authority = write_authority(&kubectl, folder)?;
        let mut manager = Command::new(programs.join("kube-controller-manager"));
        manager
            .arg("--kubeconfig")
            .arg(&server.kubeconfig)
            .arg("--service-account-private-key-file")
            .arg(&server.key)
            .arg("--root-ca-file")
            .arg(authority)
            .arg("--cluster-signing-cert-file")
            .arg(&server.authority.certificate)
            .arg("--cluster-signing-key-file")
            .arg(&server.authority.key)
            .args(["--service-cluster-ip-range", "10.96.0.0/16"])
            .args(["--leader-elect=false", "--secure-port", "0"])
            .args(RATE);
        let mut scheduler = Command::new(programs.join("kube-scheduler"));
        scheduler
            .arg("--kubeconfig")
            .arg(&server.kubeconfig)
            .args(["--leader-elect=false", "--secure-port", "0"])
            .args(RATE);
        let mut kwok = Command::new(programs.join("kwok"));
        kwok.arg("--kubeconfig").arg(&server.kubeconfig).args([
            "--manage-all-nodes",
            "--node-lease-duration-seconds",
            "40",
        ]);
        add_stages(&mut kwok, nodes)?;
        let kubelet = Kubelet::new(folder)?;
        kubelet.configure(&mut kwok);
        let mut controllers = Vec::new();
        for (name, command) in [
            ("kube-controller-manager", manager),
            ("kube-scheduler", scheduler),
            ("kwok", kwok),
        ] {
            let log = folder.join(format!("{name}.log"));
            controllers.push((name, Running::start(command, &log)?));
        }
        let cluster = Self {
            controllers,
            server,
            kubectl,
            kubelet,
        };
        cluster
            .kubectl
            .run(&format!("apply -f {}", manifest("nodes.yaml").display()))?;
        repeat(READY_LIMIT, || cluster.is_ready())?;
        Ok(cluster)
    }

    /// Fails unless the nodes are ready and namespaces get their objects.
    fn is_ready(&self) -> Outcome {
        self.kubectl
            .run("get serviceaccount default --namespace default")?;
        let nodes = self.kubectl.json("get nodes")?;
        let nodes = nodes["items"].as_array().ok_or("no list of nodes")?;
        if nodes.iter().all(is_schedulable) {
            return Ok(());
        }
        Err("a node is not ready".into())
    }

    /// Returns each program with its log lines of level error, without times and processes.
    pub(super) fn errors(&self) -> Outcome<Vec<(&'static str, Vec<String>)>> {
        let read = |(name, running): &(&'static str, Running)| {
            let text = std::fs::read(&running.log)?;
            let text = String::from_utf8_lossy(&text);
            Ok((*name, text.lines().filter_map(error_line).collect()))
        };
        self.controllers.iter().map(read).collect()
    }
}

fn is_schedulable(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    let is_ready = conditions
        .into_iter()
        .flatten()
        .any(|it| it["type"] == "Ready" && it["status"] == "True");
    is_ready && node["spec"]["taints"].as_array().is_none_or(Vec::is_empty)
}

/// Returns the path of a manifest of `tests/interop/controllers`.
pub(super) fn manifest(name: &str) -> PathBuf {
    root().join("tests/interop/controllers").join(name)
}

/// Writes the authority of the server's certificate, from its kubeconfig, to a file.
fn write_authority(kubectl: &Shell, folder: &Path) -> Outcome<PathBuf> {
    let config = kubectl.json("config view --raw --flatten")?;
    let data = config["clusters"][0]["cluster"]["certificate-authority-data"]
        .as_str()
        .ok_or("the kubeconfig has no authority")?;
    let encoded = folder.join("authority.base64");
    std::fs::write(&encoded, data)?;
    let file = encoded.display().to_string();
    let path = folder.join("authority.pem");
    std::fs::write(
        &path,
        process::output("base64", &["--decode", file.as_str()])?,
    )?;
    Ok(path)
}

/// Adds what kwok does.
fn add_stages(kwok: &mut Command, nodes: Nodes) -> Outcome {
    let folder = stages()?;
    for stage in STAGES {
        if nodes == Nodes::Simulated || stage.starts_with("node/") {
            kwok.arg("--config").arg(folder.join(stage));
        }
    }
    if nodes == Nodes::Processes {
        kwok.arg("--config").arg(manifest("no-pods-stage.yaml"));
    }
    Ok(())
}

/// Returns the files of what kwok does where it simulates everything.
pub(crate) fn simulated_stages() -> Outcome<Vec<PathBuf>> {
    let folder = stages()?;
    Ok(STAGES.iter().map(|it| folder.join(it)).collect())
}

fn stages() -> Outcome<PathBuf> {
    Ok(go_module("kwok", "sigs.k8s.io/kwok")?.join("kustomize/stage"))
}

/// Returns the text of a log line of level error, of klog or as JSON.
fn error_line(line: &str) -> Option<String> {
    if line.starts_with('{') {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = format!("{} {}", line["msg"], line["err"]);
        return (line["level"] == "ERROR").then_some(text);
    }
    // `E0102 15:04:05.000000    1234 file.go:12] text`; also `F` for fatal.
    let mut words = line.split_whitespace();
    let header = words.next()?;
    let level = header.chars().next()?;
    if !matches!(level, 'E' | 'F') || header.len() != 5 {
        return None;
    }
    let (place, text) = line.split_once("] ")?;
    let place = place.rsplit(' ').next()?;
    let file = place.split(':').next()?;
    Some(format!("{file}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::error_line;

    #[test]
    fn errors_are_taken_from_both_forms_of_logs() {
        let klog = "E1123 02:08:06.531651   17554 replica_set.go:640] \"Unhandled\" err=\"no\"";
        assert_eq!(
            error_line(klog).as_deref(),
            Some("replica_set.go: \"Unhandled\" err=\"no\"")
        );
        assert_eq!(error_line(&klog.replacen('E', "I", 1)), None);
        let json = r#"{"level":"ERROR","msg":"Failed","err":"no"}"#;
        assert_eq!(error_line(json).as_deref(), Some("\"Failed\" \"no\""));
        assert_eq!(error_line("Error: not a log line"), None);
    }
}
