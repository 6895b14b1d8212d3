//! Whole applications: applied, applied again, and read back.

use std::path::PathBuf;

use crate::interop::applied::ServerFields;
use crate::interop::kubectl::Shell;
use crate::interop::manifests::{self, Application};
use crate::process::Outcome;

/// The project's own applications.
pub(super) fn apply(shell: &Shell) -> Outcome {
    each(&manifests::own()?, |it| apply_one(shell, it, true))
}

/// They are held as they were applied.
pub(super) fn held(shell: &Shell) -> Outcome {
    let fields = ServerFields::read()?;
    each(&manifests::own()?, |it| held_one(shell, &fields, it))
}

/// The larger ones, where they are, from `apply` to `get -o yaml`.
pub(super) fn shared(shell: &Shell) -> Outcome {
    let fields = ServerFields::read()?;
    each(&manifests::shared()?, |application| {
        for namespace in &application.namespaces {
            if shell.run(&format!("get namespace {namespace}")).is_err() {
                shell.run(&format!("create namespace {namespace}"))?;
            }
        }
        // Their authors write quantities and strategies in forms that kubectl finds to differ from
        // the stored ones for ever, so the second apply may send a patch.
        apply_one(shell, application, false)?;
        held_one(shell, &fields, application)
    })
}

/// Goes over all applications, and then fails if one of them did.
fn each(all: &[Application], step: impl Fn(&Application) -> Outcome) -> Outcome {
    let failures: Vec<String> = all
        .iter()
        .filter_map(|it| {
            step(it)
                .err()
                .map(|error| format!("{}: {error}", it.namespace))
        })
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("; ").into())
    }
}

fn apply_one(shell: &Shell, application: &Application, strict: bool) -> Outcome {
    let command = format!("apply -n {}{}", application.namespace, files(application));
    let first = shell.send(&command)?;
    let wrong: Vec<&str> = first
        .lines()
        .filter(|it| !it.ends_with(" created") && !it.ends_with(" configured"))
        .collect();
    if !wrong.is_empty() {
        return Err(format!("the first apply says {wrong:?}").into());
    }
    let second = shell.send(&command)?;
    let changed: Vec<&str> = second
        .lines()
        .filter(|it| !it.ends_with(" unchanged") && (strict || !it.ends_with(" configured")))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!("the second apply changes {changed:?}").into())
}

fn held_one(shell: &Shell, fields: &ServerFields, application: &Application) -> Outcome {
    let printed = shell.run(&format!(
        "get -n {}{} -o yaml",
        application.namespace,
        files(application)
    ))?;
    let got = manifests::objects(&printed)?;
    let mut applied = Vec::new();
    for path in &application.files {
        applied.extend(manifests::documents(path)?);
    }
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

fn files(application: &Application) -> String {
    let mut arguments = String::new();
    for path in &application.files {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
        arguments.push_str(" -f ");
        arguments.push_str(&path.to_string_lossy());
    }
    arguments
}
