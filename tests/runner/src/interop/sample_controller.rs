//! The sample controller of Kubernetes, which makes a Deployment of each Foo.
//! `tests/interop/sample-controller` has the version.
//!
//! Kubist's server runs its own controllers and its simulated kubelet. A kube-apiserver has a
//! kube-controller-manager, a kube-scheduler and kwok.

use super::cases::Case;
use super::cluster::{self, Cluster, go_build, go_module};
use super::kubectl::Shell;
use super::server::Server;
use super::subject::Subject;
use crate::running::{Running, repeat};
use kubist_test_support::process::Outcome;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The part's name, for `--only`.
pub(super) const PART: &str = "sample-controller";
const MODULE: &str = "k8s.io/sample-controller";
/// The time limit for the controllers to bring something about.
const LIMIT: Duration = Duration::from_secs(60);
/// The definition with the status subresource, and a Foo, in the module.
const DEFINITION: &str = "artifacts/examples/crd-status-subresource.yaml";
const FOO: &str = "artifacts/examples/example-foo.yaml";

/// Builds the controller.
pub(super) fn build(programs: &Path) -> Outcome {
    go_build(PART, MODULE, &programs.join(PART))
}

/// Runs the steps on a server with controllers.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    if let Subject::Kubist(binary) = subject {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        std::fs::create_dir_all(folder)?;
        let kubeconfig = folder.join("kubeconfig");
        let _server = Server::start(binary, &kubeconfig, &["--simulate"])?;
        let kubectl = Shell::on_path(&kubeconfig, folder);
        return steps(&kubectl, &kubeconfig, programs, folder);
    }
    cluster::build(programs)?;
    let cluster = Cluster::start(subject, programs, folder)?;
    let kubeconfig = &cluster.server.kubeconfig;
    steps(&cluster.kubectl, kubeconfig, programs, folder)
}

type Step = fn(&Shell) -> Outcome;

const STEPS: &[(&str, Step)] = &[
    ("the Deployment of a Foo appears", appears),
    ("the Foo owns the Deployment", owns),
    ("the status of the Foo is updated", |it| available(it, 1)),
    ("a change of the Foo changes the Deployment", grows),
    ("a change of the Deployment is undone", is_undone),
    ("a deleted Deployment appears again", appears_again),
    ("the schema refuses too many replicas", refuses),
    ("a foreign Deployment is not taken", is_foreign),
    ("events say what was done", events),
    ("the Deployment is deleted with its Foo", ends),
];

fn steps(kubectl: &Shell, kubeconfig: &Path, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let module = go_module(PART, MODULE)?;
    kubectl.run(&format!("apply -f {}", module.join(DEFINITION).display()))?;
    kubectl.run("wait --for=condition=Established crd/foos.samplecontroller.k8s.io")?;
    let mut command = Command::new(programs.join(PART));
    command.arg("-kubeconfig").arg(kubeconfig);
    let _controller = Running::start(command, &folder.join("sample-controller.log"))?;
    kubectl.run(&format!("create -f {}", module.join(FOO).display()))?;
    let case = |&(name, step): &(&str, Step)| Case::of(PART, name, step(kubectl));
    Ok(STEPS.iter().map(case).collect())
}

/// Waits until a field of an object has a value.
fn until(kubectl: &Shell, object: &str, pointer: &str, expected: &Value) -> Outcome {
    repeat(LIMIT, || {
        let found = kubectl.json(&format!("get {object}"))?;
        match found.pointer(pointer) {
            Some(it) if it == expected => Ok(()),
            it => Err(format!("{object} {pointer}: {it:?}, expected {expected}").into()),
        }
    })
}

fn appears(kubectl: &Shell) -> Outcome {
    until(
        kubectl,
        "deployment/example-foo",
        "/spec/replicas",
        &1.into(),
    )
}

fn owns(kubectl: &Shell) -> Outcome {
    let owner = kubectl.json("get foo/example-foo")?;
    let deployment = kubectl.json("get deployment/example-foo")?;
    let owners = &deployment["metadata"]["ownerReferences"];
    let expected = serde_json::json!([{
        "apiVersion": "samplecontroller.k8s.io/v1alpha1",
        "kind": "Foo",
        "name": "example-foo",
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    }]);
    if *owners != expected {
        return Err(format!("the owners are {owners}, expected {expected}").into());
    }
    Ok(())
}

fn available(kubectl: &Shell, replicas: u64) -> Outcome {
    let field = "/status/availableReplicas";
    until(kubectl, "foo/example-foo", field, &replicas.into())
}

/// Waits until the Deployment asks for this many replicas, and the Foo has them.
fn has_replicas(kubectl: &Shell, replicas: u64) -> Outcome {
    let (deployment, field) = ("deployment/example-foo", "/spec/replicas");
    until(kubectl, deployment, field, &replicas.into())?;
    available(kubectl, replicas)
}

fn grows(kubectl: &Shell) -> Outcome {
    let patch = r#"{"spec":{"replicas":2}}"#;
    kubectl.run_arguments(&["patch", "foo/example-foo", "--type=merge", "-p", patch])?;
    has_replicas(kubectl, 2)
}

fn is_undone(kubectl: &Shell) -> Outcome {
    kubectl.run("scale deployment/example-foo --replicas=5")?;
    has_replicas(kubectl, 2)
}

fn appears_again(kubectl: &Shell) -> Outcome {
    let uid = |it: &Value| it["metadata"]["uid"].clone();
    let first = uid(&kubectl.json("get deployment/example-foo")?);
    kubectl.run("delete deployment/example-foo")?;
    repeat(LIMIT, || {
        match uid(&kubectl.json("get deployment/example-foo")?) {
            it if it == first => Err("it is the same".into()),
            _ => Ok(()),
        }
    })?;
    available(kubectl, 2)
}

fn refuses(kubectl: &Shell) -> Outcome {
    kubectl.refuse(
        "patch foo/example-foo --type=merge -p {\"spec\":{\"replicas\":11}}",
        "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10",
    )
}

fn is_foreign(kubectl: &Shell) -> Outcome {
    kubectl.run("create deployment foreign --image=nginx")?;
    let text = "apiVersion: samplecontroller.k8s.io/v1alpha1\n\
                kind: Foo\n\
                metadata: {name: second}\n\
                spec: {deploymentName: foreign, replicas: 3}\n";
    let file = kubectl.file("second.yaml", text)?;
    kubectl.run(&format!("create -f {file}"))?;
    let reason = "get events --field-selector involvedObject.name=second,reason=ErrResourceExists";
    repeat(LIMIT, || {
        let events = kubectl.json(reason)?;
        match events["items"].as_array() {
            Some(items) if !items.is_empty() => Ok(()),
            _ => Err("no event says that it exists".into()),
        }
    })?;
    until(kubectl, "deployment/foreign", "/spec/replicas", &1.into())?;
    kubectl
        .run("delete foo/second deployment/foreign")
        .map(drop)
}

fn events(kubectl: &Shell) -> Outcome {
    kubectl.print(
        "get events --field-selector involvedObject.kind=Foo,reason=Synced",
        &["Foo synced successfully"],
    )
}

fn ends(kubectl: &Shell) -> Outcome {
    kubectl.run("delete foo/example-foo")?;
    kubectl
        .run("wait --for=delete deployment/example-foo --timeout=60s")
        .map(drop)
}
