//! Refused and unusual patches, with upstream's errors, for each field validation.

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

/// Returns code and message of a dry-run patch.
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
async fn a_patched_object_may_say_that_it_is_of_another_version() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let all = |version: &str| {
        format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers")
    };
    let pods = json!({"type": "Pods", "pods": {
        "metric": {"name": "q"}, "target": {"type": "AverageValue", "averageValue": "1"},
    }});
    let cpu = json!({"type": "Resource", "resource": {
        "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50},
    }});
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"});
    let object = json!({"metadata": {"name": "h"}, "spec": {
        "maxReplicas": 5, "scaleTargetRef": target, "metrics": [cpu, pods],
    }});
    let created = client.post(&all("v2"), &object).await;
    assert_eq!(created.code, 201, "{created:?}");
    for (asked, said) in [("v1", "v2"), ("v2", "v1")] {
        let path = format!("{}/h?dryRun=All", all(asked));
        let patch =
            json!({"apiVersion": format!("autoscaling/{said}"), "spec": {"maxReplicas": 4}});
        let answer = client.ask("PATCH", &path, MERGE, patch.to_string()).await;
        let patched = answer.json();
        assert_eq!(answer.code, 200, "{patched}");
        assert_eq!(patched["apiVersion"], format!("autoscaling/{asked}"));
        assert_eq!(patched["spec"]["maxReplicas"], 4);
        // The other version lacks the field, so the default remains.
        let utilization = match asked {
            "v1" => &patched["spec"]["targetCPUUtilizationPercentage"],
            _ => &patched["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        };
        assert_eq!(utilization, 80, "{patched}");
        assert_eq!(patched["metadata"]["annotations"], Value::Null, "{patched}");
        assert!(answer.header("warning").contains("unknown field"));
    }
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let labels = json!({"a": "b"});
    let object = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    assert_eq!(client.post(deployments, &object).await.code, 201);
    for (version, code) in [
        ("apps/v1beta2", 200),
        ("extensions/v1beta1", 200),
        ("v1", 422),
    ] {
        let patch = json!({"apiVersion": version, "metadata": {"labels": labels}}).to_string();
        let path = format!("{deployments}/d?dryRun=All");
        let answer = client.ask("PATCH", &path, MERGE, patch).await;
        let patched = answer.json();
        assert_eq!(answer.code, code, "{patched}");
        if code == 200 {
            assert_eq!(patched["metadata"]["labels"], labels);
            assert_eq!(patched["spec"]["strategy"]["type"], "RollingUpdate");
        }
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
