//! An etcd of the benchmark's own, on loopback, in a folder of its own.

use kubist_test_support::process::{self, Outcome, root};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Names the binary of etcd 3.6.
const VARIABLE: &str = "KUBIST_ETCD_3_6";
/// How long it may take to listen.
const PATIENCE: Duration = Duration::from_secs(30);
/// How large its file may become, in bytes: more than the default of 2 GB, for many objects.
const QUOTA_BYTES: &str = "8000000000";

/// The binary: the one given, the one that the environment names, or built by Go from upstream's
/// module. None, said on standard error, where there is none and no Go.
pub(super) fn binary(given: Option<&Path>) -> Outcome<Option<PathBuf>> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    if let Some(path) = given.map(Path::to_path_buf).or(named) {
        return Ok(Some(std::fs::canonicalize(&path).map_err(|error| {
            format!("no etcd at {}: {error}", path.display())
        })?));
    }
    let built = root().join("target/bench/etcd");
    if built.is_file() {
        return Ok(Some(built));
    }
    if process::output("go", &["version"]).is_err() {
        eprintln!("neither etcd nor go: nothing is measured on etcd; set {VARIABLE}");
        return Ok(None);
    }
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&built).arg("./server");
    process::run_with(go.current_dir(root().join("tests/interop/etcd")))?;
    Ok(Some(built))
}

/// A running etcd. Dropping it kills it.
pub(super) struct Etcd {
    child: Child,
    pub(super) url: String,
}

impl Etcd {
    /// Starts an empty one in `folder`, which it gets for itself. Without `fsync` it loses what
    /// was acknowledged when the machine fails.
    pub(super) fn start(binary: &Path, folder: &Path, fsync: bool) -> Outcome<Self> {
        let _gone = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder)?;
        let (client, peer) = (free_port()?, free_port()?);
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let log = std::fs::File::create(folder.join("log"))?;
        let mut command = Command::new(binary);
        command
            .args(["--name", "bench", "--log-level", "error"])
            .arg("--data-dir")
            .arg(folder.join("data"))
            .args(["--listen-client-urls", &url(client)])
            .args(["--advertise-client-urls", &url(client)])
            .args(["--listen-peer-urls", &url(peer)])
            .args(["--initial-advertise-peer-urls", &url(peer)])
            .args(["--initial-cluster", &format!("bench={}", url(peer))])
            .args(["--quota-backend-bytes", QUOTA_BYTES]);
        if !fsync {
            command.arg("--unsafe-no-fsync");
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let etcd = Self {
            child,
            url: url(client),
        };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, client)).is_err() {
            if start.elapsed() > PATIENCE {
                let log = folder.join("log");
                return Err(format!("etcd does not listen; see {}", log.display()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(etcd)
    }

    /// Its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A port that nobody listens on at the moment.
pub(super) fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
