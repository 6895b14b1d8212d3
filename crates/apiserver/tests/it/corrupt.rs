//! Stored values that cannot be decoded: each is reported with its key, the others are served, and
//! it is only deleted on explicit request.
//!
//! Cost: a value is decoded once, and the error of a list names at most a hundred.

mod partial_reads;

use crate::client::{Answer, Client};
use http::Version;
use kubist_apimachinery::GroupResource;
use kubist_apiserver::{ApiServer, Config, RunningServer};
use kubist_registry::transformer::{AesGcm, Transformers};
use kubist_registry::{Registry, RegistryConfig};
use kubist_storage::memory::MemoryKv;
use kubist_storage::{Expected, PutRequest};
use kubist_storage::{KvRead, KvWrite};
use serde_json::{Value, json};
use std::sync::Arc;

const PATH: &str = "/api/v1/namespaces/default/configmaps";
const OPTION: &str = "ignoreStoreReadErrorWithClusterBreakingPotential=true";

async fn start(kv: &MemoryKv, cached: bool, key: Option<[u8; 32]>) -> RunningServer {
    let mut config = RegistryConfig::new(Arc::new(kv.clone()), kubist_kinds::BuiltIn::shared());
    config.watch_cache.enabled = cached;
    let of_server = Config {
        listen: None,
        ..Config::default()
    };
    start_with(config, of_server, key).await
}

async fn start_with(
    mut config: RegistryConfig,
    of_server: Config,
    key: Option<[u8; 32]>,
) -> RunningServer {
    if let Some(key) = key {
        let key = AesGcm::new("a", &key).expect("it has the right length");
        let transformers = Arc::new(Transformers::encrypting(key));
        let resource = GroupResource::new("", "configmaps");
        config.transformers.push((resource, transformers));
    }
    let registry = Registry::new(config);
    registry
        .start()
        .await
        .expect("what is corrupt keeps nobody from starting");
    let server = ApiServer::bind(of_server, registry).await;
    server.expect("it listens on nothing")
}

async fn create(client: &mut Client, name: &str) {
    let body = json!({"metadata": {"name": name}, "data": {"a": name}});
    assert_eq!(client.post(PATH, &body).await.code, 201, "{name}");
}

fn names(list: &Answer) -> Vec<String> {
    assert_eq!(list.code, 200, "{list:?}");
    let items = list.json()["items"].clone();
    let names = items.as_array().expect("a list").iter();
    let name = |it: &Value| it["metadata"]["name"].as_str().expect("text").to_owned();
    names
        .map(name)
        .filter(|it| it != "kube-root-ca.crt")
        .collect()
}

async fn put(kv: &MemoryKv, key: &str, value: impl Into<bytes::Bytes>) -> u64 {
    let put = PutRequest::new(key.to_owned(), value.into(), Expected::Any);
    let outcome = kv.put(put).await.expect("it is open");
    outcome.committed().expect("no condition").0
}

/// What all kinds of corruption have in common.
async fn is_told_and_the_rest_is_served(kv: &MemoryKv, server: &RunningServer, version: u64) {
    let key = "/registry/configmaps/default/b";
    let mut client = Client::in_memory(server, Version::HTTP_2).await;
    let got = client.get(&format!("{PATH}/b")).await;
    assert_eq!(
        (got.code, &got.json()["reason"]),
        (500, &json!("InternalError"))
    );
    assert_eq!(client.get(&format!("{PATH}/a")).await.code, 200);

    for query in ["", "?limit=10", "?resourceVersion=0"] {
        let listed = client.get(&format!("{PATH}{query}")).await;
        let status = listed.json();
        assert_eq!(
            (listed.code, &status["reason"]),
            (500, &json!("StorageReadError"))
        );
        let causes = status["details"]["causes"]
            .as_array()
            .expect("they are named");
        assert_eq!(causes.len(), 1, "{query}");
        assert_eq!(causes[0]["field"], key);
        assert_eq!(causes[0]["reason"], "UnexpectedServerResponse");
    }
    // Lists that cannot select it are complete.
    let one = client
        .get(&format!("{PATH}?fieldSelector=metadata.name%3Dc"))
        .await;
    assert_eq!(names(&one), ["c"]);
    let elsewhere = "/api/v1/namespaces/kube-system/configmaps";
    assert_eq!(client.get(elsewhere).await.code, 200);

    // A watch that begins after it continues, and so do other writes.
    let path = format!("{PATH}?watch=true&resourceVersion={version}&timeoutSeconds=1");
    let body = json!({"metadata": {"name": "a"}, "data": {"a": "changed"}}).to_string();
    let changed = client
        .ask("PUT", &format!("{PATH}/a"), "application/json", body)
        .await;
    assert_eq!(changed.code, 200);
    create(&mut client, "d").await;
    let watched = client.get(&path).await;
    let lines: Vec<Value> = watched
        .bytes
        .split(|it| *it == b'\n')
        .filter(|it| !it.is_empty())
        .map(|it| serde_json::from_slice(it).expect("JSON"))
        .collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|it| (it["type"].clone(), it["object"]["metadata"]["name"].clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (json!("MODIFIED"), json!("a")),
            (json!("ADDED"), json!("d"))
        ]
    );

    stays_until_somebody_says_so(kv, &mut client).await;
}

async fn stays_until_somebody_says_so(kv: &MemoryKv, client: &mut Client) {
    let (key, path) = ("/registry/configmaps/default/b", format!("{PATH}/b"));
    let body = json!({"metadata": {"name": "b"}, "data": {}}).to_string();
    let replaced = client.ask("PUT", &path, "application/json", body).await;
    assert_eq!(replaced.code, 500);
    for query in ["", "?gracePeriodSeconds=0", "?propagationPolicy=Background"] {
        assert_eq!(client.delete(&format!("{path}{query}")).await.code, 500);
    }
    assert_eq!(client.delete(PATH).await.code, 500);
    for (path, why) in [
        (
            format!("{path}?{OPTION}&dryRun=All"),
            "cannot be set together with .dryRun",
        ),
        (
            format!("{path}?{OPTION}&gracePeriodSeconds=0"),
            "cannot be set together with .gracePeriodSeconds",
        ),
        (
            format!("{PATH}?{OPTION}"),
            "is not allowed with DELETECOLLECTION, try again after removing the option",
        ),
        (
            format!("{PATH}/a?{OPTION}"),
            "is exclusively used to delete corrupt object(s), try again by removing this option",
        ),
        (
            format!("{PATH}/absent?{OPTION}"),
            "is exclusively used to delete corrupt object(s), try again by removing this option",
        ),
    ] {
        let refused = client.delete(&path).await;
        let message = refused.json()["message"].as_str().expect("text").to_owned();
        assert_eq!(refused.code, 422, "{path}: {message}");
        let expected =
            format!("ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: {why}");
        assert!(message.ends_with(&expected), "{message}");
    }
    assert!(
        kv.get(key.as_bytes(), None)
            .await
            .expect("open")
            .kv
            .is_some()
    );

    let options = json!({
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "ignoreStoreReadErrorWithClusterBreakingPotential": true,
    });
    let options = options.to_string();
    let deleted = client
        .ask("DELETE", &path, "application/json", options)
        .await;
    let status = deleted.json();
    assert_eq!((deleted.code, &status["status"]), (200, &json!("Success")));
    assert_eq!(status["details"], json!({"name": "b", "kind": "ConfigMap"}));
    assert_eq!(names(&client.get(PATH).await), ["a", "c", "d"]);
    create(client, "b").await;
}

async fn three(kv: &MemoryKv, cached: bool, key: Option<[u8; 32]>) -> RunningServer {
    let server = start(kv, cached, key).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for name in ["a", "b", "c"] {
        create(&mut client, name).await;
    }
    server
}

async fn a_broken_value(value: &[u8], cached: bool) {
    let kv = MemoryKv::default();
    let server = three(&kv, cached, None).await;
    let version = put(&kv, "/registry/configmaps/default/b", value.to_vec()).await;
    is_told_and_the_rest_is_served(&kv, &server, version).await;
    server.shutdown().await;
}

/// One of our values with a wrong length inside.
async fn cut_inside() -> Vec<u8> {
    let kv = MemoryKv::default();
    let server = three(&kv, false, None).await;
    let found = kv.get(b"/registry/configmaps/default/b", None).await;
    let value = found.expect("open").kv.expect("there").value.to_vec();
    server.shutdown().await;
    let at = value.windows(2).rposition(|it| it == b"\x0a\x01");
    let mut value = value;
    value[at.expect("the key of its data") + 1] = 0x7f;
    value
}

#[tokio::test]
async fn a_value_that_is_no_object_is_reported_and_the_rest_is_served() {
    for cached in [false, true] {
        a_broken_value(b"nothing that anybody wrote", cached).await;
    }
}

#[tokio::test]
async fn a_value_that_is_broken_inside_is_reported_and_the_rest_is_served() {
    let value = cut_inside().await;
    for cached in [false, true] {
        a_broken_value(&value, cached).await;
    }
}

#[tokio::test]
async fn a_value_of_another_kind_is_reported_and_the_rest_is_served() {
    a_broken_value(
        b"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":7}",
        false,
    )
    .await;
}

#[tokio::test]
async fn a_value_that_cannot_be_decrypted_is_reported_and_the_rest_is_served() {
    for cached in [false, true] {
        let kv = MemoryKv::default();
        let server = three(&kv, cached, Some([1; 32])).await;
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        // The value of another key, as after a faulty restore.
        let from = kv.get(b"/registry/configmaps/default/a", None).await;
        let value = from.expect("open").kv.expect("there").value.clone();
        let version = put(&kv, "/registry/configmaps/default/b", value).await;
        let got = client.get(&format!("{PATH}/b")).await.json();
        let message = got["message"].as_str().expect("text");
        assert!(
            message.contains("message authentication failed"),
            "{message}"
        );
        is_told_and_the_rest_is_served(&kv, &server, version).await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_starts_over_values_that_it_cannot_read() {
    let kv = MemoryKv::default();
    three(&kv, false, None).await.shutdown().await;
    for key in [
        "/registry/namespaces/default",
        "/registry/services/specs/default/kubernetes",
        "/registry/apiextensions.k8s.io/customresourcedefinitions/x.example.com",
        "/registry/priorityclasses/system-node-critical",
        "/registry/clusterroles/cluster-admin",
    ] {
        put(&kv, key, "broken").await;
    }
    for cached in [false, true] {
        let server = start(&kv, cached, None).await;
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        assert_eq!(names(&client.get(PATH).await), ["a", "b", "c"]);
        assert_eq!(client.get("/readyz").await.code, 200);
        let broken = client.get("/api/v1/namespaces/default").await;
        assert_eq!(broken.code, 500);
        server.shutdown().await;
    }
}
