//! Whole applications: applied, applied again, and read back.

use crate::interop::applied::ServerFields;
use crate::interop::kubectl::Shell;
use crate::interop::manifests::{self, Application};
use kubist_test_support::process::Outcome;
use std::collections::BTreeSet;

/// Objects that kubectl patches at every apply, on any server: a claim template is compared as a
/// whole, with server defaults; the selector of a budget is replaced; `stringData` is never stored.
const PATCHED_FOR_EVER: [&str; 3] = [
    "statefulset.apps/session",
    "poddisruptionbudget.policy/session",
    "secret/session",
];
/// How the version of an `APIService` is shown.
const API_SERVICE: &str = "\"APIService\"";

/// The project's own applications.
pub(super) fn apply(shell: &Shell) -> Outcome {
    each(&manifests::own()?, |it| apply_one(shell, it, true))
}

/// Checks that the server has them as applied.
pub(super) fn held(shell: &Shell) -> Outcome {
    let fields = ServerFields::read()?;
    each(&manifests::own()?, |it| held_one(shell, &fields, it))
}

/// Runs the larger ones, if there are any, from `apply` to `get -o yaml`.
pub(super) fn shared(shell: &Shell) -> Outcome {
    let fields = ServerFields::read()?;
    let ended = each(&manifests::shared()?, |application| {
        for namespace in &application.namespaces {
            if shell.run(&format!("get namespace {namespace}")).is_err() {
                shell.run(&format!("create namespace {namespace}"))?;
            }
        }
        // kubectl always finds the authors' forms of quantities and strategies to differ from the
        // stored ones, so the second apply may send patches; none may change anything.
        apply_one(shell, application, false)?;
        held_one(shell, &fields, application)
    });
    // Behind it is nobody, and until it is gone no namespace can be emptied, as upstream.
    shell.run("delete apiservice --ignore-not-found v1beta1.metrics.k8s.io")?;
    ended
}

/// Runs this for all applications, and then fails if one of them failed.
fn each(all: &[Application], step: impl Fn(&Application) -> Outcome) -> Outcome {
    let failures: Vec<String> = all
        .iter()
        .filter_map(|it| step(it).err().map(|error| format!("{}: {error}", it.name)))
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("; ").into())
    }
}

fn apply_one(shell: &Shell, application: &Application, strict: bool) -> Outcome {
    let command = format!("apply {}", arguments(shell, application)?);
    let expected = application.objects()?.len();
    let first = shell.run(&command)?;
    let made = |it: &&str| it.ends_with(" created") || it.ends_with(" configured");
    let (good, bad): (Vec<&str>, Vec<&str>) = first.lines().partition(made);
    if !bad.is_empty() || good.len() != expected {
        return Err(format!(
            "the first apply makes {} of {expected} objects, and says {bad:?}",
            good.len()
        )
        .into());
    }
    let before = versions(shell, application)?;
    let second = shell.run(&command)?;
    let same = |it: &&str| match it.strip_suffix(" configured") {
        Some(name) => !strict || PATCHED_FOR_EVER.contains(&name),
        None => it.ends_with(" unchanged"),
    };
    let (good, bad): (Vec<&str>, Vec<&str>) = second.lines().partition(same);
    if !bad.is_empty() || good.len() != expected {
        return Err(format!(
            "the second apply names {} of {expected} objects, and changes {bad:?}",
            good.len()
        )
        .into());
    }
    let after = versions(shell, application)?;
    // The server itself writes into an APIService that its server does not answer.
    let is_clients = |it: &&String| !it.starts_with(API_SERVICE);
    let written: Vec<&String> = before
        .iter()
        .filter(|it| !after.contains(*it))
        .filter(is_clients)
        .collect();
    if written.is_empty() && before.len() == expected {
        return Ok(());
    }
    Err(format!(
        "of {} objects the second apply writes {written:?}",
        before.len()
    )
    .into())
}

/// Returns kind, name and version of each object that only kubectl writes; the status of a
/// Deployment has a controller, so its generation stands in for its version.
fn versions(shell: &Shell, application: &Application) -> Outcome<BTreeSet<String>> {
    let list = shell.json(&format!("get {}", arguments(shell, application)?))?;
    let items = list["items"].as_array().ok_or("get gives no list")?;
    let versions = items.iter().map(|it| {
        let metadata = &it["metadata"];
        let version = match it["kind"].as_str() {
            Some("Deployment") => &metadata["generation"],
            _ => &metadata["resourceVersion"],
        };
        format!(
            "{} {} {} {version}",
            it["kind"], metadata["namespace"], metadata["name"]
        )
    });
    Ok(versions.collect())
}

fn held_one(shell: &Shell, fields: &ServerFields, application: &Application) -> Outcome {
    let printed = shell.run(&format!("get {} -o yaml", arguments(shell, application)?))?;
    let got = manifests::objects(&printed)?;
    let applied = application.objects()?;
    if applied.len() != got.len() {
        return Err(format!("applied {} objects, got {}", applied.len(), got.len()).into());
    }
    let mut differences = Vec::new();
    for (applied, got) in applied.iter().zip(&got) {
        differences.extend(fields.differences(applied, got));
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} differences: {}",
        differences.len(),
        differences.join("; ")
    )
    .into())
}

/// Returns kubectl's arguments for an application.
fn arguments(shell: &Shell, application: &Application) -> Outcome<String> {
    let folder = application.stage(&shell.home)?;
    let namespace = application.namespace.map(|it| format!("-n {it} "));
    Ok(format!(
        "{}-f {}",
        namespace.unwrap_or_default(),
        folder.display()
    ))
}
