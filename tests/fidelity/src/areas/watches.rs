//! Watches of the effects of earlier steps.

use crate::plan::{Made, Plan};
use crate::step::{Body, Edit};
use serde_json::json;

const OPTIONS: [(&str, &str); 16] = [
    ("labelSelector", "app=web"),
    ("labelSelector", "changed"),
    ("labelSelector", "!changed"),
    ("labelSelector", "in ("),
    ("fieldSelector", "metadata.name=it-1"),
    ("fieldSelector", "spec.unknown=a"),
    ("fieldSelector", "status.phase=Pending"),
    ("allowWatchBookmarks", "true"),
    ("sendInitialEvents", "true"),
    ("sendInitialEvents", "x"),
    ("resourceVersionMatch", "NotOlderThan"),
    ("resourceVersionMatch", "Exact"),
    ("limit", "1"),
    ("continue", "x"),
    ("timeoutSeconds", "x"),
    ("pretty", "true"),
];
/// A kube-apiserver sends no events of a `PartialObjectMetadataList`, and later steps would see
/// other versions.
const ACCEPTS: [&str; 5] = [
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/yaml",
    "text/plain",
];

pub(super) fn advance(plan: &mut Plan<'_>) {
    if plan.made.is_empty() {
        let kind = plan.catalogue.any_namespaced(&mut plan.random);
        plan.create(kind);
        return;
    }
    match plan.random.below(10) {
        0..5 => {
            let made = plan.some();
            change(plan, &made);
        }
        5 => {
            let kind = plan.made[0].kind;
            plan.create(kind);
        }
        _ => watch(plan),
    }
}

/// Adds a change that watchers observe.
fn change(plan: &mut Plan<'_>, made: &Made<'_>) {
    let step = match plan.random.below(4) {
        0 => plan.step("DELETE", made.path.as_str()),
        1 => {
            let body = plan.changed(made);
            let step = plan.step("PUT", made.path.as_str());
            step.body("application/json", body)
        }
        2 => {
            let patch = json!({"metadata": {"labels": {"app": null, "changed": "yes"}}});
            let step = plan.step("PATCH", made.path.as_str());
            step.body("application/merge-patch+json", Body::Json(patch))
        }
        _ => {
            let edits = vec![Edit::Set(
                "/metadata/labels/changed".to_owned(),
                json!("put"),
            )];
            let body = Body::Answer {
                step: made.step,
                edits,
            };
            let step = plan.step("PUT", made.path.as_str());
            step.body("application/json", body)
        }
    };
    plan.push(step);
}

fn watch(plan: &mut Plan<'_>) {
    let made = plan.made[plan.random.below(plan.made.len())].clone();
    let (path, is_watch) = match plan.random.below(10) {
        0 if made.kind.is_namespaced => {
            let collection = made.kind.collection();
            (
                collection.replace("/namespaces/", "/watch/namespaces/"),
                true,
            )
        }
        // A read of one object ignores the query.
        1 => (made.path.clone(), false),
        _ => (made.kind.collection(), true),
    };
    let mut step = plan.step("GET", path).query("watch", "1");
    if !made.kind.is_namespaced {
        step = step.query("fieldSelector", format!("metadata.name={}", made.name));
    }
    match plan.random.below(12) {
        0 => step = step.query("resourceVersion", "0"),
        1 => {}
        2 => step = step.query("resourceVersion", "x"),
        3 => {
            step = step
                .query("sendInitialEvents", "true")
                .query("allowWatchBookmarks", "true")
                .query("resourceVersionMatch", "NotOlderThan");
        }
        4 => step = step.query("resourceVersion", "9000000000000000"),
        _ => step = step.query("resourceVersion", format!("{{{{{}.rv}}}}", made.step)),
    }
    if plan.random.percent(40) {
        let (name, value) = *plan.random.pick(&OPTIONS);
        if !step.query.iter().any(|(it, _)| it == name) {
            step = step.query(name, value);
        }
    }
    if plan.random.percent(25) {
        let accept = *plan.random.pick(&ACCEPTS);
        step = step.header("accept", accept);
    }
    if !step.query.iter().any(|(name, _)| name == "timeoutSeconds") {
        step = step.query("timeoutSeconds", "3");
    }
    step.is_watch = is_watch;
    plan.push(step);
}
