//! Builds the measured programs, and reads their output.

use clap::Args;
use kubist_test_support::process::{self, Outcome, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The packages of `bench/` that comparisons need.
pub(super) const PACKAGES: [&str; 6] = [
    "driver",
    "kubist-peer",
    "kube-peer",
    "codec",
    "kinds",
    "load",
];

/// Build options.
#[derive(Args)]
pub(super) struct Building {
    /// Use the peers of the last build
    #[arg(long, global = true)]
    built: bool,
}

/// The built programs.
pub(super) struct Peers {
    /// The folder of the Rust ones.
    folder: PathBuf,
    /// client-go, unless Go is missing.
    go: Option<PathBuf>,
}

impl Peers {
    /// Builds these packages, and client-go if there is something to compare.
    pub(super) fn build(building: &Building, packages: &[&str]) -> Outcome<Self> {
        let folder = target()?.join("release");
        if building.built {
            let go = Some(folder.join("go-peer")).filter(|it| it.exists());
            return Ok(Self { folder, go });
        }
        for package in packages {
            build(package)?;
        }
        let go = if packages.contains(&"kubist-peer") {
            build_go(&folder)?
        } else {
            None
        };
        Ok(Self { folder, go })
    }

    /// Returns the program that writes to a server.
    pub(super) fn driver(&self) -> PathBuf {
        self.folder.join("driver")
    }

    /// Returns a command for a Rust peer.
    pub(super) fn rust(&self, name: &str) -> Command {
        Command::new(self.folder.join(name))
    }

    /// Returns the program of client-go, if it was built.
    pub(super) fn go_program(&self) -> Option<&Path> {
        self.go.as_deref()
    }

    /// Returns a command for client-go, if it was built.
    pub(super) fn go(&self) -> Option<Command> {
        self.go.as_ref().map(Command::new)
    }
}

/// Runs a peer and returns the lines of its output.
pub(super) fn lines(command: &mut Command) -> Outcome<Vec<Value>> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let lines = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    eprintln!("{command:?}:\n{text}");
    Ok(lines)
}

/// Returns the target folder of the peers, inside the workspace's.
fn target() -> Outcome<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent);
    Ok(target
        .ok_or("the runner is outside a target folder")?
        .join("bench"))
}

/// Builds a package of `bench/`.
fn build(package: &str) -> Outcome {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--package", package, "--target-dir"])
        .arg(target()?)
        .current_dir(root().join("bench"));
    process::run_with(&mut command)
}

fn build_go(folder: &Path) -> Outcome<Option<PathBuf>> {
    if process::output("go", &["version"]).is_err() {
        eprintln!("go is missing: nothing is compared with client-go");
        return Ok(None);
    }
    let program = folder.join("go-peer");
    let mut command = Command::new("go");
    command
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(root().join("bench/go-peer"));
    process::run_with(&mut command)?;
    Ok(Some(program))
}
