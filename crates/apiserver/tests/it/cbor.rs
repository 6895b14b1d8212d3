//! CBOR beside JSON, where it is offered.

mod negotiation;
mod refusals;

use crate::client::{Answer, Client, server_with};
use http::Version;
use kubist_apiserver::{Config, RunningServer};
use kubist_codec::cbor::{CborEncoder, MAGIC, to_json};
use serde_json::{Value, json};
use std::time::Duration;

const CBOR: &str = "application/cbor";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

async fn server(cbor: bool) -> RunningServer {
    let config = Config {
        listen: None,
        cbor,
        ..Config::default()
    };
    server_with(config, |_| {}).await
}

async fn client(server: &RunningServer) -> Client {
    let client = Client::in_memory(server, Version::HTTP_2).await;
    client.header("accept", "application/cbor, application/json;q=0.5")
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut cbor = Vec::new();
    CborEncoder::new().push(value.to_string().as_bytes(), &mut cbor);
    cbor
}

fn decoded(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), CBOR);
    assert!(answer.bytes.starts_with(&MAGIC));
    let json = to_json(&answer.bytes).expect("it is CBOR");
    serde_json::from_slice(&json).expect("it is JSON")
}

fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "\"1\""}})
}

#[tokio::test]
async fn built_in_kinds_are_written_read_listed_and_refused_in_cbor() {
    let server = server(true).await;
    let mut client = client(&server).await;
    let body = encoded(&config_map("m"));
    let created = client.ask("POST", CONFIG_MAPS, CBOR, body.clone()).await;
    assert_eq!(
        (created.code, &decoded(&created)["kind"]),
        (201, &json!("ConfigMap"))
    );
    let again = client.ask("POST", CONFIG_MAPS, CBOR, body).await;
    assert_eq!(
        (again.code, &decoded(&again)["reason"]),
        (409, &json!("AlreadyExists"))
    );
    let list = decoded(&client.get(CONFIG_MAPS).await);
    assert_eq!(list["items"][0]["data"], json!({"a": "\"1\""}));
    let patch = encoded(&json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"b": "2"}
    }));
    let path = format!("{CONFIG_MAPS}/m?fieldManager=me");
    let applied = client
        .ask("PATCH", &path, "application/apply-patch+cbor", patch)
        .await;
    assert_eq!(decoded(&applied)["data"], json!({"a": "\"1\"", "b": "2"}));
    let wrong = client
        .ask("POST", CONFIG_MAPS, CBOR, vec![0xa1, 1, 1])
        .await;
    assert_eq!(wrong.code, 400);
    let said = decoded(&wrong)["message"].clone();
    assert_eq!(
        said,
        "the object provided is unrecognized (must be of type ConfigMap): unable to determine \
         group/version/kind: cbor: cannot unmarshal positive integer into Go value of type string \
         (a10101)"
    );
    assert_eq!(client.get("/healthz").await.bytes, "ok");
    server.shutdown().await;
}

#[tokio::test]
async fn a_long_list_is_encoded_while_it_is_sent() {
    let server = server(true).await;
    let mut client = client(&server).await;
    for number in 0..60 {
        let mut map = config_map(&format!("m-{number:02}"));
        map["data"]["large"] = "x\"y".repeat(1_000).into();
        assert_eq!(client.post(CONFIG_MAPS, &map).await.code, 201);
    }
    let list = decoded(&client.get(CONFIG_MAPS).await);
    let items = list["items"].as_array().expect("it is a list");
    assert_eq!(items.len(), 60);
    assert!(
        items
            .iter()
            .all(|it| it["data"]["large"] == "x\"y".repeat(1_000))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_is_a_sequence_of_events() {
    let server = server(true).await;
    let mut client = client(&server).await;
    for name in ["a", "b"] {
        client.post(CONFIG_MAPS, &config_map(name)).await;
    }
    let path = format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1");
    let watch = client.get(&path).await;
    assert_eq!(watch.header("content-type"), "application/cbor-seq");
    let starts: Vec<_> = (0..watch.bytes.len())
        .filter(|at| watch.bytes[*at..].starts_with(&MAGIC))
        .chain([watch.bytes.len()])
        .collect();
    let events: Vec<Value> = starts
        .windows(2)
        .map(|event| to_json(&watch.bytes[event[0]..event[1]]).expect("it is CBOR"))
        .map(|json| serde_json::from_slice(&json).expect("it is JSON"))
        .collect();
    let names: Vec<_> = events
        .iter()
        .map(|it| (&it["type"], &it["object"]["metadata"]["name"]))
        .collect();
    let added = json!("ADDED");
    assert_eq!(names, [(&added, &json!("a")), (&added, &json!("b"))]);
    server.shutdown().await;
}

/// Defines widgets.
async fn define(client: &mut Client) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}
            }],
        },
    });
    let defined = client
        .ask("POST", DEFINITIONS, CBOR, encoded(&definition))
        .await;
    assert_eq!(defined.code, 201);
    for _ in 0..200 {
        if client.get(WIDGETS).await.code == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is served");
}

#[tokio::test]
async fn custom_objects_come_in_cbor_too() {
    let server = server(true).await;
    let mut client = client(&server).await;
    define(&mut client).await;
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"size": 1.5, "count": -3, "on": true, "none": null},
    });
    let made = client.ask("POST", WIDGETS, CBOR, encoded(&widget)).await;
    assert_eq!(decoded(&made)["spec"], widget["spec"]);
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_read_of_a_custom_object_can_be_written_whatever_its_numbers() {
    let server = server(true).await;
    let mut client = client(&server).await;
    define(&mut client).await;
    let big = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "big"},
        "spec": {"size": 1e19, "count": 9_223_372_036_854_775_808_u64},
    });
    let mut plain = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(plain.post(WIDGETS, &big).await.code, 201);
    let path = format!("{WIDGETS}/big");
    let read = client.get(&path).await;
    assert_eq!(decoded(&read)["spec"]["size"], json!(1e19));
    let put = client.ask("PUT", &path, CBOR, read.bytes.to_vec()).await;
    assert_eq!(put.code, 200, "what is read can be written");
    server.shutdown().await;
}

#[tokio::test]
async fn where_it_is_not_offered_it_is_refused_as_upstream_does() {
    let server = server(false).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let body = encoded(&config_map("m"));
    let posted = client.ask("POST", CONFIG_MAPS, CBOR, body.clone()).await;
    assert_eq!(posted.code, 415);
    let path = format!("{CONFIG_MAPS}/m?fieldManager=me");
    let applied = client
        .ask("PATCH", &path, "application/apply-patch+cbor", body)
        .await;
    assert_eq!(applied.code, 415);
    let mut client = client.header("accept", CBOR);
    assert_eq!(client.get(CONFIG_MAPS).await.code, 406);
    server.shutdown().await;
}
