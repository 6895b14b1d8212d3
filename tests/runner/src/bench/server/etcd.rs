//! An etcd for the benchmark, or `kubist etcd` in its place, on loopback, in a folder of its own.

use kubist_test_support::process::{self, Outcome, root};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The environment variable for the binary of etcd 3.6.
const VARIABLE: &str = "KUBIST_ETCD_3_6";
/// The time limit to listen.
const PATIENCE: Duration = Duration::from_secs(30);
/// The size limit of its file, in bytes: above the default of 2 GB, for many objects.
const QUOTA_BYTES: &str = "8000000000";

/// Returns the binary: the given one, the one in the environment, or one that Go builds from
/// upstream's module. Without Go it returns none and reports so on standard error.
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

/// What survives of acknowledged writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// Everything: each write is synced to the disk.
    Synced,
    /// What the system has written to the disk, if the machine fails.
    Unsynced,
    /// Nothing, in memory.
    Nothing,
}

/// A running etcd. Dropping it kills it.
pub(super) struct Etcd {
    child: Child,
    pub(super) url: String,
}

impl Etcd {
    /// Starts an empty etcd in `folder`. Without `fsync` it can lose acknowledged writes when the
    /// machine fails.
    pub(super) fn start(binary: &Path, folder: &Path, fsync: bool) -> Outcome<Self> {
        let keeping = if fsync {
            Keeping::Synced
        } else {
            Keeping::Unsynced
        };
        Self::launch(Command::new(binary), folder, keeping)
    }

    /// Starts an empty `kubist etcd` in `folder`.
    pub(super) fn kubist(binary: &Path, folder: &Path, keeping: Keeping) -> Outcome<Self> {
        let mut command = Command::new(binary);
        command.arg("etcd");
        Self::launch(command, folder, keeping)
    }

    fn launch(mut command: Command, folder: &Path, keeping: Keeping) -> Outcome<Self> {
        let _gone = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder)?;
        let (client, peer) = (free_port()?, free_port()?);
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let log = std::fs::File::create(folder.join("log"))?;
        command
            .args(["--name", "bench", "--log-level", "error"])
            .args(["--listen-client-urls", &url(client)])
            .args(["--advertise-client-urls", &url(client)])
            .args(["--listen-peer-urls", &url(peer)])
            .args(["--initial-advertise-peer-urls", &url(peer)])
            .args(["--initial-cluster", &format!("bench={}", url(peer))])
            .args(["--quota-backend-bytes", QUOTA_BYTES]);
        if keeping != Keeping::Nothing {
            command.arg("--data-dir").arg(folder.join("data"));
        }
        if keeping == Keeping::Unsynced {
            command.arg("--unsafe-no-fsync");
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
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

    /// Returns its process id.
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

/// Returns a port that is free at the moment.
pub(super) fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
