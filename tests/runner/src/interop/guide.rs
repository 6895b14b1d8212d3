//! The session on the guide's page for administrators, as it is written there.
//!
//! The `sh` blocks of the page are one script. A line that begins with `! ` has to fail.

use super::report::Report;
use crate::running::free_port;
use kubist_test_support::process::{Outcome, root};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// The part's name.
pub(super) const PART: &str = "guide";
const PAGE: &str = "docs/guide/10-administering.md";
/// The address in the page; here, a free port takes its place.
const ADDRESS: &str = "127.0.0.1:6543";
/// The most characters of the output that are shown.
const SHOWN_MAX: usize = 500;
/// What precedes the blocks: a failure ends the session, and the server with it.
const HEAD: &str = "set -euo pipefail\nset -m\n\
                    trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR\n\
                    trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n";

/// Runs the session with this server.
pub(super) fn run(binary: &Path, scratch: &Path, report: &mut Report) -> Outcome {
    let folder = scratch.join("guide");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("bin"))?;
    symlink(binary, folder.join("bin/kubist"))?;
    let page = fs::read_to_string(root().join(PAGE))?;
    let here = format!("127.0.0.1:{}", free_port()?);
    let script = script(&page).replace(ADDRESS, &here);
    report.step("the session of an administrator", || {
        session(&folder, &script)
    });
    Ok(())
}

fn session(folder: &Path, script: &str) -> Outcome {
    let (path, log) = (folder.join("session.sh"), folder.join("session.log"));
    fs::write(&path, script)?;
    let output = fs::File::create(&log)?;
    let mut paths = vec![folder.join("bin")];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    paths.extend(std::env::split_paths(&inherited));
    let status = Command::new("bash")
        .arg(&path)
        .env("PATH", std::env::join_paths(paths)?)
        .env_remove("KUBECONFIG")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .status()?;
    if status.success() {
        return Ok(());
    }
    let said = fs::read_to_string(&log)?;
    let from = said.char_indices().rev().nth(SHOWN_MAX);
    Err(said[from.map_or(0, |(at, _)| at)..].into())
}

/// Returns the blocks as a script.
fn script(page: &str) -> String {
    let mut script = vec![HEAD.to_owned()];
    let mut is_inside = false;
    for line in page.lines() {
        match line {
            "```sh" => is_inside = true,
            "```" => is_inside = false,
            line if is_inside => script.push(match line.strip_prefix("! ") {
                // The shell does not care whether a negated command fails.
                Some(command) => format!(
                    "if {command}; then echo 'it did not fail: {command}' >&2; exit 1; fi\n"
                ),
                None => format!("{line}\n"),
            }),
            _ => {}
        }
    }
    script.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_one_script_in_which_some_commands_must_fail() {
        let script = script("# A\n```sh\na\n! b c\n```\ntext\n```text\nd\n```\n");
        let commands = script.strip_prefix(HEAD).expect("it begins so");
        assert_eq!(
            commands,
            "a\nif b c; then echo 'it did not fail: b c' >&2; exit 1; fi\n"
        );
    }
}
