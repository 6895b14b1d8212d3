//! Status updates: those of controllers and kubelets, and invalid ones.

use super::subresources::{put, set};
use crate::mutation;
use crate::plan::Plan;
use crate::step::Body;
use serde_json::{Value, json};

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// A time of another day.
const TIME: &str = "2020-01-02T03:04:05Z";

fn condition(kind: &str, status: &str) -> Value {
    json!({"type": kind, "status": status, "lastTransitionTime": TIME})
}

/// Returns possible statuses of a kind.
fn statuses(plural: &str) -> Vec<Value> {
    let time = TIME;
    let ready = condition("Ready", "True");
    let state = json!({"running": {"startedAt": time}});
    let container = json!({"name": "main", "image": "a:1", "imageID": "x", "ready": true,
        "restartCount": 1, "state": state});
    match plural {
        "pods" => vec![
            json!({"phase": "Running", "conditions": [ready], "podIP": "10.1.2.3"}),
            json!({"phase": "Running", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.4"}]}),
            json!({"phase": "Succeeded", "containerStatuses": [container]}),
            json!({"phase": "Odd", "qosClass": "Guaranteed", "hostIP": "nonsense"}),
            json!({"containerStatuses": [{"name": "main", "restartCount": -1,
                "state": {"terminated": {"exitCode": 1}}}]}),
            json!({"conditions": [condition("Ready", "Maybe"), condition("Ready", "True")]}),
            json!({"observedGeneration": 1, "nominatedNodeName": "Bad_Name", "startTime": time}),
        ],
        "jobs" => vec![
            json!({"active": 1, "ready": 1, "startTime": time}),
            json!({"succeeded": 2, "startTime": time, "completionTime": time,
                "conditions": [condition("SuccessCriteriaMet", "True"),
                    condition("Complete", "True")]}),
            json!({"conditions": [condition("Complete", "True")]}),
            json!({"conditions": [condition("Failed", "True")], "startTime": time}),
            json!({"conditions": [condition("Failed", "True"), condition("Complete", "True")]}),
            json!({"active": -1, "succeeded": -1, "failed": -2}),
            json!({"completedIndexes": "0-1,5", "failedIndexes": "x", "ready": 3}),
            json!({"uncountedTerminatedPods": {"succeeded": ["a", "a"], "failed": [""]}}),
        ],
        "nodes" => vec![
            json!({"capacity": {"cpu": "4", "pods": "110"}, "conditions": [ready]}),
            json!({"capacity": {"cpu": "-1"}, "addresses": [{"type": "InternalIP", "address": ""}]}),
        ],
        "namespaces" => vec![json!({"phase": "Terminating"}), json!({"phase": "Odd"})],
        "services" | "ingresses" => vec![
            json!({"loadBalancer": {"ingress": [{"ip": "10.9.8.7", "ports": [{"port": 80}]}]}}),
            json!({"loadBalancer": {"ingress": [{"ip": "nonsense", "hostname": "10.0.0.1"}]}}),
            json!({"conditions": [condition("Odd Type", "True")]}),
        ],
        "persistentvolumeclaims" | "persistentvolumes" => vec![
            json!({"phase": "Bound", "capacity": {"storage": "1Gi"}}),
            json!({"phase": "Odd", "capacity": {"storage": "-1"}, "accessModes": ["Odd"]}),
        ],
        "poddisruptionbudgets" => vec![
            json!({"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1,
                "expectedPods": 2, "observedGeneration": 1}),
            json!({"disruptionsAllowed": -1, "currentHealthy": 0, "desiredHealthy": 0,
                "expectedPods": 0}),
        ],
        _ => vec![
            json!({"replicas": 2, "readyReplicas": 3, "observedGeneration": 1}),
            json!({"replicas": -1, "availableReplicas": 4}),
            json!({"conditions": [ready]}),
            json!({"unknownField": 1}),
        ],
    }
}

pub(super) fn advance(plan: &mut Plan<'_>) {
    let plural = *plan.random.pick(&[
        "pods",
        "pods",
        "jobs",
        "jobs",
        "services",
        "nodes",
        "namespaces",
        "deployments",
        "statefulsets",
        "daemonsets",
        "replicasets",
        "cronjobs",
        "ingresses",
        "persistentvolumes",
        "persistentvolumeclaims",
        "poddisruptionbudgets",
        "horizontalpodautoscalers",
        "resourcequotas",
        "volumeattachments",
        "certificatesigningrequests",
    ]);
    let made = plan.some_of(plural);
    let choices = statuses(plural);
    let mut status = plan.random.pick(&choices).clone();
    if plan.random.percent(30) {
        let mut around = json!({"status": status});
        mutation::edit(&around, plan.catalogue, &mut plan.random).apply(&mut around);
        status = around["status"].take();
    }
    let path = format!("{}/status", made.path);
    let step = match plan.random.below(10) {
        0..5 => {
            let mut edits = vec![set("/status", status)];
            if plan.random.percent(25) {
                edits.extend(plan.edits(&made.object));
            }
            put(plan, &made, "status", edits)
        }
        5..7 => {
            let patch = json!({"status": status});
            plan.step("PATCH", path).body(MERGE, Body::Json(patch))
        }
        7..9 => {
            let patch = json!({"status": status});
            plan.step("PATCH", path).body(STRATEGIC, Body::Json(patch))
        }
        _ => plan.step("GET", path),
    };
    let step = plan.with_write_options(step);
    plan.push(step);
}
