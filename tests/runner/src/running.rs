//! Child processes that write to log files and are killed on drop.

#![expect(
    clippy::disallowed_methods,
    reason = "it waits for programs by the clock of the machine"
)]

use kubist_test_support::process::Outcome;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit for a program to become ready.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);

/// A running program.
pub(crate) struct Running {
    child: Child,
    /// Where its output is.
    pub(crate) log: PathBuf,
}

impl Running {
    /// Starts a program whose output goes to a file.
    pub(crate) fn start(mut command: Command, log: &Path) -> Outcome<Self> {
        let file = std::fs::File::create(log)?;
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        Ok(Self {
            child,
            log: log.to_path_buf(),
        })
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it listens on a port of loopback.
    pub(crate) fn await_port(&mut self, port: u16) -> Outcome {
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let log = self.log.display();
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("it ended with {status}; see {log}").into());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("nothing listens on port {port}; see {log}").into());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Kills it, and waits until it has ended.
    pub(crate) fn kill(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Repeats an attempt until it succeeds; after the time limit returns its last error.
pub(crate) fn repeat(limit: Duration, mut attempt: impl FnMut() -> Outcome) -> Outcome {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(_) if start.elapsed() < limit => std::thread::sleep(PAUSE),
            end => return end,
        }
    }
}

/// Returns a port that is free at the moment.
pub(crate) fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
