//! Tests the server with client-go's shared informer: the program in `tests/interop/go`.

use super::report::Report;
use super::server::Server;
use kubist_test_support::process::{self, Outcome, root};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Random writes before the informer starts, so that its first list is not empty.
const BEFORE: u32 = 200;
/// Random writes while it runs.
const FOLLOWED: u32 = 2_000;
/// Random writes in a long run.
const FOLLOWED_LONG: u32 = 20_000;

/// Kind, content type and protocol of each run.
const RUNS: [(&str, &str, &str); 5] = [
    ("pods", "protobuf", "h2"),
    ("pods", "protobuf", "http/1.1"),
    ("pods", "json", "h2"),
    ("configmaps", "json", "http/1.1"),
    ("configmaps", "protobuf", "h2"),
];

/// Reports whether Go is installed. Its absence is an error if it is required.
pub(super) fn is_here(required: bool) -> Outcome<bool> {
    if let Ok(output) = Command::new("go").arg("version").output()
        && output.status.success()
    {
        return Ok(true);
    }
    if required {
        return Err("no go on PATH: the informer on client-go cannot be built".into());
    }
    Ok(false)
}

/// Builds the program and makes each run.
pub(super) fn run(long: bool, binary: &Path, scratch: &Path, report: &mut Report) -> Outcome {
    let program = scratch.join("informer");
    let mut build = Command::new("go");
    build.arg("build").arg("-o").arg(&program).arg("./informer");
    process::run_with(build.current_dir(root().join("tests/interop/go")))?;
    let server = Server::start(binary, &scratch.join("go-kubeconfig"), &[])?;
    let (writes, seeds) = if long {
        (FOLLOWED_LONG, 1..=5)
    } else {
        (FOLLOWED, 1..=1)
    };
    let writes = (BEFORE + writes).to_string();
    let before = BEFORE.to_string();
    let mut number = 0;
    for seed in seeds {
        for (resource, content, protocol) in RUNS {
            let name = format!("informer of {resource}, {content}, {protocol}, seed {seed}");
            number += 1;
            let namespace = format!("informer-{number}");
            report.step(&name, || {
                let mut command = Command::new("timeout");
                command
                    .arg("600")
                    .arg(&program)
                    .arg("--kubeconfig")
                    .arg(&server.kubeconfig)
                    .args([
                        "--resource",
                        resource,
                        "--content",
                        content,
                        "--protocol",
                        protocol,
                    ])
                    .args(["--writes", &writes, "--before", &before])
                    .args(["--seed", &seed.to_string()])
                    .args(["--namespace", &namespace]);
                informer(&mut command)
            });
        }
    }
    report.step("SIGTERM ends the server", || server.stop());
    Ok(())
}

fn informer(command: &mut Command) -> Outcome {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line: Value = serde_json::from_str(text.trim()).map_err(|error| {
        format!(
            "{error} in {text:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    if line["ok"] == true && output.status.success() {
        eprintln!(
            "          {} objects, events {}",
            line["objects"], line["events"]
        );
        return Ok(());
    }
    Err(format!("{}", line["error"]).into())
}
