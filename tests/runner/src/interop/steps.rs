//! The steps for every kubectl, in order: later ones depend on earlier ones.

mod applications;
mod custom;
mod reads;
mod simulated;
mod typed;
mod workloads;
mod writes;

use super::kubectl::Shell;
use super::manifests;
use kubist_test_support::process::Outcome;

/// A step; its error describes the failure.
pub(super) type Step = fn(&Shell) -> Outcome;

/// Returns the steps with their names; `full` adds those that one version suffices for.
pub(super) fn all(full: bool) -> Vec<(&'static str, Step)> {
    let mut steps = SHORT.to_vec();
    if full {
        steps.extend_from_slice(FULL);
    }
    if manifests::has_shared() {
        steps.extend_from_slice(SHARED);
    } else {
        eprintln!("  skipped: ../shared/data/manifests is not here");
    }
    if full {
        steps.extend_from_slice(LAST);
    }
    steps
}

const SHORT: &[(&str, Step)] = &[
    ("version, healthz, readyz", reads::server),
    ("api-versions, api-resources", super::tables::discovery),
    ("explain", reads::explain),
    ("create namespace", typed::namespaces),
    ("apply, then apply unchanged", applications::apply),
    ("get -o yaml is what was applied", applications::held),
    ("get prints upstream's columns", reads::columns),
    ("describe", reads::describe),
    ("rollout status, wait Available", workloads::rollout),
    ("label", writes::label),
    ("annotate", writes::annotate),
    ("scale", workloads::scale),
    ("patch json, merge, strategic", writes::patch),
    ("replace", writes::replace),
    ("create configmap, secret, deployment", typed::create),
    ("auth can-i", typed::can_i),
    ("get -w", reads::watch),
    ("delete, wait --for=delete", workloads::delete),
];

const FULL: &[(&str, Step)] = &[
    (
        "get by selectors, chunks, names, custom columns",
        reads::select,
    ),
    (
        "set image, rollout restart and history",
        workloads::new_image,
    ),
    ("orphans stay", workloads::orphan),
    ("edit", writes::edit),
    ("apply of a changed manifest", writes::apply_changed),
    ("patch of subresources", writes::patch_subresource),
    (
        "create job, role, quota, service, service account",
        typed::create_more,
    ),
    ("events", typed::events),
    ("explain custom resources", custom::explain),
    ("run, and a pod that runs", workloads::run),
    ("rollouts of sets", simulated::sets),
    ("jobs to their ends", simulated::jobs),
    ("logs, exec, port-forward", simulated::streams),
    ("refusals", writes::refusals),
];

const SHARED: &[(&str, Step)] = &[("applications from beside the repo", applications::shared)];

const LAST: &[(&str, Step)] = &[("delete namespace", workloads::delete_namespace)];
