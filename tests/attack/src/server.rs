//! `Server`: a `kubist serve` process: started, awaited, killed on drop.

use crate::Outcome;
use clap::ValueEnum;
use parking_lot::Mutex;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// The time limit for the server to become ready.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// The most panics in a report.
const PANICS_MAX: usize = 5;
/// The most bytes of a line of its log.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Where a server stores its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// In memory
    Memory,
    /// In a folder that is removed at the end
    Redb,
}

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    panics: Arc<Mutex<Vec<String>>>,
    /// The administrator's kubeconfig.
    pub(crate) kubeconfig: PathBuf,
}

impl Server {
    /// Starts a server on a free loopback port and waits until it is ready. It writes into `folder`
    /// only.
    pub(crate) fn start(program: &Path, folder: &Path, engine: Engine) -> Outcome<Self> {
        let kubeconfig = folder.join("kubeconfig");
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--kubeconfig"])
            .arg(&kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if engine == Engine::Redb {
            command.arg("--data-dir").arg(folder.join("data"));
        }
        let child = command.spawn();
        let mut child = child.map_err(|error| format!("{}: {error}", program.display()))?;
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let log = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let panics = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&panics);
        std::thread::spawn(move || follow(log, &seen));
        let (ready, first) = sync_channel(1);
        std::thread::spawn(move || {
            let mut line = String::new();
            // The receiver may have been dropped.
            lines.read_line(&mut line).ok();
            ready.send(line).ok();
            std::io::copy(&mut lines, &mut std::io::sink()).ok();
        });
        let server = Self {
            child,
            panics,
            kubeconfig,
        };
        let line = first.recv_timeout(READY_LIMIT);
        let line = line.map_err(|_| format!("the server was not ready in {READY_LIMIT:?}"))?;
        if line.starts_with("ready ") {
            Ok(server)
        } else {
            Err(format!("the server printed {line:?} instead of its ready line").into())
        }
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns its exit status, if it has exited.
    pub(crate) fn ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }

    /// Returns the panics in its log.
    pub(crate) fn panics(&self) -> Vec<String> {
        self.panics.lock().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads the log to its end and keeps the panics.
fn follow(mut log: impl BufRead, panics: &Mutex<Vec<String>>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = log.by_ref().take(LINE_BYTES_MAX);
        if bounded.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let mut panics = panics.lock();
        if text.contains("panicked") && panics.len() < PANICS_MAX {
            panics.push(text.trim_end().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_found_in_a_log() {
        let log = "all is well\nthread 'x' panicked at y.rs:1:1:\nno\n";
        let panics = Mutex::new(Vec::new());
        follow(log.as_bytes(), &panics);
        assert_eq!(panics.into_inner(), ["thread 'x' panicked at y.rs:1:1:"]);
    }
}
