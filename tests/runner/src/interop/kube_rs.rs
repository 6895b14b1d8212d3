//! Tests kube and k8s-openapi with Kubist's crates: the program in `tests/interop/kube`.
//!
//! It has its own workspace and target folder, so that its features affect no other build.

use super::report::Report;
use super::server::Server;
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;

/// The part's name.
pub(super) const PART: &str = "kube-rs";

/// The checks of the program, and their descriptions.
const CHECKS: [(&str, &str); 6] = [
    (
        "k8s-openapi",
        "k8s-openapi's Pod in our client, informer and cache",
    ),
    ("derived", "types that derive kube's Resource in them"),
    ("transport", "our transport under kube's client"),
    ("reflector", "our informer feeds kube's reflectors"),
    ("controller", "our informer feeds kube's controller"),
    (
        "admission",
        "an admission webhook on axum and kube's types is obeyed",
    ),
];

/// Builds the program and runs each check.
pub(super) fn run(binary: &Path, scratch: &Path, report: &mut Report) -> Outcome {
    let target = scratch.join("kube-target");
    let mut build = Command::new("cargo");
    build
        .arg("build")
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(root().join("tests/interop/kube"));
    process::run_with(&mut build)?;
    let program = target.join("debug/kubist-interop-kube");
    let server = Server::start(binary, &scratch.join("kube-kubeconfig"), &[])?;
    for (check, name) in CHECKS {
        report.step(name, || {
            let output = Command::new(&program)
                .arg(&server.kubeconfig)
                .arg(check)
                .output()?;
            if output.status.success() {
                return Ok(());
            }
            Err(String::from_utf8_lossy(&output.stderr).into())
        });
    }
    report.step("SIGTERM ends the server", || server.stop());
    Ok(())
}
