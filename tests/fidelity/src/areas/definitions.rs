//! Definitions and their custom resources: one definition in a sequence, awaited, then objects.

use crate::mutation;
use crate::plan::Plan;
use crate::step::{Body, Edit, Until};
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OBJECTS: &str = "/apis/{{tag}}.example.com/v1/namespaces/{{ns}}/things";
const MERGE: &str = "application/merge-patch+json";

/// A definition with a simple schema.
fn definition(plan: &mut Plan<'_>) -> Value {
    let mut version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    });
    if plan.random.percent(60) {
        version["subresources"] = json!({"status": {}, "scale": {
            "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector"}});
    }
    if plan.random.percent(50) {
        version["additionalPrinterColumns"] = json!([
            {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ]);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.{{tag}}.example.com"},
        "spec": {
            "group": "{{tag}}.example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing",
                "shortNames": ["th"], "categories": ["all"]},
            "versions": [version],
        },
    })
}

pub(super) fn advance(plan: &mut Plan<'_>) {
    let is_defined = plan.steps.iter().any(|step| step.until.is_some());
    if !is_defined {
        define(plan);
        return;
    }
    match plan.random.below(100) {
        0..25 => create(plan),
        25..60 => change(plan),
        60..75 => read(plan),
        75..85 => bad_definition(plan),
        _ => change_definition(plan),
    }
}

fn define(plan: &mut Plan<'_>) {
    let definition = definition(plan);
    let step = plan.step("POST", DEFINITIONS).json(definition);
    plan.push(step);
    let path = format!("{DEFINITIONS}/things.{{{{tag}}}}.example.com");
    let mut step = plan.step("GET", path);
    step.until = Some(Until::Established);
    plan.push(step);
    let mut step = plan.step("GET", OBJECTS);
    step.until = Some(Until::Found);
    plan.push(step);
    if plan.random.percent(30) {
        // Later the documents would lag behind the definition.
        let mut step = plan.step("GET", "/openapi/v3/apis/{{tag}}.example.com/v1");
        step.until = Some(Until::Found);
        plan.push(step);
    }
    plan.touch(OBJECTS);
}

fn object(name: &str) -> Value {
    json!({"apiVersion": "{{tag}}.example.com/v1", "kind": "Thing",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"replicas": 2, "text": "a", "list": [1, "a", null], "big": 1e30}})
}

fn name(plan: &mut Plan<'_>) -> &'static str {
    let picked: &&str = plan.random.pick(&["a", "a", "a", "b", "c"]);
    picked
}

fn create(plan: &mut Plan<'_>) {
    let name = name(plan);
    let mut object = object(name);
    if plan.random.percent(40) {
        mutation::edit(&object, plan.catalogue, &mut plan.random).apply(&mut object);
    }
    let step = plan.step("POST", OBJECTS).json(object);
    let step = plan.with_write_options(step);
    plan.push(step);
}

fn change(plan: &mut Plan<'_>) {
    let path = format!("{OBJECTS}/{}", name(plan));
    let patch = json!({"spec": {"replicas": 5, "text": null}, "status": {"replicas": 1}});
    let step = match plan.random.below(13) {
        0 => plan.step("PATCH", path).body(MERGE, Body::Json(patch)),
        1 => {
            let path = format!("{path}/status");
            plan.step("PATCH", path).body(MERGE, Body::Json(patch))
        }
        2 => {
            let path = format!("{path}/scale");
            plan.step("PATCH", path).body(MERGE, Body::Json(patch))
        }
        3 => plan.step("GET", format!("{path}/scale")),
        4 => plan.step("GET", format!("{path}/status")),
        5 => {
            let media = "application/strategic-merge-patch+json";
            plan.step("PATCH", path).body(media, Body::Json(patch))
        }
        6 => {
            let operations = json!([{"op": "add", "path": "/spec/list/-", "value": 7}]);
            let media = "application/json-patch+json";
            plan.step("PATCH", path).body(media, Body::Json(operations))
        }
        7 => plan.step("PUT", path).json(object("a")),
        8 => {
            let mut object = object("a");
            object["metadata"]["resourceVersion"] = json!("1");
            plan.step("PUT", path).json(object)
        }
        9 => {
            let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
                "metadata": {"name": "a", "namespace": "{{ns}}"}, "spec": {"replicas": 7}});
            plan.step("PUT", format!("{path}/scale")).json(scale)
        }
        10 => plan.step("DELETE", path),
        11 => plan.step("DELETE", OBJECTS),
        _ => plan.step("GET", path),
    };
    let step = plan.with_write_options(step);
    plan.push(step);
}

fn read(plan: &mut Plan<'_>) {
    let path = *plan.random.pick(&[
        OBJECTS,
        "/apis/{{tag}}.example.com/v1/things",
        "/apis/{{tag}}.example.com/v1",
        "/apis/{{tag}}.example.com",
        "/apis/{{tag}}.example.com/v2",
        "/apis/{{tag}}.example.com/v1/unknown",
        "/apis/{{tag}}.example.com/v1/things/a",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{{tag}}.example.com",
    ]);
    let mut step = plan.step("GET", path);
    // Documents are published some time after the objects are served.
    step.until = path.starts_with("/openapi/").then_some(Until::Found);
    if plan.random.percent(50) {
        let accept = *plan.random.pick(&[
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            "application/yaml",
            "application/vnd.kubernetes.protobuf",
            "application/vnd.kubernetes.protobuf, application/json",
        ]);
        step = step.header("accept", accept);
    } else if plan.random.percent(40) {
        let (name, value) = *plan.random.pick(&[
            ("fieldSelector", "metadata.name=a"),
            ("fieldSelector", "spec.replicas=2"),
            ("labelSelector", "app=web"),
            ("limit", "1"),
        ]);
        step = step.query(name, value);
    }
    plan.push(step);
}

/// Returns a definition of another group that may be invalid.
fn bad_definition(plan: &mut Plan<'_>) {
    let mut definition = definition(plan);
    for (pointer, value) in [
        ("/metadata/name", "others.o-{{tag}}.example.com"),
        ("/spec/group", "o-{{tag}}.example.com"),
        ("/spec/names/plural", "others"),
    ] {
        Edit::Set(pointer.to_owned(), json!(value)).apply(&mut definition);
    }
    for _ in 0..=plan.random.below(2) {
        mutation::edit(&definition, plan.catalogue, &mut plan.random).apply(&mut definition);
    }
    let step = plan.step("POST", DEFINITIONS).json(definition);
    // A valid one is not stored: it would be served, and no step waits for that.
    plan.push(step.query("dryRun", "All"));
}

fn change_definition(plan: &mut Plan<'_>) {
    let path = format!("{DEFINITIONS}/things.{{{{tag}}}}.example.com");
    let definition = definition(plan);
    let step = match mutation::edit(&definition, plan.catalogue, &mut plan.random) {
        Edit::Remove(path_of_field) => {
            let operations = json!([{"op": "remove", "path": path_of_field}]);
            let media = "application/json-patch+json";
            plan.step("PATCH", path).body(media, Body::Json(operations))
        }
        Edit::Set(pointer, value) => {
            let operations = json!([{"op": "add", "path": pointer, "value": value}]);
            let media = "application/json-patch+json";
            plan.step("PATCH", path).body(media, Body::Json(operations))
        }
    };
    plan.push(step.query("dryRun", "All"));
}
