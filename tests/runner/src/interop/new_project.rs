//! Builds and tests what `kubist new` makes, without the network, as its user would; and runs it on
//! a kube-apiserver with the rights that its manifests give it.
//!
//! It is outside of the workspace, with the workspace's lock file: nothing is downloaded that this
//! build has not.

use super::kubectl::Shell;
use super::report::Report;
use crate::running::{Running, repeat};
use crate::upstream::{Programs, Upstream};
use kubist_test_support::process::{self, Outcome, root};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The part's name.
pub(super) const PART: &str = "new";
/// That of the part with a kube-apiserver.
pub(super) const ROLES: &str = "new-roles";

/// The administrator's token there.
const TOKEN: &str = "administrator";
/// The time limit of what the operator does.
const PATIENCE: Duration = Duration::from_secs(30);

/// The project: a name of several words, and a group that is not the default.
const NAME: &str = "cache-cluster-operator";

/// Returns cargo in a project, with a target folder that the parts share.
fn cargo(project: &Path, scratch: &Path, arguments: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .args(arguments)
        .env("CARGO_TARGET_DIR", scratch.join("new-target"))
        .current_dir(project);
    cargo
}

/// Makes a project, then runs each step of its first hour.
pub(super) fn run(binary: &Path, scratch: &Path, report: &mut Report) {
    let folder = scratch.join("new");
    let project = folder.join(NAME);
    let cargo = |arguments: &[&str]| cargo(&project, scratch, arguments);
    report.step("kubist new", || make(binary, &folder));
    report.step("cargo fmt --check", || {
        process::run_with(&mut cargo(&["fmt", "--check"]))
    });
    report.step("cargo test", || {
        process::run_with(&mut cargo(&["test", "--offline", "--quiet"]))
    });
    report.step("its manifests are YAML of all that it needs", || {
        let arguments = ["run", "--offline", "--quiet", "--", "manifests", "image:1"];
        let output = cargo(&arguments).output()?;
        let text = String::from_utf8(output.stdout)?;
        let kinds: Vec<&str> = text.lines().filter(|it| it.starts_with("kind: ")).collect();
        if output.status.success() && kinds.len() == 8 {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{kinds:?}: {errors}").into())
    });
}

fn make(binary: &Path, folder: &Path) -> Outcome {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    let mut new = Command::new(binary);
    new.current_dir(folder).args(["new", NAME]);
    new.args(["--group", "cache.example.org", "--path"]);
    process::run_with(new.arg(root()))?;
    let project = folder.join(NAME);
    std::fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock"))?;
    // It is inside of this workspace's folder, and no member.
    let manifest = project.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest)? + "\n[workspace]\n";
    Ok(std::fs::write(manifest, text)?)
}

/// Makes a project, and runs it on a kube-apiserver as its own service account.
pub(super) fn run_with_roles(
    binary: &Path,
    programs: Programs<'_>,
    scratch: &Path,
    report: &mut Report,
) -> Outcome {
    let folder = scratch.join("new-roles");
    make(binary, &folder)?;
    process::run_with(&mut cargo(
        &folder.join(NAME),
        scratch,
        &["build", "--offline"],
    ))?;
    let program = scratch.join("new-target/debug").join(NAME);
    let upstream = Upstream::start(programs, &folder, TOKEN, &["--authorization-mode", "RBAC"])?;
    let kubeconfig = folder.join("kubeconfig");
    upstream.write_kubeconfig(TOKEN, &kubeconfig)?;
    let kubectl = Shell::on_path(&kubeconfig, &folder);
    report.step("a kube-apiserver accepts the manifests", || {
        let manifests = Command::new(&program)
            .args(["manifests", "image:1"])
            .output()?;
        let manifests = String::from_utf8(manifests.stdout)?;
        let file = kubectl.file("manifests.yaml", &manifests)?;
        kubectl.run(&format!("apply -f {file}")).map(drop)
    });
    report.step("the roles are enough for what it does, and no more", || {
        let namespace = format!("{NAME}-system");
        let token = kubectl.run(&format!("create token {NAME} -n {namespace}"))?;
        let own = folder.join("own.kubeconfig");
        upstream.write_kubeconfig(token.trim(), &own)?;
        // In a Pod, this is the namespace.
        let text = std::fs::read_to_string(&own)?;
        let named = format!("context: {{namespace: {namespace}, ");
        std::fs::write(&own, text.replace("context: {", &named))?;
        let mut command = Command::new(&program);
        command.env("KUBECONFIG", &own);
        let operator = Running::start(command, &folder.join("operator.log"))?;
        works(&kubectl, &namespace, &operator.log)?;
        let account = format!("--as=system:serviceaccount:{namespace}:{NAME}");
        for (words, allowed) in [
            ("list deployments -A", true),
            ("delete deployments", false),
            ("list secrets", false),
        ] {
            // It answers no with a code of 1.
            let answer = kubectl.run(&format!("auth can-i {words} {account}"));
            if answer.is_ok() != allowed {
                return Err(format!("{words}: allowed is not {allowed}").into());
            }
        }
        Ok(())
    });
    Ok(())
}

/// Waits until the operator has made what an object needs and told so, without a refusal.
fn works(kubectl: &Shell, namespace: &str, log: &Path) -> Outcome {
    let object = "apiVersion: cache.example.org/v1
kind: CacheCluster
metadata: {name: first}
spec: {image: 'image:1', replicas: 0}
";
    let file = kubectl.file("first.yaml", object)?;
    kubectl.run(&format!("apply -f {file}"))?;
    for (words, expected) in [
        ("get deployment first -o name", "deployment.apps/first"),
        ("get events -o name", "event"),
        (
            "get cacheclusters first -o jsonpath={.status.conditions[0].status}",
            "True",
        ),
        (&format!("get leases -n {namespace} -o name"), NAME),
    ] {
        repeat(PATIENCE, || {
            let said = kubectl.run(words)?;
            if said.contains(expected) {
                return Ok(());
            }
            Err(format!(
                "{words}: {said:?} and not {expected:?}; see {}",
                log.display()
            )
            .into())
        })?;
    }
    let log = std::fs::read_to_string(log)?;
    match log.lines().find(|it| it.contains("forbidden")) {
        Some(line) => Err(line.to_owned().into()),
        None => Ok(()),
    }
}
