//! What the image of `deploy/Containerfile` has: a static binary, small enough, that serves without
//! rights, without any other file, and without anything to write to.
//!
//! There need not be a container engine: the binary is alone in a folder, which is its root, is
//! mounted read-only, and in which it runs as the image's user. That takes root, and `unshare`.

use super::report::Report;
use crate::running::{Running, free_port, repeat};
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The part's name.
pub(super) const PART: &str = "image";
/// The most bytes of the binary.
const BYTES_MAX: u64 = 40_000_000;
/// The user and the group of the image.
const USER: &str = "65532:65532";
const PATIENCE: Duration = Duration::from_secs(20);
const TARGET: &str = "x86_64-unknown-linux-musl";
/// Makes a folder the root of a program, read-only.
const WITHIN: &str = r#"set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
exec chroot --userspec="$2" "$1" /kubist serve --listen "$3" --kubeconfig """#;

/// Builds the binary, and runs it as a container would.
pub(super) fn run(scratch: &Path, report: &mut Report) {
    let folder = scratch.join("image");
    let binary = folder.join("kubist");
    report.step("a static binary", || build(&folder, &binary));
    report.step("it is small and needs no other file", || check(&binary));
    report.step(
        "it serves without rights and without anything to write to",
        || serve(&folder, scratch),
    );
}

fn build(folder: &Path, binary: &Path) -> Outcome {
    std::fs::create_dir_all(folder)?;
    process::run("rustup", &["target", "add", TARGET])?;
    let script = root().join("deploy/build-static.sh");
    process::run_with(Command::new(script).arg(binary).current_dir(root()))
}

fn check(binary: &Path) -> Outcome {
    let bytes = std::fs::metadata(binary)?.len();
    if bytes > BYTES_MAX {
        return Err(format!("it has {bytes} bytes").into());
    }
    let file = binary.display().to_string();
    let headers = process::output("readelf", &["--program-headers", file.as_str()])?;
    if headers.contains("INTERP") {
        return Err("it needs a dynamic loader".into());
    }
    Ok(())
}

fn serve(folder: &Path, scratch: &Path) -> Outcome {
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", WITHIN, "sh"])
        .arg(folder)
        .args([USER, &address]);
    let mut running = Running::start(command, &scratch.join("image.log"))?;
    running.await_port(port)?;
    let ready = format!("https://{address}/readyz");
    repeat(PATIENCE, || {
        let arguments = ["--insecure", "--silent", "--fail", ready.as_str()];
        let answer = process::output("curl", &arguments)?;
        if answer == "ok" {
            return Ok(());
        }
        Err(format!("it says {answer:?}").into())
    })?;
    running.kill();
    Ok(())
}
