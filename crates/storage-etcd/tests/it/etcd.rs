//! An etcd process for a test, on loopback and in a temporary directory.
//!
//! `KUBIST_ETCD_3_4` and `KUBIST_ETCD_3_6` name the binaries; the defaults are `/usr/bin/etcd` and
//! the one that `cargo xtask interop` builds. Without a binary the test passes with a message,
//! unless `KUBIST_ETCD_REQUIRED` is set.

use kubist_storage_etcd::{Config, EtcdKv};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

/// Time limit for an etcd to listen.
const PATIENCE: Duration = Duration::from_secs(30);
/// Number of attempts when its ports are taken.
const ATTEMPTS: usize = 5;
/// Pause between two attempts: what took its ports or memory may be gone then.
const PAUSE: Duration = Duration::from_secs(1);
/// The file of its standard error, in its folder.
const ERRORS: &str = "stderr";

/// The release of etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// 3.4, as Debian packages it, whose progress notifications are unreliable.
    Packaged,
    /// 3.6, built from upstream's module.
    Current,
}

impl Release {
    /// Returns the binary; `None`, with a message, if it is missing and not required.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    pub(crate) fn binary(self) -> Option<PathBuf> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop/etcd");
        let (variable, usual) = match self {
            Self::Packaged => ("KUBIST_ETCD_3_4", PathBuf::from("/usr/bin/etcd")),
            Self::Current => ("KUBIST_ETCD_3_6", built),
        };
        let path = std::env::var_os(variable).map_or(usual, PathBuf::from);
        if path.is_file() {
            return Some(path);
        }
        let required = std::env::var_os("KUBIST_ETCD_REQUIRED").is_some();
        assert!(!required, "no etcd at {}", path.display());
        eprintln!("skipped: no etcd at {}; set {variable}", path.display());
        None
    }
}

/// A member of a cluster, usually the only one. Dropping it kills it.
pub(crate) struct Etcd {
    binary: PathBuf,
    name: String,
    cluster: String,
    client: SocketAddr,
    peer: SocketAddr,
    extra: Vec<String>,
    child: Option<Child>,
    folder: TempDir,
}

impl Etcd {
    /// Starts a cluster with one member.
    pub(crate) async fn start(release: Release) -> Option<Self> {
        Self::start_with(release, &[]).await
    }

    /// The same with further arguments, in which `{client}` is the client address.
    pub(crate) async fn start_with(release: Release, extra: &[&str]) -> Option<Self> {
        let binary = release.binary()?;
        let mut said = String::new();
        for _ in 0..ATTEMPTS {
            let mut members = Self::members(&binary, 1, extra);
            let mut etcd = members.pop().unwrap();
            if etcd.run().await {
                return Some(etcd);
            }
            said.push_str(&etcd.said());
            sleep(PAUSE).await;
        }
        panic!("{} does not start; it said:\n{said}", binary.display());
    }

    /// Starts a cluster with this many members.
    pub(crate) async fn start_cluster(release: Release, count: usize) -> Option<Vec<Self>> {
        let binary = release.binary()?;
        let mut members = Self::members(&binary, count, &[]);
        for etcd in &mut members {
            etcd.spawn();
        }
        for etcd in &mut members {
            let listens = etcd.listens().await;
            assert!(listens, "a member does not start: {}", etcd.said());
        }
        Some(members)
    }

    fn members(binary: &Path, count: usize, extra: &[&str]) -> Vec<Self> {
        let addresses = free_addresses(count * 2);
        let name = |at: usize| format!("member-{at}");
        let pairs: Vec<_> = addresses.chunks(2).collect();
        let cluster: Vec<_> = (0..count)
            .map(|at| format!("{}=http://{}", name(at), pairs[at][1]))
            .collect();
        let member = |at: usize| Self {
            binary: binary.to_owned(),
            name: name(at),
            cluster: cluster.join(","),
            client: pairs[at][0],
            peer: pairs[at][1],
            extra: extra.iter().map(|it| (*it).to_owned()).collect(),
            child: None,
            folder: tempfile::tempdir().unwrap(),
        };
        (0..count).map(member).collect()
    }

    /// Starts or restarts it, and waits until it listens.
    pub(crate) async fn run(&mut self) -> bool {
        self.spawn();
        self.listens().await
    }

    fn spawn(&mut self) {
        let (client, peer) = (
            format!("http://{}", self.client),
            format!("http://{}", self.peer),
        );
        let mut command = Command::new(&self.binary);
        command
            .args(["--name", &self.name, "--initial-cluster", &self.cluster])
            .args(["--listen-client-urls", &client])
            .args(["--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer])
            .args(["--initial-advertise-peer-urls", &peer])
            .args(["--logger", "zap", "--log-level", "error", "--data-dir"])
            .arg(self.folder.path().join("data"))
            .args(
                self.extra
                    .iter()
                    .map(|it| it.replace("{client}", &self.client.to_string())),
            )
            .stdout(Stdio::null())
            .stderr(File::create(self.folder.path().join(ERRORS)).unwrap());
        self.child = Some(command.spawn().unwrap());
    }

    /// What it wrote to its standard error since it was started, and how it ended.
    fn said(&mut self) -> String {
        let status = self.child.as_mut().map(|it| it.try_wait().unwrap());
        let errors = std::fs::read(self.folder.path().join(ERRORS)).unwrap_or_default();
        format!("{status:?} {}\n", String::from_utf8_lossy(&errors))
    }

    async fn listens(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let child = self.child.as_mut().unwrap();
            if child.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect(self.client).await.is_ok() {
                return true;
            }
            sleep(Duration::from_millis(20)).await;
        }
        false
    }

    /// Kills it. Its directory and ports stay reserved.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.client
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.client)
    }

    /// An engine on this member.
    pub(crate) fn kv(&self) -> EtcdKv {
        EtcdKv::new(Config::new([self.url()])).unwrap()
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns free addresses.
pub(crate) fn free_addresses(count: usize) -> Vec<SocketAddr> {
    let listeners: Vec<_> = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
        .collect();
    listeners
        .iter()
        .map(|listener| listener.local_addr().unwrap())
        .collect()
}
