//! Scale, eviction, binding, ephemeral containers, resize, approval, tokens, and requests that are
//! rejected without a kubelet.

use super::statuses;
use crate::plan::{Made, Plan};
use crate::step::{Body, Edit, Step};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const SCALED: [&str; 4] = [
    "deployments",
    "replicasets",
    "statefulsets",
    "replicationcontrollers",
];

pub(super) fn advance(plan: &mut Plan<'_>) {
    match plan.random.below(100) {
        0..32 => statuses::advance(plan),
        32..46 => scale(plan),
        46..56 => eviction(plan),
        56..62 => binding(plan),
        62..70 => ephemeral_containers(plan),
        70..80 => resize(plan),
        80..85 => approval(plan),
        85..90 => token(plan),
        90..94 => finalize(plan),
        _ => refused(plan),
    }
}

/// Replaces the whole object: `edits`, and the other fields as they were returned.
pub(super) fn put(plan: &Plan<'_>, made: &Made<'_>, subresource: &str, edits: Vec<Edit>) -> Step {
    let path = format!("{}/{subresource}", made.path);
    let body = Body::Answer {
        step: made.step,
        edits,
    };
    plan.step("PUT", path).body(JSON, body)
}

pub(super) fn set(pointer: &str, value: Value) -> Edit {
    Edit::Set(pointer.to_owned(), value)
}

fn scale(plan: &mut Plan<'_>) {
    let plural = *plan.random.pick(&SCALED);
    let made = plan.some_of(plural);
    let path = format!("{}/scale", made.path);
    let replicas = plan
        .random
        .pick(&[json!(0), json!(5), json!(-1), json!("x"), json!(null)])
        .clone();
    let scale = |version: Value| {
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": made.name, "namespace": "{{ns}}", "resourceVersion": version},
            "spec": {"replicas": replicas}})
    };
    let step = match plan.random.below(9) {
        0 | 1 => plan.step("GET", path),
        2 => plan.step("PUT", path).json(scale(Value::Null)),
        3 => plan.step("PUT", path).json(scale(json!("1"))),
        4 => {
            let version = format!("{{{{{}.rv}}}}", made.step);
            plan.step("PUT", path).json(scale(json!(version)))
        }
        5 => {
            let patch = json!({"spec": {"replicas": replicas}});
            plan.step("PATCH", path).body(MERGE, Body::Json(patch))
        }
        6 => {
            let patch = json!({"spec": {"replicas": replicas}, "status": {"replicas": 9}});
            plan.step("PATCH", path).body(STRATEGIC, Body::Json(patch))
        }
        7 => {
            let patch = json!([{"op": "replace", "path": "/spec/replicas", "value": replicas}]);
            let media = "application/json-patch+json";
            plan.step("PATCH", path).body(media, Body::Json(patch))
        }
        _ => plan.step("PUT", path).json(made.object.clone()),
    };
    let step = plan.with_write_options(step);
    plan.push(step);
}

fn eviction(plan: &mut Plan<'_>) {
    if plan.random.percent(35) {
        let budget = plan.some_of("poddisruptionbudgets");
        let allowed = *plan.random.pick(&[0, 1]);
        let status = json!({"disruptionsAllowed": allowed, "currentHealthy": 2,
            "desiredHealthy": 1, "expectedPods": 2, "observedGeneration": 1});
        let step = put(plan, &budget, "status", vec![set("/status", status)]);
        plan.push(step);
    }
    let made = plan.some_of("pods");
    if plan.random.percent(40) {
        let status = json!({"phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}]});
        let step = put(plan, &made, "status", vec![set("/status", status)]);
        plan.push(step);
    }
    let mut eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": made.name, "namespace": "{{ns}}"}});
    let edit = match plan.random.below(11) {
        0 => set("/apiVersion", json!("policy/v1beta1")),
        1 => set("/metadata/name", json!("another")),
        2 => set("/deleteOptions", json!({"gracePeriodSeconds": 0})),
        3 => set("/deleteOptions", json!({"dryRun": ["All"]})),
        4 => set(
            "/deleteOptions",
            json!({"preconditions": {"resourceVersion": "1"}}),
        ),
        5 => set("/deleteOptions", json!({"propagationPolicy": "Odd"})),
        6 => Edit::Remove("/metadata/name".to_owned()),
        7 => set("/unknownField", json!(1)),
        8 => set("/deleteOptions", json!({"dryRun": ["None"]})),
        _ => set("/metadata/labels", json!({"a": "b"})),
    };
    edit.apply(&mut eviction);
    let step = plan.step("POST", format!("{}/eviction", made.path));
    let step = plan.with_write_options(step.json(eviction));
    plan.push(step);
}

fn binding(plan: &mut Plan<'_>) {
    let made = plan.some_of("pods");
    let mut binding = json!({"apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": made.name}, "target": {"kind": "Node", "name": "node-1"}});
    match plan.random.below(7) {
        0 => set("/target/kind", json!("Pod")).apply(&mut binding),
        1 => set("/target/name", json!("")).apply(&mut binding),
        2 => Edit::Remove("/target".to_owned()).apply(&mut binding),
        3 => set(
            "/metadata/uid",
            json!("11111111-2222-3333-4444-555555555555"),
        )
        .apply(&mut binding),
        4 => set("/metadata/annotations", json!({"a": "b"})).apply(&mut binding),
        _ => {}
    }
    let path = if plan.random.percent(30) {
        "/api/v1/namespaces/{{ns}}/bindings".to_owned()
    } else {
        format!("{}/binding", made.path)
    };
    let step = plan.step("POST", path).json(binding);
    let step = plan.with_write_options(step);
    plan.push(step);
}

fn ephemeral_containers(plan: &mut Plan<'_>) {
    let made = plan.some_of("pods");
    let containers = plan
        .random
        .pick(&[
            json!([{"name": "debug", "image": "busybox:1"}]),
            json!([{"name": "debug", "image": "busybox:2", "targetContainerName": "main"}]),
            json!([{"name": "debug", "image": "busybox:1", "targetContainerName": "none"}]),
            json!([{"name": "main", "image": "busybox:1"}]),
            json!([{"name": "debug", "image": "busybox:1", "ports": [{"containerPort": 80}]}]),
            json!([{"name": "debug", "image": "busybox:1", "resources": {"limits": {"cpu": "1"}}}]),
            json!([{"name": "debug", "image": "a", "livenessProbe": {"tcpSocket": {"port": 1}}}]),
            json!([{"name": "Bad_Name"}]),
            json!([]),
            json!("text"),
        ])
        .clone();
    let step = match plan.random.below(4) {
        0 => {
            let path = format!("{}/ephemeralcontainers", made.path);
            let patch = json!({"spec": {"ephemeralContainers": containers}});
            plan.step("PATCH", path).body(STRATEGIC, Body::Json(patch))
        }
        1 => {
            let edits = vec![set("/spec/ephemeralContainers", containers)];
            let body = Body::Answer {
                step: made.step,
                edits,
            };
            plan.step("PUT", made.path.as_str()).body(JSON, body)
        }
        _ => {
            let mut edits = vec![set("/spec/ephemeralContainers", containers)];
            if plan.random.percent(25) {
                edits.push(set("/spec/containers/0/image", json!("changed:1")));
            }
            put(plan, &made, "ephemeralcontainers", edits)
        }
    };
    plan.push(step);
}

fn resize(plan: &mut Plan<'_>) {
    let made = plan.some_of("pods");
    let resources = plan
        .random
        .pick(&[
            json!({"requests": {"cpu": "200m", "memory": "64Mi"}, "limits": {"cpu": "1"}}),
            json!({"requests": {"cpu": "2", "memory": "64Mi"}, "limits": {"cpu": "1"}}),
            json!({"requests": {"cpu": "200m"}}),
            json!({"limits": {"cpu": "200m", "memory": "1Gi"}}),
            json!({"requests": {"example.com/a": "1"}}),
            json!({"requests": {"ephemeral-storage": "1Gi"}}),
            json!({"requests": {"cpu": "nonsense"}}),
            json!({}),
        ])
        .clone();
    let step = if plan.random.percent(50) {
        let path = format!("{}/resize", made.path);
        let container = json!({"name": "main", "resources": resources});
        let patch = json!({"spec": {"containers": [container]}});
        plan.step("PATCH", path).body(STRATEGIC, Body::Json(patch))
    } else {
        let mut edits = vec![set("/spec/containers/0/resources", resources)];
        match plan.random.below(6) {
            0 => edits.push(set("/spec/containers/0/image", json!("changed:1"))),
            1 => edits.push(set("/metadata/labels", json!({"a": "b"}))),
            2 => edits.push(set(
                "/spec/containers/0/resizePolicy",
                json!([{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
            )),
            _ => {}
        }
        put(plan, &made, "resize", edits)
    };
    let step = plan.with_write_options(step);
    plan.push(step);
}

fn approval(plan: &mut Plan<'_>) {
    let made = plan.some_of("certificatesigningrequests");
    let conditions = plan
        .random
        .pick(&[
            json!([{"type": "Approved", "status": "True", "reason": "a", "message": "b"}]),
            json!([{"type": "Denied", "status": "True"}]),
            json!([{"type": "Approved", "status": "False"}]),
            json!([{"type": "Approved", "status": "True"}, {"type": "Denied", "status": "True"}]),
            json!([{"type": "Failed", "status": "True"}]),
            json!([{"type": "Odd"}]),
            json!([]),
        ])
        .clone();
    let subresource = *plan.random.pick(&["approval", "approval", "status"]);
    let mut edits = vec![set("/status/conditions", conditions)];
    if plan.random.percent(25) {
        edits.push(set("/status/certificate", json!("bm9uc2Vuc2U=")));
    }
    let step = put(plan, &made, subresource, edits);
    plan.push(step);
}

fn token(plan: &mut Plan<'_>) {
    let made = plan.some_of("serviceaccounts");
    let spec = plan
        .random
        .pick(&[
            json!({}),
            json!({"audiences": ["a"], "expirationSeconds": 600}),
            json!({"expirationSeconds": 599}),
            json!({"expirationSeconds": 4_294_967_297_i64}),
            json!({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "not-there"}}),
            json!({"boundObjectRef": {"kind": "Odd", "apiVersion": "v1", "name": "a"}}),
            json!({"audiences": "a"}),
        ])
        .clone();
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": spec});
    let step = plan
        .step("POST", format!("{}/token", made.path))
        .json(request);
    let step = plan.with_write_options(step);
    plan.push(step);
}

fn finalize(plan: &mut Plan<'_>) {
    let made = plan.some_of("namespaces");
    if plan.random.percent(50) {
        let step = plan.step("DELETE", made.path.as_str());
        plan.push(step);
    }
    let finalizers = plan
        .random
        .pick(&[
            json!([]),
            json!(["kubernetes"]),
            json!(["odd name"]),
            json!(["example.com/a"]),
        ])
        .clone();
    let step = put(
        plan,
        &made,
        "finalize",
        vec![set("/spec/finalizers", finalizers)],
    );
    plan.push(step);
}

/// No container runs, so there is nothing to connect to.
fn refused(plan: &mut Plan<'_>) {
    let made = plan.some_of("pods");
    let (method, end) = *plan.random.pick(&[
        ("GET", "log"),
        ("GET", "log?container=none"),
        ("GET", "log?tailLines=x"),
        ("GET", "log?previous=true&follow=x"),
        ("GET", "log?sinceSeconds=-1"),
        ("GET", "status"),
        ("GET", "eviction"),
        ("GET", "binding"),
        ("DELETE", "log"),
        ("DELETE", "status"),
        ("POST", "status"),
        ("GET", "unknown"),
        ("GET", "scale"),
        ("PUT", "log"),
        ("GET", "resize"),
        ("GET", "ephemeralcontainers"),
    ]);
    let step = plan.step(method, format!("{}/{end}", made.path));
    plan.push(step);
}
