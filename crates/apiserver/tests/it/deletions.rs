//! DELETE over HTTP: the errors of options, their order, and the response.

use crate::client::{Answer, Client, silent_server};
use http::Version;
use serde_json::{Value, json};

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const PODS_STAY: &str = "299 - \"child pods are preserved by default when jobs are deleted; set \
                         propagationPolicy=Background to remove them or set \
                         propagationPolicy=Orphan to suppress this warning\"";

async fn delete_with(client: &mut Client, path: &str, options: &Value) -> Answer {
    let options = options.to_string();
    client
        .ask("DELETE", path, "application/json", options)
        .await
}

#[tokio::test]
async fn what_selects_a_collection_is_looked_at_before_how_it_is_deleted() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for options in [
        json!({"dryRun": ["Some"]}),
        json!({"kind": "Other"}),
        json!([]),
    ] {
        for (path, code, message) in [
            (
                format!("{JOBS}?fieldSelector=spec.a%3Db"),
                400,
                "field label \"spec.a\" not supported for Job",
            ),
            (
                format!("{SECRETS}?resourceVersionMatch=Exact&fieldSelector=spec.a%3Db"),
                422,
                "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                 resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
        ] {
            let answer = delete_with(&mut client, &path, &options).await;
            let said = answer.json()["message"].clone();
            assert_eq!((answer.code, said), (code, json!(message)), "{options}");
            assert_eq!(answer.header("warning"), "");
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn whoever_deletes_jobs_and_does_not_say_what_becomes_of_pods_is_warned() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let none = format!("{JOBS}/none");
    for (path, options, warning) in [
        (none.as_str(), json!({}), PODS_STAY),
        (&none, json!({"gracePeriodSeconds": 0}), PODS_STAY),
        (&none, json!({"dryRun": ["All"]}), PODS_STAY),
        (&none, json!({"propagationPolicy": "Orphan"}), ""),
        (&none, json!({"orphanDependents": false}), ""),
        (&none, json!({"propagationPolicy": "odd"}), ""),
        (JOBS, json!({}), PODS_STAY),
        (JOBS, json!({"propagationPolicy": "Background"}), ""),
        (SECRETS, json!({}), ""),
    ] {
        let answer = delete_with(&mut client, path, &options).await;
        assert_eq!(answer.header("warning"), warning, "{path} {options}");
    }
    let by_query = format!("{none}?orphanDependents=true");
    assert_eq!(client.delete(&by_query).await.header("warning"), "");
    server.shutdown().await;
}

#[tokio::test]
async fn some_kinds_answer_a_deletion_with_the_object() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let class = json!({"metadata": {"name": "c"}, "provisioner": "example.com/p"});
    let driver = json!({"metadata": {"name": "d.example.com"}, "spec": {}});
    for (path, object, kind) in [
        (
            "/apis/storage.k8s.io/v1/storageclasses",
            class,
            "StorageClass",
        ),
        ("/apis/storage.k8s.io/v1/csidrivers", driver, "CSIDriver"),
        (SECRETS, json!({"metadata": {"name": "s"}}), "Status"),
    ] {
        let created = client.post(path, &object).await;
        assert_eq!(created.code, 201, "{path}");
        let name = object["metadata"]["name"].as_str().expect("it has one");
        let deleted = client.delete(&format!("{path}/{name}")).await;
        assert_eq!((deleted.code, &deleted.json()["kind"]), (200, &json!(kind)));
    }
    server.shutdown().await;
}

#[tokio::test]
async fn events_are_named_by_the_group_that_they_are_deleted_in() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let core = "/api/v1/namespaces/default/events";
    let newer = "/apis/events.k8s.io/v1/namespaces/default/events";
    for (path, group, message) in [
        (
            newer,
            "events.k8s.io",
            "events.events.k8s.io \"e\" not found",
        ),
        (core, "", "events \"e\" not found"),
    ] {
        let event = json!({
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        });
        assert_eq!(client.post(core, &event).await.code, 201);
        let deleted = client.delete(&format!("{path}/e")).await;
        let details = &deleted.json()["details"];
        let said = details["group"].as_str().unwrap_or_default();
        assert_eq!((deleted.code, said), (200, group));
        let missing = client.delete(&format!("{path}/e")).await;
        assert_eq!(missing.json()["message"], message);
    }
    server.shutdown().await;
}
