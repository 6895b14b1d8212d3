//! The three types of patches: valid, failing, and malformed.

use crate::mutation;
use crate::plan::{Made, Plan};
use crate::random::Random;
use crate::step::{Body, Edit, Step};
use serde_json::{Value, json};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

pub(super) fn advance(plan: &mut Plan<'_>) {
    let made = plan.some();
    let mut path = made.path.clone();
    if plan.random.percent(8) {
        path.push_str("-not-there");
    } else if !made.kind.subresources.is_empty() && plan.random.percent(10) {
        path = format!("{path}/{}", plan.random.pick(made.kind.subresources));
    }
    let step = plan.step("PATCH", path);
    let step = match plan.random.below(100) {
        0..36 => {
            let operations = json_patch(plan, &made);
            step.body(JSON_PATCH, Body::Json(operations))
        }
        36..62 => {
            let patch = merge(plan, &made);
            step.body(MERGE, Body::Json(patch))
        }
        62..86 => {
            let patch = strategic(plan, &made);
            step.body(STRATEGIC, Body::Json(patch))
        }
        _ => no_patch(plan, step),
    };
    let step = plan.with_write_options(step);
    plan.push(step);
    if plan.random.percent(20) {
        let step = plan.step("GET", made.path);
        plan.push(step);
    }
}

/// Returns some operations; usually the last one may fail.
fn json_patch(plan: &mut Plan<'_>, made: &Made<'_>) -> Value {
    let count = 1 + plan.random.below(3);
    let operations = (0..count).map(|_| {
        if plan.random.percent(45) {
            odd_operation(&mut plan.random)
        } else {
            match mutation::edit(&made.object, plan.catalogue, &mut plan.random) {
                Edit::Remove(path) => json!({"op": "remove", "path": path}),
                Edit::Set(path, value) => {
                    let op = *plan.random.pick(&["add", "replace", "test", "add"]);
                    json!({"op": op, "path": path, "value": value})
                }
            }
        }
    });
    Value::Array(operations.collect())
}

fn odd_operation(random: &mut Random) -> Value {
    match random.below(26) {
        0 => json!({"op": "test", "path": "/metadata/name", "value": "wrong"}),
        1 => json!({"op": "test", "path": "/metadata/uid", "value": null}),
        2 => json!({"op": "test", "path": "/not/there", "value": 1}),
        3 => json!({"op": "test", "path": "/not-there", "value": null}),
        4 => json!({"op": "remove", "path": "/not/there"}),
        5 => json!({"op": "remove", "path": "/metadata/labels/none"}),
        6 => json!({"op": "replace", "path": "/metadata/labels/none", "value": "a"}),
        7 => json!({"op": "add", "path": "/metadata/labels/a~1b", "value": "c"}),
        8 => json!({"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}),
        9 => json!({"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/a"}),
        10 => json!({"op": "add", "path": "/metadata/finalizers/7", "value": "example.com/a"}),
        11 => json!({"op": "add", "path": "/metadata/finalizers/x", "value": "example.com/a"}),
        12 => json!({"op": "add", "path": "/spec/containers/-1", "value": {"name": "x"}}),
        13 => json!({"op": "add", "path": "", "value": {"metadata": {}}}),
        14 => json!({"op": "add", "path": "no-slash", "value": 1}),
        15 => json!({"op": "remove", "path": ""}),
        16 => json!({"op": "copy", "from": "/metadata/name", "path": "/metadata/labels/name"}),
        17 => json!({"op": "copy", "from": "/not/there", "path": "/metadata/labels/name"}),
        18 => json!({"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"}),
        19 => json!({"op": "move", "from": "/metadata", "path": "/metadata/annotations"}),
        20 => json!({"op": "move", "path": "/metadata/annotations"}),
        21 => json!({"op": "unknown", "path": "/metadata/labels"}),
        22 => json!({"path": "/metadata/labels", "value": {}}),
        23 => json!({"op": "add", "value": {}}),
        24 => json!({"op": "add", "path": "/metadata/labels"}),
        _ => json!({"op": "replace", "path": "/metadata/name", "value": "renamed"}),
    }
}

/// Returns some changed fields of the object.
fn merge(plan: &mut Plan<'_>, made: &Made<'_>) -> Value {
    let mut patch = json!({});
    for edit in plan.edits(&made.object) {
        match edit {
            Edit::Remove(pointer) => Edit::Set(pointer, Value::Null).apply(&mut patch),
            // A list has to exist before an item of it can be set.
            Edit::Set(pointer, value) => {
                let pointer = pointer.split("/0").next().unwrap_or_default();
                let pointer = pointer.trim_end_matches("/-");
                Edit::Set(pointer.to_owned(), value).apply(&mut patch);
            }
        }
    }
    if plan.random.percent(15) {
        let version = *plan.random.pick(&["{{0.rv}}", "1", "", "x"]);
        Edit::Set("/metadata/resourceVersion".to_owned(), json!(version)).apply(&mut patch);
    }
    if plan.random.percent(6) {
        let uid = "11111111-2222-3333-4444-555555555555";
        Edit::Set("/metadata/uid".to_owned(), json!(uid)).apply(&mut patch);
    }
    patch
}

fn strategic(plan: &mut Plan<'_>, made: &Made<'_>) -> Value {
    let is_template = made
        .object
        .pointer("/spec/template/spec/containers")
        .is_some();
    let pod = |spec: Value| {
        if is_template {
            json!({"spec": {"template": {"spec": spec}}})
        } else {
            json!({"spec": spec})
        }
    };
    match plan.random.below(20) {
        0 => pod(json!({"containers": [{"name": "main", "image": "registry.example/main:2"}]})),
        1 => pod(json!({"containers": [{"name": "second", "image": "a:1"}]})),
        2 => pod(json!({"containers": [{"image": "without.name/a:1"}]})),
        3 => pod(json!({"containers": [{"name": "main", "$patch": "delete"}]})),
        4 => pod(json!({"containers": [{"name": "main", "$patch": "unknown"}]})),
        5 => pod(json!({"containers": [{"$patch": "replace"}, {"name": "only", "image": "b:1"}]})),
        6 => pod(json!({"$setElementOrder/containers": [{"name": "main"}], "containers": []})),
        7 => pod(json!({"$setElementOrder/containers": [{"name": "other"}],
            "containers": [{"name": "main", "image": "c:1"}]})),
        8 => pod(json!({"$retainKeys": ["containers"], "containers": [{"name": "main"}]})),
        9 => pod(json!({"$retainKeys": ["volumes"], "containers": [{"name": "main"}]})),
        10 => json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/keep"]}}),
        11 => json!({"metadata": {"finalizers": ["example.com/keep", "example.com/other"]}}),
        12 => json!({"metadata": {"labels": {"$patch": "replace", "only": "one"}}}),
        13 => json!({"metadata": {"labels": {"$patch": 7}}}),
        14 => json!({"$patch": "delete"}),
        15 => json!({"$patch": "unknown", "metadata": {"labels": {"a": "b"}}}),
        16 => json!({"spec": {"ports": [{"port": 80, "name": "renamed"}, {"port": 81}]}}),
        17 => json!({"spec": "text"}),
        18 => pod(json!({"containers": "text"})),
        _ => merge(plan, made),
    }
}

/// Adds a patch whose body is not one.
fn no_patch(plan: &mut Plan<'_>, step: Step) -> Step {
    let media = *plan.random.pick(&[JSON_PATCH, MERGE, STRATEGIC]);
    let text = *plan.random.pick(&[
        "",
        "null",
        "[]",
        "{}",
        "7",
        "\"text\"",
        "[7]",
        "[null]",
        "[{}]",
        "[{\"op\":\"add\",\"path\":7}]",
        "[{\"op\":7,\"path\":\"/a\"}]",
        "{\"op\":\"add\"}",
        "{\"metadata\":",
        "[{\"op\":\"add\",",
        "{\"metadata\":{}} trailing",
        "{\"metadata\":[]}",
        "{\"metadata\":{\"labels\":{\"a\":1}}}",
        "{\"metadata\":{\"labels\":[]}}",
        "{\"metadata\":{\"labels\":{\"a\":\"b\",\"a\":\"c\"}}}",
        "{\"unknownField\":{\"a\":null}}",
        "{'a':1}",
    ]);
    let media = match plan.random.below(12) {
        0 => "application/json",
        1 => "text/plain",
        2 => "application/merge-patch+json; charset=utf-8",
        3 => "",
        4 => "application/vnd.kubernetes.protobuf",
        _ => media,
    };
    step.body(media, Body::Text(text.to_owned()))
}
