//! Patches that are refused, or odd: in upstream's words, by how closely they are read.

use crate::client::{Client, silent_server};
use http::Version;
use kubist_apiserver::RunningServer;
use serde_json::{Value, json};

const PATH: &str = "/api/v1/namespaces/default/configmaps/c";
const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

const NO_MAP: &str = "error decoding patch: json: cannot unmarshal array into Go value of type \
                      map[string]interface {}";

async fn with_one_object() -> (RunningServer, Client) {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let object = json!({"metadata": {"name": "c", "labels": {"a": "b"}}, "data": {"k": "v"}});
    let created = client
        .post("/api/v1/namespaces/default/configmaps", &object)
        .await;
    assert_eq!(created.code, 201);
    (server, client)
}

/// The code and the message of a patch that only tries.
async fn tried(client: &mut Client, query: &str, media: &str, patch: &str) -> (u16, String) {
    let path = format!("{PATH}?dryRun=All{query}");
    let answer = client.ask("PATCH", &path, media, patch.to_owned()).await;
    let message = answer.json()["message"].as_str().unwrap_or("").to_owned();
    (answer.code, message)
}

#[tokio::test]
async fn a_patch_is_read_as_closely_as_it_is_validated() {
    let (server, mut client) = with_one_object().await;
    for (query, media, patch, code, start) in [
        ("", MERGE, "[{}]", 400, NO_MAP),
        (
            "&fieldValidation=Ignore",
            MERGE,
            "[{\"a\":null}]",
            422,
            " \"\" is invalid: patch: Invalid value: \"[{}]\": couldn't get version/kind; json \
             parse error: json: cannot unmarshal array into Go value of type struct {",
        ),
        (
            "&fieldValidation=Ignore",
            MERGE,
            "{\"a\"",
            400,
            "Invalid JSON Patch",
        ),
        (
            "&fieldValidation=Ignore",
            JSON,
            "{}",
            400,
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (
            "",
            STRATEGIC,
            "{\"metadata\":{\"$retainKeys\":[\"x\"],\"labels\":{}}}",
            400,
            "invalid patch format of retainKeys",
        ),
        (
            "",
            STRATEGIC,
            "{\"metadata\":{\"labels\":{\"$patch\":7}}}",
            400,
            "unknown patch type: %!s(int64=7) in map: map[$patch:7]",
        ),
    ] {
        let (found, message) = tried(&mut client, query, media, patch).await;
        assert_eq!(found, code, "{patch}: {message}");
        assert!(message.starts_with(start), "{patch}: {message}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_patch_may_leave_out_what_the_object_is_but_not_say_otherwise() {
    let (server, mut client) = with_one_object().await;
    for patch in [json!({"kind": null}), json!({"kind": ""})] {
        let (code, message) = tried(&mut client, "", MERGE, &patch.to_string()).await;
        assert_eq!((code, message.as_str()), (200, ""), "{patch}");
    }
    for (patch, end) in [
        (
            json!({"kind": 7}),
            ": couldn't get version/kind; json parse error: json: cannot unmarshal number into Go \
             struct field .kind of type string",
        ),
        (
            json!({"apiVersion": "a/b/c"}),
            ": unexpected GroupVersion string: a/b/c",
        ),
        (
            json!({"apiVersion": "v2"}),
            ": no kind \"ConfigMap\" is registered for version \"v2\" in scheme \
             \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"",
        ),
    ] {
        let (code, message) = tried(&mut client, "", MERGE, &patch.to_string()).await;
        assert_eq!(code, 422, "{patch}: {message}");
        assert!(message.ends_with(end), "{patch}: {message}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn nothing_can_be_read_of_an_object_without_a_version() {
    let (server, mut client) = with_one_object().await;
    let patch = json!({"apiVersion": null}).to_string();
    let unnamed = "the name of the object (c based on URL) was undeterminable: name must be \
                   provided";
    let path = format!("{PATH}?dryRun=All");
    let answer = client.ask("PATCH", &path, MERGE, patch.clone()).await;
    assert_eq!(
        (answer.code, answer.json()["message"].as_str()),
        (400, Some(unnamed))
    );
    let warnings: Vec<&str> = answer
        .headers
        .get_all("warning")
        .iter()
        .filter_map(|it| it.to_str().ok())
        .collect();
    assert_eq!(
        warnings,
        [
            "299 - \"unknown field \\\"data\\\"\"",
            "299 - \"unknown field \\\"metadata\\\"\""
        ]
    );
    let (code, message) = tried(&mut client, "&fieldValidation=Strict", MERGE, &patch).await;
    assert_eq!(code, 422);
    let end = "strict decoding error: unknown field \"data\", unknown field \"metadata\"";
    assert!(message.ends_with(end), "{message}");
    server.shutdown().await;
}

#[tokio::test]
async fn the_outcome_is_quoted_as_go_writes_json() {
    let (server, mut client) = with_one_object().await;
    let patch = json!({"data": {"k": ["<&>"]}}).to_string();
    let (code, message) = tried(&mut client, "", MERGE, &patch).await;
    assert_eq!(code, 422);
    let quoted = r#"\"data\":{\"k\":[\"\\u003c\\u0026\\u003e\"]}"#;
    assert!(message.contains(quoted), "{message}");
    let (code, message) = tried(&mut client, "", STRATEGIC, &patch).await;
    assert_eq!(code, 422);
    assert!(message.contains("\"map[data:map[k:[<&>]]]\""), "{message}");
    server.shutdown().await;
}

#[tokio::test]
async fn claim_templates_have_their_kind_when_a_patch_sees_them() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let set = json!({"metadata": {"name": "s"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}],
    }});
    let path = "/apis/apps/v1/namespaces/default/statefulsets";
    assert_eq!(client.post(path, &set).await.code, 201);
    let test: Value = json!([{"op": "test", "path": "/spec/volumeClaimTemplates/0/kind",
        "value": "PersistentVolumeClaim"}]);
    let path = format!("{path}/s");
    let answer = client.ask("PATCH", &path, JSON, test.to_string()).await;
    assert_eq!(answer.code, 200);
    server.shutdown().await;
}

#[tokio::test]
async fn an_answer_arrives_whole_although_nobody_wants_the_body_of_the_request() {
    let (server, mut client) = with_one_object().await;
    for _ in 0..50 {
        let body = vec![b'x'; 200_000];
        let answer = client.ask("PATCH", PATH, "text/plain", body).await;
        assert_eq!(answer.code, 415);
        assert_eq!(answer.json()["reason"], "UnsupportedMediaType");
    }
    server.shutdown().await;
}
