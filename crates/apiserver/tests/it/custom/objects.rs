//! Custom objects: every supported operation, and the errors of all others.

use super::{WIDGETS, defined, defined_as, definition, widget};
use crate::client::{Client, silent_server};
use http::Version;
use serde_json::{Value, json};

#[tokio::test]
async fn a_defined_resource_has_all_verbs() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let created = client.post(WIDGETS, &widget("a")).await;
    assert_eq!(created.code, 201);
    let created = created.json();
    assert_eq!(created["spec"], widget("a")["spec"]);
    let one = format!("{WIDGETS}/a");
    assert_eq!(client.get(&one).await.json(), created);
    let merge = "application/merge-patch+json";
    let patched = client
        .ask("PATCH", &one, merge, r#"{"spec": {"size": 4}}"#)
        .await;
    assert_eq!(
        (patched.code, &patched.json()["spec"]["size"]),
        (200, &json!(4))
    );
    let json_patch = r#"[{"op": "replace", "path": "/spec/size", "value": 5}]"#;
    let patched = client
        .ask("PATCH", &one, "application/json-patch+json", json_patch)
        .await;
    assert_eq!(patched.json()["metadata"]["generation"], 3);
    let strategic = "application/strategic-merge-patch+json";
    let refused = client.ask("PATCH", &one, strategic, "{}").await;
    assert_eq!(refused.code, 415);
    let mut put = patched.json();
    put["spec"] = json!({"size": 6});
    let put = client
        .ask("PUT", &one, "application/json", put.to_string())
        .await;
    assert_eq!((put.code, &put.json()["spec"]), (200, &json!({"size": 6})));
    let protobuf = "application/vnd.kubernetes.protobuf";
    assert_eq!(client.ask("POST", WIDGETS, protobuf, "k8s").await.code, 415);

    let list = client.get(WIDGETS).await.json();
    assert_eq!(list["kind"], "WidgetList");
    assert_eq!(list["metadata"]["continue"], "");
    assert_eq!(list["items"][0]["kind"], "Widget");
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut picky = Client::in_memory(&server, Version::HTTP_2).await;
    picky = picky.header("accept", table);
    let table = picky.get(WIDGETS).await.json();
    assert_eq!(table["rows"][0]["cells"], json!(["a", 6]));
    assert_eq!(table["columnDefinitions"][1]["name"], "Size");
    let watch = client
        .get(&format!("{WIDGETS}?watch=true&timeoutSeconds=1"))
        .await;
    let event: Value = serde_json::from_slice(&watch.bytes).expect("it is one event");
    assert_eq!(
        (&event["type"], &event["object"]["kind"]),
        (&json!("ADDED"), &json!("Widget"))
    );

    let deleted = client.ask("DELETE", &one, "application/json", "").await;
    assert_eq!(deleted.json()["details"]["kind"], "widgets");
    client.post(WIDGETS, &widget("b")).await;
    let all = client.ask("DELETE", WIDGETS, "application/json", "").await;
    assert_eq!(all.json()["items"][0]["metadata"]["name"], "b");
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_of_another_kind_or_version_is_refused() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let mut other = widget("a");
    other["kind"] = json!("Gadget");
    let answer = client.post(WIDGETS, &other).await;
    assert_eq!(answer.code, 422);
    assert_eq!(answer.json()["details"]["causes"][0]["field"], "kind");
    other["apiVersion"] = json!("example.com/v2");
    assert_eq!(client.post(WIDGETS, &other).await.code, 400);
    let mut wrong = widget("a");
    wrong["metadata"] = json!({"name": 1});
    assert_eq!(client.post(WIDGETS, &wrong).await.code, 400);
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let mut unknown = widget("a");
    unknown["metadata"]["nonsense"] = json!(1);
    assert_eq!(client.post(&strict, &unknown).await.code, 400);
    server.shutdown().await;
}

#[tokio::test]
async fn a_patch_cannot_change_what_a_custom_object_is() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    assert_eq!(client.post(WIDGETS, &widget("a")).await.code, 201);
    let one = format!("{WIDGETS}/a");
    let merge = "application/merge-patch+json";
    for (patch, message) in [
        (
            r#"{"kind":"x"}"#,
            "x.example.com \"a\" is invalid: kind: Invalid value: \"x\": must be Widget",
        ),
        (
            r#"{"apiVersion":"x/v1"}"#,
            "Widget.x \"a\" is invalid: apiVersion: Invalid value: \"x/v1\": must be \
             example.com/v1",
        ),
    ] {
        let answer = client.ask("PATCH", &one, merge, patch).await;
        assert_eq!(answer.json()["message"], message);
        let status = format!("{one}/status");
        let answer = client.ask("PATCH", &status, merge, patch).await;
        assert_eq!(
            (answer.code, &answer.json()["kind"]),
            (200, &json!("Widget"))
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_patched_custom_object_must_say_what_it_is() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    assert_eq!(client.post(WIDGETS, &widget("a")).await.code, 201);
    let one = format!("{WIDGETS}/a");
    let merge = "application/merge-patch+json";
    for (patch, code, part) in [
        (r#"{"kind":null}"#, 422, ": Object 'Kind' is missing in '{"),
        (
            r#"{"kind":7}"#,
            422,
            ": couldn't get version/kind; json parse error: json: cannot unmarshal number into Go \
             struct field .kind of type string",
        ),
        (
            r#"{"apiVersion":"a/b/c"}"#,
            422,
            ": unexpected GroupVersion string: a/b/c",
        ),
        (
            r#"{"apiVersion":"x/v1","kind":"X"}"#,
            422,
            "X.x \"a\" is invalid: [kind: Invalid value: \"X\": must be Widget, apiVersion: Invalid \
             value: \"x/v1\": must be example.com/v1]",
        ),
        (
            r#"{"apiVersion":null}"#,
            400,
            "Object 'apiVersion' is missing in 'object has no apiVersion field'",
        ),
    ] {
        let answer = client.ask("PATCH", &one, merge, patch).await;
        let message = answer.json()["message"].to_string().replace("\\\"", "\"");
        assert_eq!(answer.code, code, "{message}");
        assert!(message.contains(part), "{message}");
    }
    let unknown = client.ask("PATCH", &one, "text/plain", "{}").await;
    assert_eq!(
        (unknown.code, unknown.json()["message"].as_str()),
        (
            415,
            Some(
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, \
                 application/apply-patch+yaml"
            )
        )
    );
    server.shutdown().await;
}

#[tokio::test]
async fn finalizers_without_a_domain_are_warned_of_when_they_come() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let mut one = widget("a");
    one["metadata"]["finalizers"] = json!(["x", "orphan", "example.com/y"]);
    let made = client.post(WIDGETS, &one).await;
    assert_eq!(made.code, 201);
    let warning = "299 - \"metadata.finalizers: \\\"x\\\": prefer a domain-qualified finalizer name to \
                   avoid accidental conflicts with other finalizer writers\"";
    assert_eq!(made.header("warning"), warning);
    let mut dotted = widget("b");
    dotted["metadata"]["finalizers"] = json!(["example.com"]);
    let made = client.post(WIDGETS, &dotted).await;
    let warning = "prefer a domain-qualified finalizer name including a path (/) to avoid";
    assert!(made.header("warning").contains(warning));
    let patch = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let merge = "application/merge-patch+json";
    let path = format!("{WIDGETS}/a");
    let changed = client.ask("PATCH", &path, merge, patch).await;
    assert_eq!((changed.code, changed.header("warning")), (200, ""));
    server.shutdown().await;
}

#[tokio::test]
async fn unsupported_operations_of_a_defined_resource_have_upstreams_errors() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    assert_eq!(client.post(WIDGETS, &widget("a")).await.code, 201);
    let one = format!("{WIDGETS}/a");
    let nowhere = "/apis/example.com/v1/widgets";
    for (method, path) in [
        ("GET", "/apis/example.com/v2"),
        ("GET", "/apis/example.com/v2/widgets"),
        ("GET", "/apis/example.com/v1/unknown"),
        ("POST", nowhere),
        ("DELETE", nowhere),
        ("GET", "/apis/example.com/v1/widgets/a"),
    ] {
        let answer = client.ask(method, path, "application/json", "{}").await;
        let text = (answer.code, &answer.bytes[..]);
        assert_eq!(text, (404, &b"404 page not found\n"[..]), "{method} {path}");
    }
    for (method, path, code, message) in [
        (
            "GET",
            format!("{one}/none"),
            404,
            "widgets.example.com \"a\" not found",
        ),
        (
            "DELETE",
            format!("{one}/status"),
            405,
            "delete is not supported on resources of kind \"widgets.example.com\"",
        ),
        ("PUT", WIDGETS.to_owned(), 400, "name must be provided"),
        (
            "POST",
            WIDGETS.to_owned(),
            400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is \
             missing in '{}' ({})",
        ),
        (
            "POST",
            format!("{WIDGETS}?fieldValidation=Ignore"),
            400,
            "Widget in version \"v1\" cannot be handled as a Widget: Object 'Kind' is missing in \
             '{}'",
        ),
        (
            "GET",
            format!("{WIDGETS}?fieldSelector=spec.size%3D2"),
            400,
            "field label not supported: spec.size",
        ),
    ] {
        let answer = client.ask(method, &path, "application/json", "{}").await;
        let found = answer.json()["message"].clone();
        assert_eq!(
            (answer.code, found),
            (code, json!(message)),
            "{method} {path}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_in_no_namespace_is_not_there_but_for_lists() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    defined(&mut client).await;
    let everywhere = "/apis/example.com/v1/widgets";
    assert_eq!(client.get(everywhere).await.code, 200);
    assert_eq!(
        client
            .get(&format!("{everywhere}?watch=1&timeoutSeconds=1"))
            .await
            .code,
        200
    );
    let one = format!("{everywhere}/a");
    let json = "application/json";
    let body = widget("a").to_string();
    for (method, path) in [
        ("POST", everywhere),
        ("DELETE", everywhere),
        ("PUT", &one),
        ("PATCH", &one),
        ("GET", &one),
        ("DELETE", &one),
    ] {
        let answer = client.ask(method, path, json, body.clone()).await;
        assert_eq!(answer.code, 404, "{method} {path}");
        assert_eq!(answer.bytes, "404 page not found\n", "{method} {path}");
    }
    let pods = client.ask("POST", "/api/v1/pods", json, body).await;
    assert_eq!(pods.code, 405, "a built-in one has such a path");
    client.post(WIDGETS, &widget("a")).await;
    let part = client.get(&format!("{WIDGETS}/a/scale")).await;
    assert_eq!(part.code, 404);
    let message = &part.json()["message"];
    assert_eq!(*message, "widgets.example.com \"a\" not found");
    server.shutdown().await;
}

#[tokio::test]
async fn the_scale_of_a_custom_resource_takes_no_strategic_patch() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut scaled = definition();
    scaled["spec"]["versions"][0]["subresources"]["scale"] = json!({
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
    });
    defined_as(&mut client, &scaled).await;
    let mut one = widget("a");
    one["spec"]["replicas"] = json!(1);
    client.post(WIDGETS, &one).await;
    let (part, body) = (format!("{WIDGETS}/a/scale"), r#"{"spec": {"replicas": 3}}"#);
    let strategic = "application/strategic-merge-patch+json";
    let refused = client.ask("PATCH", &part, strategic, body).await;
    assert_eq!(refused.code, 415, "{refused:?}");
    let merged = client
        .ask("PATCH", &part, "application/merge-patch+json", body)
        .await;
    assert_eq!(merged.code, 200, "{merged:?}");
    assert_eq!(merged.json()["spec"]["replicas"], 3);
    server.shutdown().await;
}
