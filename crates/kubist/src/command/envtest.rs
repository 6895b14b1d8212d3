//! `kubist envtest`: fills a directory for controller-runtime's envtest, which starts the programs
//! that it finds there.

use super::Outcome;
use clap::Args;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The programs that envtest starts. By these names this program is what they are.
const PROGRAMS: [&str; 2] = ["etcd", "kube-apiserver"];
/// The program that some suites call.
const KUBECTL: &str = "kubectl";
/// The file that tells a directory which this command has filled from others.
const MARKER: &str = ".kubist-envtest";

#[derive(Args, Debug)]
#[command(after_help = "\
Makes DIR with the programs etcd and kube-apiserver, which are this program by other names, and with
kubectl if it is on the PATH. The suites of a project run on them without a change:

  export KUBEBUILDER_ASSETS=$(kubist envtest ./assets)
  go test ./...")]
pub(crate) struct Options {
    /// The directory; created if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Copy this program instead of linking to it
    #[arg(long)]
    copy: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let own = std::env::current_exe()?;
    fs::create_dir_all(&options.dir)
        .map_err(|error| format!("cannot create {}: {error}", options.dir.display()))?;
    let dir = fs::canonicalize(&options.dir)?;
    let marker = dir.join(MARKER);
    let was_filled = marker.is_file();
    for path in PROGRAMS.map(|it| dir.join(it)) {
        check_is_own(&path, was_filled)?;
    }
    fs::write(&marker, "")
        .map_err(|error| format!("cannot write {}: {error}", marker.display()))?;
    for program in PROGRAMS {
        place(&own, &dir.join(program), options.copy)?;
    }
    let own_kubectl = dir.join(KUBECTL);
    match on_path(KUBECTL) {
        // One that somebody put there is theirs.
        _ if !was_filled && own_kubectl.exists() => {}
        Some(kubectl) => place(&kubectl, &own_kubectl, options.copy)?,
        None if own_kubectl.exists() => {}
        None => note("kubectl is not on the PATH: suites that call it need one in this directory")?,
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", dir.display())?;
    Ok(ExitCode::SUCCESS)
}

/// Checks that nothing is at a path, or what this command put there.
fn check_is_own(path: &Path, was_filled: bool) -> Result<(), Box<dyn Error>> {
    let is_there = fs::symlink_metadata(path).is_ok();
    if was_filled || !is_there {
        return Ok(());
    }
    let shown = path.display();
    Err(format!(
        "{shown} exists, and this command did not put it there: remove it, or choose another \
         directory"
    )
    .into())
}

/// Puts a program at a path, in place of what this command put there before.
fn place(program: &Path, path: &Path, copies: bool) -> Result<(), Box<dyn Error>> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if path.is_dir() {
        return Err(format!("{} is a directory", path.display()).into());
    }
    if fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path).map_err(failed)?;
    }
    #[cfg(unix)]
    if !copies {
        return Ok(std::os::unix::fs::symlink(program, path).map_err(failed)?);
    }
    #[cfg(not(unix))]
    let _ = copies;
    fs::copy(program, path).map_err(failed)?;
    Ok(())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&path).map(|dir| dir.join(program));
    let found = found.find(|it| it.is_file())?;
    fs::canonicalize(found).ok()
}

fn note(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stderr().lock(), "kubist: {text}")
}
