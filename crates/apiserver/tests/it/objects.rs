//! Verbs on objects, in the encodings of the API.

use crate::client::{Client, silent_server};
use http::Version;
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_codec::envelope::{self, Envelope};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/namespaces/default/configmaps";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

#[tokio::test]
async fn objects_go_in_and_out_in_protobuf_and_yaml() {
    let server = silent_server().await;
    let client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut client = client.header("accept", PROTOBUF);
    let mut object = ConfigMap::default();
    object.metadata.name = "p".into();
    object.data.insert("a".into(), "1".into());
    let answer = client
        .ask("POST", PATH, PROTOBUF, envelope::encode(&object))
        .await;
    assert_eq!(
        (answer.code, answer.header("content-type")),
        (201, PROTOBUF)
    );
    let envelope = Envelope::open(&answer.bytes).expect("it is an envelope");
    assert_eq!(envelope.kind, "ConfigMap");
    let stored = ConfigMap::from_protobuf(envelope.raw, &mut DecodeContext::new());
    let stored = stored.expect("it is one");
    assert_eq!(stored.data, object.data);
    assert!(!stored.metadata.resource_version.is_empty());
    let missing = client.get(&format!("{PATH}/none")).await;
    let envelope = Envelope::open(&missing.bytes).expect("errors are encoded likewise");
    assert_eq!((missing.code, envelope.kind), (404, "Status"));

    let yaml = "application/yaml";
    let mut client = Client::in_memory(&server, Version::HTTP_2)
        .await
        .header("accept", yaml);
    let text = "metadata:\n  name: q\ndata:\n  a: \"2\"\n";
    assert_eq!(client.ask("POST", PATH, yaml, text).await.code, 201);
    let answer = client.get(&format!("{PATH}/q")).await;
    assert!(
        answer
            .bytes
            .starts_with(b"apiVersion: v1\ndata:\n  a: \"2\"\nkind: ConfigMap\n")
    );
    server.shutdown().await;
}

#[tokio::test]
async fn garbage_in_any_encoding_is_400_and_the_server_continues() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_11).await;
    let garbage: [(&str, &[u8]); 7] = [
        ("application/json", b"{\"metadata\":"),
        ("application/json", b"\xff\xfe"),
        ("application/json", b"[[[[[[[["),
        ("application/yaml", b"a: b: c"),
        ("application/yaml", b"\x00"),
        (PROTOBUF, b"{}"),
        (
            PROTOBUF,
            b"k8s\0\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ),
    ];
    for (content_type, body) in garbage {
        let answer = client.ask("POST", PATH, content_type, body).await;
        assert_eq!(answer.code, 400, "{body:?}");
        assert_eq!(answer.json()["reason"], "BadRequest");
    }
    let deep = format!("{}{}", r#"{"metadata":{"labels":"#, "[".repeat(100_000));
    assert_eq!(
        client
            .ask("POST", PATH, "application/json", deep)
            .await
            .code,
        400
    );
    assert_eq!(client.get(PATH).await.code, 200);
    server.shutdown().await;
}

#[tokio::test]
async fn patches_of_all_types_apply_but_in_cbor() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let object = json!({"metadata": {"name": "c"}, "data": {"a": "1"}});
    client.post(PATH, &object).await;
    let path = format!("{PATH}/c");
    let patches = [
        (
            "application/json-patch+json",
            json!([{"op": "add", "path": "/data/b", "value": "2"}]),
        ),
        ("application/merge-patch+json", json!({"data": {"a": null}})),
        (
            "application/strategic-merge-patch+json",
            json!({"metadata": {"finalizers": ["example.com/f"]}}),
        ),
    ];
    for (content_type, patch) in patches {
        let answer = client
            .ask("PATCH", &path, content_type, patch.to_string())
            .await;
        assert_eq!(answer.code, 200, "{content_type}");
    }
    let patched = client.get(&path).await.json();
    assert_eq!(patched["data"], json!({"b": "2"}));
    assert_eq!(patched["metadata"]["finalizers"], json!(["example.com/f"]));
    let config = "{apiVersion: v1, kind: ConfigMap, data: {c: '3'}}";
    let path = format!("{path}?fieldManager=m");
    let apply = "application/apply-patch+yaml";
    let applied = client.ask("PATCH", &path, apply, config).await;
    assert_eq!(applied.json()["data"], json!({"b": "2", "c": "3"}));
    let cbor = "application/apply-patch+cbor";
    let refused = client.ask("PATCH", &path, cbor, config).await;
    assert_eq!(
        (refused.code, &refused.json()["kind"]),
        (415, &json!("Status"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_patch_is_applied_again_when_another_client_writes_first() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let object = json!({"metadata": {"name": "c"}, "data": {}});
    client.post(PATH, &object).await;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..8 {
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        tasks.spawn(async move {
            for step in 0..10 {
                let key = format!("w{writer}-{step}");
                let patch = json!({"data": {key: "x"}}).to_string();
                let content_type = "application/merge-patch+json";
                let path = format!("{PATH}/c");
                let answer = client.ask("PATCH", &path, content_type, patch).await;
                assert_eq!(answer.code, 200);
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("each write succeeds");
    }
    let data = client.get(&format!("{PATH}/c")).await.json();
    assert_eq!(data["data"].as_object().map(serde_json::Map::len), Some(80));
    server.shutdown().await;
}

#[tokio::test]
async fn every_listed_resource_answers_its_list() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut listed = 0;
    for group in kubist_api::GROUPS {
        for version in group.versions {
            let root = match group.name {
                "" => "/api/v1".to_owned(),
                _ => format!("/apis/{}", version.api_version),
            };
            for facts in version
                .resources
                .iter()
                .filter(|it| it.verbs.contains(&"list"))
            {
                let answer = client.get(&format!("{root}/{}", facts.plural)).await;
                assert_eq!(answer.code, 200, "{root}/{}", facts.plural);
                let list = answer.json();
                assert_eq!(list["kind"], format!("{}List", facts.kind));
                assert!(list["items"].is_array());
                listed += 1;
            }
        }
    }
    assert!(listed > 70, "{listed}");
    server.shutdown().await;
}

#[tokio::test]
async fn warnings_tell_of_unknown_fields_and_strictness_refuses_them() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let object = |name: &str| json!({"metadata": {"name": name}, "bogus": 1});
    let answer = client.post(PATH, &object("a")).await;
    assert_eq!(answer.code, 201);
    assert_eq!(
        answer.header("warning"),
        r#"299 - "unknown field \"bogus\"""#
    );
    let strict = format!("{PATH}?fieldValidation=Strict");
    let answer = client.post(&strict, &object("b")).await;
    let message: Value = answer.json()["message"].clone();
    let expected = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding \
                    error: unknown field \"bogus\"";
    assert_eq!((answer.code, message), (400, json!(expected)));
    let quiet = format!("{PATH}?fieldValidation=Ignore");
    let answer = client.post(&quiet, &object("c")).await;
    assert_eq!((answer.code, answer.header("warning")), (201, ""));
    server.shutdown().await;
}

#[tokio::test]
async fn a_resource_version_is_refused_where_something_would_be_stored() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = |version: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "resourceVersion": version},
        })
    };
    let refused = client.post(maps, &map("5")).await;
    let status = refused.json();
    assert_eq!((refused.code, &status["code"]), (500, &json!(500)));
    let expected = "resourceVersion should not be set on objects to be created";
    assert_eq!(status["message"], expected);
    assert!(status["reason"].is_null(), "{status}");
    let rehearsed = client.post(&format!("{maps}?dryRun=All"), &map("5")).await;
    assert_eq!(rehearsed.code, 201);
    assert_eq!(rehearsed.json()["metadata"]["resourceVersion"], "5");
    assert_eq!(client.post(maps, &map("0")).await.code, 201);
    server.shutdown().await;
}
