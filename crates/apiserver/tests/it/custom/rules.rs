//! CEL rules of custom resources over HTTP: definitions and objects that they refuse.

use super::{DEFINITIONS, WIDGETS, defined_as, definition};
use crate::client::{Answer, Client, silent_server};
use http::Version;
use serde_json::{Value, json};
use std::time::Duration;

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

fn definition_with(schema: Value) -> Value {
    let mut definition = definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema;
    definition
}

/// A definition whose `spec` has this schema.
fn with_spec(spec: Value) -> Value {
    definition_with(json!({"type": "object", "properties": {
        "spec": spec,
        "status": {"type": "object", "properties": {
            "ready": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]},
        }},
    }}))
}

fn widget(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec})
}

fn message(answer: &Answer) -> String {
    answer.json()["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[track_caller]
fn refused_with(answer: &Answer, words: &str) {
    assert_eq!(answer.code, 422, "{answer:?}");
    let message = message(answer);
    assert!(message.contains(words), "{message}\nlacks\n{words}");
}

/// The schema of upstream's conformance tests.
fn conformance_spec() -> Value {
    json!({
        "type": "object",
        "x-kubernetes-validations": [{"rule": "self.x + self.y > 0"}],
        "properties": {
            "x": {"type": "integer"}, "y": {"type": "integer"},
            "largeArray": {
                "type": "array", "maxItems": 725, "items": {"type": "integer"},
                "x-kubernetes-validations": [
                    {"rule": "self.all(x, self.all(y, x == y))"},
                ],
            },
        },
    })
}

#[tokio::test]
async fn definitions_with_wrong_or_expensive_rules_are_refused() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let integer = json!({"x": {"type": "integer"}});
    let texts = json!({"type": "array", "items": {"type": "string"},
        "x-kubernetes-validations": [{"rule": "self.all(s, s == 'string constant')"}]});
    for (spec, words) in [
        (
            json!({"type": "object", "properties": integer,
                "x-kubernetes-validations": [{"rule": "self.z == 100"}]}),
            "undefined field 'z'",
        ),
        (
            json!({"type": "object", "x-kubernetes-validations": [{"rule": "self = 42"}]}),
            "Syntax error",
        ),
        (
            json!({"type": "object", "properties": {"x": {"type": "array", "items": texts}}}),
            "exceeds budget",
        ),
    ] {
        let refused = client.post(DEFINITIONS, &with_spec(spec)).await;
        refused_with(&refused, words);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn objects_that_fail_a_rule_are_refused_with_its_message() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined_as(&mut client, &with_spec(conformance_spec())).await;
    let refused = client.post(WIDGETS, &widget(json!({"x": 0, "y": 0}))).await;
    refused_with(
        &refused,
        "Widget.example.com \"a\" is invalid: spec: Invalid value: failed rule: self.x + self.y > 0",
    );
    let many = vec![1; 725];
    let large = widget(json!({"x": 1, "y": 0, "largeArray": many}));
    let refused = client.post(WIDGETS, &large).await;
    refused_with(&refused, "call cost exceeds limit");
    let blocked = widget(json!({"x": "1", "y": 0}));
    let refused = client.post(WIDGETS, &blocked).await;
    refused_with(
        &refused,
        "<nil>: Invalid value: null: some validation rules were not checked because the object \
         was invalid; correct the existing errors to complete validation",
    );
    let nameless = json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"x": 0}});
    let refused = client.post(WIDGETS, &nameless).await;
    refused_with(
        &refused,
        "[metadata.name: Required value: name or generateName is required, <nil>: Invalid value: \
         null: some validation rules were not checked",
    );
    let valid = widget(json!({"x": 1, "y": 0, "largeArray": [2, 2]}));
    let created = client.post(WIDGETS, &valid).await;
    assert_eq!(created.code, 201, "{created:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn transition_rules_and_rules_of_the_status_apply_to_updates() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let number =
        json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf"}]});
    let spec = json!({"type": "object", "properties": {"num": number}});
    defined_as(&mut client, &with_spec(spec)).await;
    let created = client.post(WIDGETS, &widget(json!({"num": 10}))).await;
    assert_eq!(created.code, 201, "{created:?}");
    let one = format!("{WIDGETS}/a");
    let less = r#"{"spec": {"num": 9}}"#;
    let refused = client.ask("PATCH", &one, MERGE, less).await;
    refused_with(
        &refused,
        "spec.num: Invalid value: 9: failed rule: self > oldSelf",
    );
    let status = format!("{one}/status");
    let patch = r#"{"status": {"ready": 0}}"#;
    let refused = client.ask("PATCH", &status, MERGE, patch).await;
    refused_with(
        &refused,
        "status.ready: Invalid value: 0: failed rule: self > 0",
    );
    let more = r#"{"spec": {"num": 11}}"#;
    let updated = client.ask("PATCH", &one, MERGE, more).await;
    assert_eq!(updated.code, 200, "{updated:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn unchanged_values_pass_rules_that_came_later() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let fields = |rules: Value| {
        let text = json!({"type": "string", "maxLength": 9, "x-kubernetes-validations": rules});
        json!({"type": "object", "properties": {"a": text, "b": text}})
    };
    defined_as(&mut client, &with_spec(fields(json!([])))).await;
    let created = client
        .post(WIDGETS, &widget(json!({"a": "old", "b": "old"})))
        .await;
    assert_eq!(created.code, 201, "{created:?}");
    let definition = format!("{DEFINITIONS}/widgets.example.com");
    let mut current = client.get(&definition).await.json();
    let next = with_spec(fields(json!([{"rule": "self == 'foo'"}])));
    current["spec"]["versions"] = next["spec"]["versions"].clone();
    let put = client
        .ask("PUT", &definition, JSON, current.to_string())
        .await;
    assert_eq!(put.code, 200, "{put:?}");
    let one = format!("{WIDGETS}/a");
    let mut refused = None;
    for count in 0..500 {
        // The rules are in use when a change is refused.
        let patch = json!({"spec": {"a": format!("n{count}")}}).to_string();
        let answer = client.ask("PATCH", &one, MERGE, patch).await;
        if answer.code != 200 {
            refused = Some(answer);
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let refused = message(&refused.expect("the rules are in use"));
    assert!(
        refused.contains("spec.a: Invalid value") && !refused.contains("spec.b"),
        "{refused}"
    );
    let labelled = r#"{"metadata": {"labels": {"l": "x"}}}"#;
    let updated = client.ask("PATCH", &one, MERGE, labelled).await;
    assert_eq!(updated.code, 200, "{updated:?}");
    // Upstream names what it lets pass.
    let passed = "299 - \"spec.b: Invalid value: \\\"old\\\": failed rule: self == 'foo'\"";
    let warnings: Vec<_> = updated.headers.get_all("warning").iter().collect();
    assert!(
        warnings.contains(&&passed.parse().expect("it is a header")),
        "{warnings:?}"
    );
    server.shutdown().await;
}
