//! A `kubist serve` process: started, awaited, stopped.

use kubist_test_support::process::{self, Outcome};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// The time limit for the server to become ready.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// The time limit for the server to exit after SIGTERM.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// Returns the given binary, or builds the workspace's in release mode.
pub(crate) fn binary(given: Option<&Path>) -> Outcome<PathBuf> {
    if let Some(path) = given {
        return Ok(std::fs::canonicalize(path)?);
    }
    process::run(
        "cargo",
        &[
            "build",
            "--release",
            "--package",
            "kubist",
            "--bin",
            "kubist",
        ],
    )?;
    // This program is in TARGET/debug.
    let own = std::env::current_exe()?;
    let target = own
        .parent()
        .and_then(Path::parent)
        .ok_or("the runner is outside a target folder")?;
    Ok(target.join("release/kubist"))
}

/// A running server. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    ended: Receiver<()>,
    /// The path of its administrator's kubeconfig.
    pub(crate) kubeconfig: PathBuf,
    /// `https://ADDR`.
    pub(crate) url: String,
    /// The start-up time that it reports.
    pub(crate) start: String,
}

impl Server {
    /// Starts one on a free port of loopback and waits until it is ready.
    pub(crate) fn start(binary: &Path, kubeconfig: &Path, extra: &[&str]) -> Outcome<Self> {
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--kubeconfig"])
            .arg(kubeconfig)
            .args(extra)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (ready, first) = sync_channel(1);
        let (end, ended) = sync_channel(1);
        std::thread::spawn(move || {
            let mut line = String::new();
            // The receivers may have been dropped.
            lines.read_line(&mut line).ok();
            ready.send(line).ok();
            lines.read_to_end(&mut Vec::new()).ok();
            end.send(()).ok();
        });
        let mut server = Self {
            child,
            ended,
            kubeconfig: kubeconfig.to_path_buf(),
            url: String::new(),
            start: String::new(),
        };
        let line = first
            .recv_timeout(READY_LIMIT)
            .map_err(|_| format!("the server was not ready in {READY_LIMIT:?}"))?;
        // `ready https://ADDR kubeconfig=FILE in N ms`
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["ready", url, .., "in", milliseconds, "ms"] = words[..] else {
            return Err(format!("the server printed {line:?} instead of its ready line").into());
        };
        url.clone_into(&mut server.url);
        server.start = format!("{milliseconds} ms");
        Ok(server)
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM; fails unless the server exits successfully and in time.
    pub(crate) fn stop(mut self) -> Outcome {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status()?;
        if !asked.success() {
            return Err("the server had ended before it was asked to".into());
        }
        self.ended
            .recv_timeout(STOP_LIMIT)
            .map_err(|_| format!("the server did not end within {STOP_LIMIT:?} of SIGTERM"))?;
        let status = self.child.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the server ended with {status}").into())
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
