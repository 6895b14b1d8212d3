//! Schemas of custom resources: pruning, defaults and validation over HTTP.

use super::{DEFINITIONS, WIDGETS, defined_as, definition};
use crate::client::{Answer, Client, silent_server};
use http::Version;
use serde_json::{Value, json};
use std::time::Duration;

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

/// A definition whose `spec` and `status` have these properties.
fn definition_with(spec: &Value) -> Value {
    let mut definition = definition();
    let version = &mut definition["spec"]["versions"][0];
    version["schema"]["openAPIV3Schema"] = json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": spec},
            "status": {"type": "object", "properties": {
                "ready": {"type": "integer", "minimum": 0},
            }},
        },
    });
    definition
}

fn sizes() -> Value {
    definition_with(&json!({
        "size": {"type": "integer", "default": 1, "maximum": 3},
        "name": {"type": "string", "maxLength": 3},
        "ports": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
            "items": {"type": "object", "required": ["port"], "properties": {
                "port": {"type": "integer"},
                "protocol": {"type": "string", "default": "TCP", "enum": ["TCP", "UDP"]},
            }},
        },
    }))
}

fn widget(name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name}, "spec": spec,
    })
}

fn message(answer: &Answer) -> String {
    answer.json()["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Replaces the schema of the definition, and waits until `served` holds of a read.
async fn redefine(client: &mut Client, next: &Value, path: &str, served: fn(&Value) -> bool) {
    let one = format!("{DEFINITIONS}/widgets.example.com");
    let mut current = client.get(&one).await.json();
    current["spec"]["versions"] = next["spec"]["versions"].clone();
    let put = client.ask("PUT", &one, JSON, current.to_string()).await;
    assert_eq!(put.code, 200, "{put:?}");
    for _ in 0..500 {
        if served(&client.get(path).await.json()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the schema is never in use: {:?}", client.get(path).await);
}

#[tokio::test]
async fn unknown_fields_are_pruned_reported_or_refused() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined_as(&mut client, &sizes()).await;
    let body = widget(
        "a",
        json!({"size": 2, "color": "red", "ports": [{"port": 1, "x": 2}]}),
    );
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let refused = client.post(&strict, &body).await;
    assert_eq!(refused.code, 400);
    assert_eq!(
        message(&refused),
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown \
         field \"spec.color\", unknown field \"spec.ports[0].x\""
    );
    let created = client.post(WIDGETS, &body).await;
    assert_eq!(created.code, 201);
    let expected = json!({"size": 2, "ports": [{"port": 1, "protocol": "TCP"}]});
    assert_eq!(created.json()["spec"], expected);
    let warnings: Vec<_> = created.headers.get_all("warning").iter().collect();
    assert_eq!(
        warnings,
        [
            "299 - \"unknown field \\\"spec.color\\\"\"",
            "299 - \"unknown field \\\"spec.ports[0].x\\\"\"",
        ]
    );
    let one = format!("{WIDGETS}/a");
    let ignoring = format!("{one}?fieldValidation=Ignore");
    let patch = r#"{"spec": {"size": 3, "more": {"deep": 1}}}"#;
    let patched = client.ask("PATCH", &ignoring, MERGE, patch).await;
    assert_eq!((patched.code, patched.header("warning")), (200, ""));
    assert_eq!(patched.json()["spec"]["more"], Value::Null);
    let strict = format!("{one}?fieldValidation=Strict");
    let refused = client.ask("PATCH", &strict, MERGE, patch).await;
    assert_eq!(refused.code, 422, "{refused:?}");
    assert!(
        message(&refused).ends_with("strict decoding error: unknown field \"spec.more\""),
        "{}",
        message(&refused)
    );
    server.shutdown().await;
}

#[tokio::test]
async fn invalid_objects_are_refused_with_upstreams_words() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined_as(&mut client, &sizes()).await;
    for (spec, expected) in [
        (
            json!({"size": 99}),
            "spec.size: Invalid value: 99: spec.size in body should be less than or equal to 3",
        ),
        (
            json!({"name": "long"}),
            "spec.name: Too long: may not be more than 3 bytes",
        ),
        (
            json!({"size": "2"}),
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \
             \"string\"",
        ),
        (
            json!({"ports": [{"protocol": "TCP"}]}),
            "spec.ports[0].port: Required value",
        ),
        (
            json!({"ports": [{"port": 1, "protocol": "SCTP"}]}),
            "spec.ports[0].protocol: Unsupported value: \"SCTP\": supported values: \"TCP\", \"UDP\"",
        ),
        (
            json!({"ports": [{"port": 1}, {"port": 1}]}),
            "spec.ports[1]: Duplicate value: {\"port\":1}",
        ),
    ] {
        let refused = client.post(WIDGETS, &widget("a", spec)).await;
        let head = "Widget.example.com \"a\" is invalid: ";
        assert_eq!(
            (refused.code, message(&refused)),
            (422, format!("{head}{expected}"))
        );
    }
    assert_eq!(client.get(&format!("{WIDGETS}/a")).await.code, 404);
    server.shutdown().await;
}

#[tokio::test]
async fn nulls_become_defaults_or_are_removed() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined_as(&mut client, &sizes()).await;
    let body = widget("a", json!({"size": null, "name": null}));
    let created = client.post(WIDGETS, &body).await;
    assert_eq!(
        (created.code, &created.json()["spec"]),
        (201, &json!({"size": 1}))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn stored_objects_are_read_by_the_schema_of_today() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined_as(&mut client, &sizes()).await;
    let created = client
        .post(WIDGETS, &widget("a", json!({"size": 2, "name": "x"})))
        .await;
    let version = created.json()["metadata"]["resourceVersion"].clone();
    // The name is gone, and there is a color.
    let mut next = definition_with(&json!({
        "size": {"type": "integer"},
        "color": {"type": "string", "default": "red"},
    }));
    next["spec"]["versions"][0]["selectableFields"] = json!([{"jsonPath": ".spec.color"}]);
    let one = format!("{WIDGETS}/a");
    redefine(&mut client, &next, &one, |it| it["spec"]["color"] == "red").await;
    let expected = json!({"size": 2, "color": "red"});
    let read = client.get(&one).await.json();
    assert_eq!(read["spec"], expected);
    assert_eq!(read["metadata"]["resourceVersion"], version);
    for query in ["", "?resourceVersion=0", "?fieldSelector=spec.color%3Dred"] {
        let list = client.get(&format!("{WIDGETS}{query}")).await.json();
        assert_eq!(list["items"][0]["spec"], expected, "{query}");
    }
    let other = format!("{WIDGETS}?fieldSelector=spec.color%3Dblue");
    assert_eq!(client.get(&other).await.json()["items"], json!([]));
    let watch = format!("{WIDGETS}?watch=true&timeoutSeconds=1&fieldSelector=spec.color%3Dred");
    let watched = client.get(&watch).await;
    let event: Value = serde_json::from_slice(&watched.bytes).expect("it is one event");
    assert_eq!(event["object"]["spec"], expected);
    server.shutdown().await;
}

#[tokio::test]
async fn invalid_values_that_do_not_change_pass_an_update() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined_as(&mut client, &sizes()).await;
    let created = client
        .post(WIDGETS, &widget("a", json!({"size": 3, "name": "x"})))
        .await;
    assert_eq!(created.code, 201);
    let tight = definition_with(&json!({
        "size": {"type": "integer", "maximum": 2, "default": 1},
        "name": {"type": "string", "default": "y"},
        "new": {"type": "string", "default": "here"},
    }));
    let one = format!("{WIDGETS}/a");
    redefine(&mut client, &tight, &one, |it| it["spec"]["new"] == "here").await;
    let patched = client
        .ask("PATCH", &one, MERGE, r#"{"spec": {"name": "z"}}"#)
        .await;
    assert_eq!(patched.code, 200, "{patched:?}");
    let refused = client
        .ask("PATCH", &one, MERGE, r#"{"spec": {"size": 4}}"#)
        .await;
    assert_eq!(refused.code, 422);
    server.shutdown().await;
}

#[tokio::test]
async fn a_status_is_validated_where_it_is_written() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined_as(&mut client, &sizes()).await;
    client.post(WIDGETS, &widget("a", json!({}))).await;
    let status = format!("{WIDGETS}/a/status");
    let refused = client
        .ask("PATCH", &status, MERGE, r#"{"status": {"ready": -1}}"#)
        .await;
    assert_eq!(
        (refused.code, message(&refused)),
        (
            422,
            "Widget.example.com \"a\" is invalid: status.ready: Invalid value: -1: ready in \
             body should be greater than or equal to 0"
                .to_owned()
        )
    );
    let patch = r#"{"status": {"ready": 1, "x": 2}, "spec": {"size": 99}}"#;
    let patched = client.ask("PATCH", &status, MERGE, patch).await;
    assert_eq!(
        (
            patched.code,
            &patched.json()["status"],
            &patched.json()["spec"]
        ),
        (200, &json!({"ready": 1}), &json!({"size": 1}))
    );
    server.shutdown().await;
}

/// As upstream: what is refused for its version is judged by the schema of that version first.
#[tokio::test]
async fn unknown_fields_of_another_version_are_reported_before_it_is_refused() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut definition = sizes();
    let mut second =
        definition_with(&json!({"width": {"type": "integer"}}))["spec"]["versions"][0].take();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    push(&mut definition, second);
    defined_as(&mut client, &definition).await;
    let of = |version: &str, kind: &str| {
        let mut body = widget("a", json!({"width": 1, "x": 2}));
        body["apiVersion"] = json!(version);
        body["kind"] = json!(kind);
        body.to_string()
    };
    for (version, kind, warning) in [
        (
            "example.com/v2",
            "Widget",
            "299 - \"unknown field \\\"spec.x\\\"\"",
        ),
        (
            "example.com/v3",
            "Widget",
            "299 - \"unknown field \\\"spec\\\"\"",
        ),
        ("other.com/v3", "Widget", ""),
        ("example.com/v3", "Gadget", ""),
    ] {
        let answer = client.ask("POST", WIDGETS, JSON, of(version, kind)).await;
        assert_eq!(
            (answer.code, answer.header("warning")),
            (400, warning),
            "{version}"
        );
        assert_eq!(
            message(&answer),
            format!(
                "the API version in the data ({version}) does not match the expected API version \
                 (example.com/v1)"
            )
        );
    }
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let answer = client
        .ask("POST", &strict, JSON, of("example.com/v3", "Widget"))
        .await;
    assert_eq!(
        message(&answer),
        "Widget in version \"v3\" cannot be handled as a Widget: strict decoding error: unknown \
         field \"spec\""
    );
    server.shutdown().await;
}

fn push(definition: &mut Value, version: Value) {
    let versions = definition["spec"]["versions"].as_array_mut();
    versions.expect("it has versions").push(version);
}
