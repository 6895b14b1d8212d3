//! Every operation in both versions.

use super::*;

#[tokio::test]
async fn objects_are_created_read_and_changed_in_both_versions() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    let created = world.create(BETA, "a", &json!({"dimension": 3})).await;
    assert_eq!(created["apiVersion"], "example.com/v1beta1");
    assert_eq!(created["spec"], json!({"dimension": 3}));
    let got = world.get(&format!("{V1}/a")).await;
    assert_eq!(
        (&got["apiVersion"], &got["spec"]),
        (&json!("example.com/v1"), &json!({"size": 3}))
    );
    let patch = r#"{"spec": {"dimension": 4}}"#;
    let merge = "application/merge-patch+json";
    let patched = world
        .client
        .ask("PATCH", &format!("{BETA}/a"), merge, patch)
        .await;
    assert_eq!(patched.json()["spec"], json!({"dimension": 4}));
    assert_eq!(patched.json()["metadata"]["generation"], 2);
    let mut status = world.get(&format!("{BETA}/a")).await;
    status["status"] = json!({"ready": true});
    let path = format!("{BETA}/a/status");
    let updated = world
        .client
        .ask("PUT", &path, JSON, status.to_string())
        .await;
    assert_eq!(
        updated.json()["status"],
        json!({"ready": true}),
        "{}",
        updated.json()
    );
    let got = world.get(&format!("{V1}/a")).await;
    assert_eq!(
        (&got["spec"], &got["status"]["ready"]),
        (&json!({"size": 4}), &json!(true))
    );
    let deleted = world.client.delete(&format!("{BETA}/a")).await;
    assert_eq!(
        (deleted.code, &deleted.json()["status"]),
        (200, &json!("Success"))
    );
    // One after another, all calls use one connection.
    assert_eq!(webhook.connections(), 1);
    assert!(webhook.requests() > 5);
    assert!(
        webhook
            .paths()
            .iter()
            .all(|it| it == "/convert?timeout=30s")
    );
    world.end(webhook).await;
}

#[tokio::test]
async fn a_list_is_one_request_in_every_form() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    for (name, size) in [("a", "1"), ("b", "2"), ("c", "3")] {
        world.create(V1, name, &json!({"size": size})).await;
    }
    let before = webhook.requests();
    let list = world.get(BETA).await;
    assert_eq!(list["apiVersion"], "example.com/v1beta1");
    let items = list["items"].as_array().expect("it is a list");
    let sizes: Vec<&Value> = items.iter().map(|it| &it["spec"]["dimension"]).collect();
    assert_eq!(sizes, ["1", "2", "3"]);
    assert_eq!(webhook.requests(), before + 1);
    let client = Client::in_memory(&world.server, Version::HTTP_2).await;
    let mut picky = client.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let table = picky.get(BETA).await.json();
    assert_eq!(table["rows"][2]["cells"], json!(["c", "3"]));
    let client = Client::in_memory(&world.server, Version::HTTP_2).await;
    let metadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let mut picky = client.header("accept", metadata);
    let list = picky.get(BETA).await.json();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][1]["metadata"]["name"], "b");
    let deleted = world.client.delete(BETA).await;
    assert_eq!(deleted.code, 200);
    assert_eq!(world.get(V1).await["items"], json!([]));
    world.end(webhook).await;
}

#[tokio::test]
async fn a_watch_delivers_the_version_of_its_client() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    let path = format!("{BETA}?watch=true&resourceVersion=0&timeoutSeconds=1");
    let watch = world.client.get(&path).await;
    let event: Value = serde_json::from_slice(&watch.bytes).expect("it is one event");
    assert_eq!(event["type"], "ADDED");
    assert_eq!(event["object"]["spec"], json!({"dimension": 1}));
    webhook.set(Mode::Fail);
    world.create(V1, "b", &json!({"size": 2})).await;
    let watch = world.client.get(&path).await;
    let event: Value = serde_json::from_slice(&watch.bytes).expect("it is one event");
    assert_eq!(event["type"], "ERROR");
    assert_eq!(
        event["object"]["message"],
        "Internal error occurred: conversion webhook for example.com/v1, Kind=Widget failed: an \
         error on the server (\"it is broken\") has prevented the request from succeeding"
    );
    // A watch of the version of storage goes on.
    let path = format!("{V1}?watch=true&resourceVersion=0&timeoutSeconds=1");
    let watch = world.client.get(&path).await;
    assert_eq!(
        watch
            .bytes
            .split(|it| *it == b'\n')
            .filter(|it| !it.is_empty())
            .count(),
        2
    );
    world.end(webhook).await;
}

#[tokio::test]
async fn managers_of_different_versions_own_the_same_field() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    let apply = |path: &str, manager: &str, spec: &Value| {
        let config = json!({
            "apiVersion": version_of(path), "kind": "Widget",
            "metadata": {"name": "a"}, "spec": spec,
        });
        (
            format!("{path}/a?fieldManager={manager}"),
            config.to_string(),
        )
    };
    let media = "application/apply-patch+yaml";
    let (path, config) = apply(V1, "first", &json!({"size": 1, "color": "red"}));
    let first = world.client.ask("PATCH", &path, media, config).await;
    assert_eq!(first.code, 201, "{}", first.json());
    // The same value in the other version is no conflict.
    let (path, config) = apply(BETA, "second", &json!({"dimension": 1}));
    let second = world.client.ask("PATCH", &path, media, config).await;
    assert_eq!(second.code, 200, "{}", second.json());
    assert_eq!(
        second.json()["spec"],
        json!({"dimension": 1, "color": "red"})
    );
    // Another value is one, with the field as the first manager has it.
    let (path, config) = apply(BETA, "second", &json!({"dimension": 2}));
    let refused = world.client.ask("PATCH", &path, media, config).await;
    assert_eq!(refused.code, 409);
    let message = refused.json()["message"].to_string();
    assert!(message.contains("conflict with \\\"first\\\""), "{message}");
    assert!(message.contains(".spec.size"), "{message}");
    let (path, config) = apply(BETA, "second", &json!({"dimension": 2}));
    let forced = world
        .client
        .ask("PATCH", &format!("{path}&force=true"), media, config)
        .await;
    assert_eq!(forced.code, 200, "{}", forced.json());
    assert_eq!(
        world.get(&format!("{V1}/a")).await["spec"],
        json!({"size": 2, "color": "red"})
    );
    // What the first no longer applies is removed from its own version.
    let (path, config) = apply(V1, "first", &json!({}));
    let removed = world.client.ask("PATCH", &path, media, config).await;
    assert_eq!(
        removed.json()["spec"],
        json!({"size": 2}),
        "{}",
        removed.json()
    );
    world.end(webhook).await;
}

#[tokio::test]
async fn each_version_selects_by_its_own_fields() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    let mut definition = definition(&by_url(&webhook));
    for (version, field) in [(0, "size"), (1, "dimension")] {
        let version = &mut definition["spec"]["versions"][version];
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] =
            json!({"type": "object", "properties": {field: {"type": "string"}}});
        version["selectableFields"] = json!([{"jsonPath": format!(".spec.{field}")}]);
    }
    world.define_as(&definition).await;
    for (name, size) in [("a", "1"), ("b", "2"), ("c", "1")] {
        world.create(V1, name, &json!({"size": size})).await;
    }
    for (path, field) in [(V1, "size"), (BETA, "dimension")] {
        let selected = format!("{path}?fieldSelector=spec.{field}%3D1");
        let list = world.get(&selected).await;
        let items = list["items"].as_array().expect("it is a list");
        let found: Vec<_> = items.iter().map(|it| &it["metadata"]["name"]).collect();
        assert_eq!(found, ["a", "c"], "{path}");
        let watched = world
            .client
            .get(&format!("{selected}&watch=true&timeoutSeconds=1"))
            .await;
        let events = serde_json::Deserializer::from_slice(&watched.bytes).into_iter::<Value>();
        let events: Vec<Value> = events.map(|it| it.expect("it is JSON")).collect();
        assert_eq!(events.len(), 2, "{path}");
        let of_all = events.iter().all(|it| it["object"]["spec"][field] == "1");
        assert!(of_all, "{path}: {events:?}");
    }
    let other = format!("{V1}?fieldSelector=spec.dimension%3D1");
    assert_eq!(world.client.get(&other).await.code, 400);
    let selected = format!("{BETA}?fieldSelector=spec.dimension%3D1");
    assert_eq!(world.client.delete(&selected).await.code, 200);
    let left = world.get(V1).await;
    assert_eq!(left["items"][0]["metadata"]["name"], "b");
    assert_eq!(left["items"].as_array().map(Vec::len), Some(1));
    world.end(webhook).await;
}
