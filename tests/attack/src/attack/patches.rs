//! Patches that are expensive for their size. All are dry runs: the attack is on CPU time, not on
//! storage.

use crate::Outcome;
use crate::call::{Call, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH};
use crate::fill::{config_maps, fill};
use crate::stage::{NAMESPACE, Stage};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Variables of the Deployment's container.
const VARIABLES: usize = 10_000;
/// Its finalizers.
const FINALIZERS: usize = 2_000;
/// Operations of a JSON patch; upstream allows 10,000.
const STEPS: usize = 9_900;
/// Tests that compare all variables.
const TESTS: usize = 7;
/// Copies that double the data.
const COPIES: usize = 40;
/// Levels of deep values.
const LEVELS: usize = 10_000;
/// Keys of wide objects.
const KEYS: usize = 100_000;
/// Bytes of copied data.
const COPIED_BYTES: usize = 1_000;

/// Creates the Deployment and the config map to patch.
pub(super) async fn prepare(stage: &Stage) -> Outcome {
    fill(stage, 1, |_| {
        let object = wide_deployment().to_string();
        Call::post("set up", deployments(), object)
    })
    .await?;
    fill(stage, 1, |_| {
        let object = json!({
            "metadata": {"name": "patched"},
            "data": {"value": "x".repeat(COPIED_BYTES)},
        });
        Call::post("set up", config_maps(), object.to_string())
    })
    .await
}

/// Returns all patches.
pub(super) fn calls() -> Vec<Call> {
    let deployment = deployments() + "/wide?dryRun=All";
    let config_map = config_maps() + "/patched?dryRun=All";
    let of_deployment = |label, kind, patch: Value| {
        Call::patch(label, deployment.as_str(), kind, patch.to_string())
    };
    let of_config_map =
        |label, kind, patch: String| Call::patch(label, config_map.as_str(), kind, patch);
    vec![
        of_deployment("JSON patch, inserts at the front", JSON_PATCH, inserts()),
        of_deployment("JSON patch, moves to the front", JSON_PATCH, moves()),
        of_config_map("JSON patch, copies", JSON_PATCH, copies().to_string()),
        of_deployment("JSON patch, tests", JSON_PATCH, tests_of_all()),
        of_deployment("strategic, all by name", STRATEGIC_PATCH, by_name()),
        of_deployment("strategic, order", STRATEGIC_PATCH, reversed_order()),
        of_deployment("strategic, deletions", STRATEGIC_PATCH, deletions()),
        of_deployment("strategic, primitive list", STRATEGIC_PATCH, primitives()),
        of_config_map("merge patch, deep", MERGE_PATCH, deep()),
        of_config_map("merge patch, wide", MERGE_PATCH, wide()),
    ]
}

fn deployments() -> String {
    format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments")
}

fn variable(number: usize) -> Value {
    json!({"name": format!("V{number:05}"), "value": "x"})
}

fn finalizer(number: usize) -> String {
    format!("example.com/f{number:05}")
}

fn wide_deployment() -> Value {
    let variables: Vec<Value> = (0..VARIABLES).map(variable).collect();
    let finalizers: Vec<String> = (0..FINALIZERS).map(finalizer).collect();
    json!({
        "metadata": {"name": "wide", "finalizers": finalizers},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "wide"}},
            "template": {
                "metadata": {"labels": {"app": "wide"}},
                "spec": {
                    "containers": [
                        {"name": "main", "image": "registry.example/app:1", "env": variables},
                    ],
                },
            },
        },
    })
}

/// Returns a strategic merge patch of the container.
fn of_container(fields: Value) -> Value {
    let mut container = json!({"name": "main"});
    if let (Value::Object(container), Value::Object(fields)) = (&mut container, fields) {
        container.extend(fields);
    }
    json!({"spec": {"template": {"spec": {"containers": [container]}}}})
}

/// Each operation moves all variables by one place.
fn inserts() -> Value {
    let path = "/spec/template/spec/containers/0/env/0";
    let step = |number| {
        let value = json!({"name": format!("W{number:05}"), "value": "x"});
        json!({"op": "add", "path": path, "value": value})
    };
    (0..STEPS).map(step).collect()
}

/// Each operation moves the last one to the front.
fn moves() -> Value {
    let list = "/spec/template/spec/containers/0/env";
    let (from, path) = (format!("{list}/{}", VARIABLES - 1), format!("{list}/0"));
    let step = |_| json!({"op": "move", "from": from, "path": path});
    (0..STEPS).map(step).collect()
}

/// Each operation doubles the data.
fn copies() -> Value {
    let step = |number| json!({"op": "copy", "from": "/data", "path": format!("/data/c{number}")});
    (0..COPIES).map(step).collect()
}

/// Each operation compares the whole list with itself.
fn tests_of_all() -> Value {
    let path = "/spec/template/spec/containers/0/env";
    let value: Vec<Value> = (0..VARIABLES).map(variable).collect();
    let step = json!({"op": "test", "path": path, "value": value});
    Value::Array(vec![step; TESTS])
}

fn by_name() -> Value {
    let changed = |number| json!({"name": format!("V{number:05}"), "value": "y"});
    let variables: Vec<Value> = (0..VARIABLES).rev().map(changed).collect();
    of_container(json!({"env": variables}))
}

fn reversed_order() -> Value {
    let name = |number| json!({"name": format!("V{number:05}")});
    let order: Vec<Value> = (0..VARIABLES).rev().map(name).collect();
    let variables: Vec<Value> = (0..VARIABLES).rev().map(variable).collect();
    of_container(json!({"$setElementOrder/env": order, "env": variables}))
}

fn deletions() -> Value {
    let delete = |number| json!({"name": format!("V{number:05}"), "$patch": "delete"});
    let variables: Vec<Value> = (0..VARIABLES).rev().map(delete).collect();
    of_container(json!({"env": variables}))
}

fn primitives() -> Value {
    let deleted: Vec<String> = (0..FINALIZERS).step_by(2).map(finalizer).collect();
    let kept = (0..FINALIZERS).skip(1).step_by(2).rev().map(finalizer);
    let added: Vec<String> = (FINALIZERS..2 * FINALIZERS).map(finalizer).collect();
    let order: Vec<String> = kept.chain(added.iter().cloned()).collect();
    json!({
        "metadata": {
            "$deleteFromPrimitiveList/finalizers": deleted,
            "$setElementOrder/finalizers": order,
            "finalizers": added,
        },
    })
}

fn deep() -> String {
    let (open, close) = (r#"{"a":"#.repeat(LEVELS), "}".repeat(LEVELS));
    format!(r#"{{"data":{open}1{close}}}"#)
}

fn wide() -> String {
    let mut text = r#"{"data":{"#.to_owned();
    for number in 0..KEYS {
        let comma = if number == 0 { "" } else { "," };
        write!(text, r#"{comma}"k{number:06}":null"#).expect("a string takes what it is given");
    }
    text + "}}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fit_into_what_a_body_may_have() {
        for call in calls() {
            let bytes = call.body().len();
            assert!((100..=3 << 20).contains(&bytes), "{}: {bytes}", call.label);
        }
        assert!(wide_deployment().to_string().len() < 1_500_000);
    }

    #[test]
    fn those_that_are_meant_to_be_json_are() {
        let patch: Value = serde_json::from_str(&wide()).unwrap();
        assert_eq!(patch["data"].as_object().unwrap().len(), KEYS);
        let patch = of_container(json!({"env": []}));
        let container = &patch["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(*container, json!({"name": "main", "env": []}));
        assert_eq!(inserts().as_array().unwrap().len(), STEPS);
    }
}
