//! Finds kubectl in several versions, and runs it.

use super::server::Server;
use kubist_test_support::process::Outcome;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// The minor versions of Kubernetes 1 to test with.
const MINORS: [u32; 7] = [27, 28, 29, 30, 31, 32, 33];
/// The one that runs all steps, and is required if any is.
const FULL: u32 = 33;
/// The time limit for one call, in seconds.
const SECONDS_MAX: &str = "120";
/// The most unread lines of a watch.
const LINES_MAX: usize = 1_000;

/// A kubectl on this machine.
pub(super) struct Kubectl {
    minor: u32,
    path: PathBuf,
}

/// Returns all versions that are installed: `kubectl.1.N` in `KUBIST_KUBECTL_DIR` or beside the
/// `kubectl` on PATH, and that one. The second list has the missing ones. The version that runs all
/// steps may be required.
pub(super) fn find(required: bool) -> Outcome<(Vec<Kubectl>, Vec<String>)> {
    let on_path = std::env::var_os("PATH").and_then(|paths| {
        std::env::split_paths(&paths)
            .map(|it| it.join("kubectl"))
            .find(|path| path.is_file())
    });
    let beside = on_path
        .as_ref()
        .and_then(|path| std::fs::canonicalize(path).ok())
        .and_then(|path| path.parent().map(Path::to_path_buf));
    let named = std::env::var_os("KUBIST_KUBECTL_DIR").map(PathBuf::from);
    let folders: Vec<PathBuf> = named.into_iter().chain(beside).collect();
    find_in(&folders, on_path.as_deref(), required)
}

fn find_in(
    folders: &[PathBuf],
    on_path: Option<&Path>,
    required: bool,
) -> Outcome<(Vec<Kubectl>, Vec<String>)> {
    let minor_on_path = on_path.map(minor_of).transpose()?;
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for minor in MINORS.into_iter().rev() {
        let name = format!("kubectl.1.{minor}");
        let path = folders
            .iter()
            .map(|it| it.join(&name))
            .find(|path| path.is_file());
        if let Some(path) = path {
            let says = minor_of(&path)?;
            if says != minor {
                return Err(format!("{} is kubectl 1.{says}", path.display()).into());
            }
            found.push(Kubectl { minor, path });
        } else if let Some(path) = on_path.filter(|_| minor_on_path == Some(minor)) {
            let path = path.to_path_buf();
            found.push(Kubectl { minor, path });
        } else {
            missing.push(format!("kubectl 1.{minor}"));
        }
    }
    if required && !found.iter().any(Kubectl::full) {
        return Err(format!(
            "no kubectl 1.{FULL}: it is looked for on PATH, and as kubectl.1.{FULL} beside that or \
             in KUBIST_KUBECTL_DIR"
        )
        .into());
    }
    Ok((found, missing))
}

/// Returns the minor version that a kubectl reports.
fn minor_of(path: &Path) -> Outcome<u32> {
    let output = Command::new(path)
        .args(["version", "--client", "-o", "json"])
        .output()
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let version: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{} version: {error}", path.display()))?;
    let minor = version["clientVersion"]["minor"]
        .as_str()
        .unwrap_or_default();
    let digits = minor.trim_end_matches(|it: char| !it.is_ascii_digit());
    Ok(digits
        .parse()
        .map_err(|_| format!("{}: its version is {version}", path.display()))?)
}

impl Kubectl {
    /// `1.33`.
    pub(super) fn version(&self) -> String {
        format!("1.{}", self.minor)
    }

    /// Whether it runs every step.
    pub(super) fn full(&self) -> bool {
        self.minor == FULL
    }

    /// Returns a shell for a server, with a home folder of its own.
    pub(super) fn shell(&self, server: &Server, home: &Path) -> Shell {
        Shell {
            path: self.path.clone(),
            kubeconfig: server.kubeconfig.clone(),
            home: home.to_path_buf(),
        }
    }
}

/// Runs one kubectl against one server.
pub(super) struct Shell {
    path: PathBuf,
    kubeconfig: PathBuf,
    /// Caches and scratch files of this run.
    pub(super) home: PathBuf,
}

impl Shell {
    /// Returns a shell for the `kubectl` on PATH.
    pub(super) fn on_path(kubeconfig: &Path, home: &Path) -> Self {
        Self {
            path: PathBuf::from("kubectl"),
            kubeconfig: kubeconfig.to_path_buf(),
            home: home.to_path_buf(),
        }
    }

    /// Runs kubectl with these words, split at spaces, and returns its output; fails when kubectl
    /// fails.
    pub(super) fn run(&self, words: &str) -> Outcome<String> {
        self.run_arguments(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// Does what [`Self::run`] does, for arguments with spaces.
    pub(super) fn run_arguments(&self, arguments: &[&str]) -> Outcome<String> {
        let output = self.command(arguments).output()?;
        result(&output, arguments)
    }

    /// Does what [`Self::run`] does, with this standard input, which must be read.
    pub(super) fn run_with_input(&self, words: &str, input: &[u8]) -> Outcome<String> {
        let arguments: Vec<&str> = words.split_whitespace().collect();
        let file = self.home.join("input");
        std::fs::write(&file, input)?;
        let mut command = self.command(&arguments);
        let output = command.stdin(std::fs::File::open(file)?).output()?;
        result(&output, &arguments)
    }

    /// Fails unless kubectl fails with this message.
    pub(super) fn refuse(&self, words: &str, message: &str) -> Outcome {
        match self.run(words) {
            Ok(printed) => Err(format!("kubectl {words} succeeded: {printed}").into()),
            Err(error) if error.to_string().contains(message) => Ok(()),
            Err(error) => Err(format!("expected {message:?}, got: {error}").into()),
        }
    }

    /// Fails unless the output contains all of these.
    pub(super) fn print(&self, words: &str, expected: &[&str]) -> Outcome {
        let printed = self.run(words)?;
        for text in expected {
            if !printed.contains(text) {
                return Err(format!("kubectl {words} lacks {text:?}:\n{printed}").into());
            }
        }
        Ok(())
    }

    /// Fails unless the output is exactly this.
    pub(super) fn print_exactly(&self, words: &str, expected: &str) -> Outcome {
        let printed = self.run(words)?;
        if printed.trim_end() == expected {
            return Ok(());
        }
        Err(format!("kubectl {words}: expected {expected:?}, got {printed:?}").into())
    }

    /// Returns the output of `kubectl get ... -o json`.
    pub(super) fn json(&self, words: &str) -> Outcome<Value> {
        Ok(serde_json::from_str(
            &self.run(&format!("{words} -o json"))?,
        )?)
    }

    /// Writes a scratch file and returns its path.
    pub(super) fn file(&self, name: &str, text: &str) -> Outcome<String> {
        let path = self.home.join(name);
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Starts a command that runs until it is dropped.
    pub(super) fn follow(&self, words: &str) -> Outcome<Followed> {
        let mut command = self.command(&words.split_whitespace().collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (send, receive) = sync_channel(LINES_MAX);
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Followed {
            child,
            lines: receive,
            seen: Vec::new(),
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command
            .args(["--foreground", SECONDS_MAX])
            .arg(&self.path)
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", &self.home)
            .env(
                "KUBE_EDITOR",
                format!("sh {}", self.home.join("editor.sh").display()),
            )
            .env_remove("KUBERNETES_SERVICE_HOST")
            .current_dir(&self.home)
            .stdin(Stdio::null());
        command
    }
}

/// Returns the output of a command that succeeded.
fn result(output: &Output, arguments: &[&str]) -> Outcome<String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let status = output.status;
    let arguments = arguments.join(" ");
    Err(format!("kubectl {arguments}: {status}: {}", message.trim()).into())
}

/// The output of a running command.
pub(super) struct Followed {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Followed {
    /// Waits for a line with these words.
    pub(super) fn until(&mut self, words: &[&str]) -> Outcome {
        loop {
            let Ok(line) = self.lines.recv_timeout(Duration::from_secs(15)) else {
                return Err(format!("no line with {words:?}; saw {:?}", self.seen).into());
            };
            let hit = words
                .iter()
                .all(|word| line.split_whitespace().any(|it| it == *word));
            self.seen.push(line);
            if hit {
                return Ok(());
            }
        }
    }
}

impl Followed {
    /// Returns the last line that was waited for.
    pub(super) fn last(&self) -> &str {
        self.seen.last().map_or("", String::as_str)
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        // `timeout` passes the signal on to kubectl; a plain kill would leave kubectl behind.
        Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()
            .ok();
        self.child.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_that_runs_all_steps_is_required() {
        let nowhere = [PathBuf::from("/nonexistent")];
        let error = find_in(&nowhere, None, true).err().expect("an error");
        assert!(error.to_string().starts_with("no kubectl 1.33:"), "{error}");
        let (found, missing) = find_in(&nowhere, None, false).expect("nothing is required");
        assert_eq!((found.len(), missing.len()), (0, MINORS.len()));
    }
}
