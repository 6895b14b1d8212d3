//! Kubernetes' controllers and scheduler, and kwok as all kubelets, for a large cluster.

use super::Options;
use crate::bench::machine;
use crate::interop::cluster;
use crate::running::Running;
use kubist_test_support::process::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Requests in a second, so that the clients' own limits are not what is measured.
const RATE: [&str; 4] = ["--kube-api-qps", "1000", "--kube-api-burst", "2000"];
/// The controllers may have many objects in work; nodes that are slow on a small machine are not
/// taken for lost.
const MANAGER: [&str; 6] = [
    "--concurrent-deployment-syncs",
    "20",
    "--concurrent-replicaset-syncs",
    "20",
    "--node-monitor-grace-period",
    "160s",
];
/// How long a node's lease is valid, in seconds. kwok renews it after a quarter.
const LEASE: &str = "40";

/// Where the programs are.
pub(super) struct Programs {
    manager: PathBuf,
    scheduler: PathBuf,
    kwok: PathBuf,
    stages: Vec<PathBuf>,
}

impl Programs {
    pub(super) fn find(options: &Options) -> Outcome<Self> {
        Ok(Self {
            manager: options.program(None, "kube-controller-manager")?,
            scheduler: options.program(None, "kube-scheduler")?,
            kwok: options.program(None, "kwok")?,
            stages: cluster::simulated_stages()?,
        })
    }
}

/// What the controllers need of a server.
pub(super) struct Credentials {
    /// The path of the administrator's kubeconfig.
    pub(super) kubeconfig: PathBuf,
    /// The key that signs service account tokens.
    pub(super) key: PathBuf,
    /// The authority of the server's own certificate.
    pub(super) root: PathBuf,
    /// The certificate and the key of an authority whose certificates it believes.
    pub(super) authority: (PathBuf, PathBuf),
}

/// Writes the authority that a kubeconfig contains to a file.
pub(super) fn server_authority(kubeconfig: &Path, folder: &Path) -> Outcome<PathBuf> {
    let text = std::fs::read_to_string(kubeconfig)?;
    let mut lines = text.lines().map(str::trim);
    let data = lines.find_map(|it| it.strip_prefix("certificate-authority-data: "));
    let encoded = folder.join("authority.base64");
    std::fs::write(&encoded, data.ok_or("the kubeconfig has no authority")?)?;
    let file = encoded.display().to_string();
    let path = folder.join("authority.pem");
    std::fs::write(&path, process::output("base64", &["--decode", &file])?)?;
    Ok(path)
}

/// The running programs, with their names. Dropping it kills them.
pub(super) struct Controllers(Vec<(&'static str, Running)>);

impl Controllers {
    /// Starts all of them, with logs in a folder.
    pub(super) fn start(
        programs: &Programs,
        credentials: &Credentials,
        folder: &Path,
    ) -> Outcome<Self> {
        let mut manager = Command::new(&programs.manager);
        manager
            .arg("--service-account-private-key-file")
            .arg(&credentials.key)
            .arg("--root-ca-file")
            .arg(&credentials.root)
            .arg("--cluster-signing-cert-file")
            .arg(&credentials.authority.0)
            .arg("--cluster-signing-key-file")
            .arg(&credentials.authority.1)
            .args(["--service-cluster-ip-range", "10.96.0.0/16"])
            .args(["--leader-elect=false", "--secure-port", "0"])
            .args(MANAGER)
            .args(RATE);
        let mut scheduler = Command::new(&programs.scheduler);
        scheduler
            .args(["--leader-elect=false", "--secure-port", "0"])
            .args(RATE);
        let mut kwok = Command::new(&programs.kwok);
        kwok.args(["--manage-all-nodes", "--node-lease-duration-seconds", LEASE])
            .args(["-v", "WARN"]);
        for stage in &programs.stages {
            kwok.arg("--config").arg(stage);
        }
        let mut running = Vec::new();
        for (name, mut command) in [
            ("kube-controller-manager", manager),
            ("kube-scheduler", scheduler),
            ("kwok", kwok),
        ] {
            command.arg("--kubeconfig").arg(&credentials.kubeconfig);
            let log = folder.join(format!("{name}.log"));
            running.push((name, Running::start(command, &log)?));
        }
        Ok(Self(running))
    }

    /// Returns the CPU seconds of each.
    pub(super) fn cpu(&self) -> Vec<(&'static str, f64)> {
        let seconds = |it: &Running| machine::usage(it.id()).0;
        self.0
            .iter()
            .map(|(name, it)| (*name, seconds(it)))
            .collect()
    }
}
