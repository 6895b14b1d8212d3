//! CBOR on a kube-apiserver and on this server, both with the gate, on one etcd: what one writes in
//! it, and stores in it, the other reads, and both show the same.
//!
//! The test is skipped as that of `etcd_upstream` is.

use crate::etcd::{Etcd, Release};
use crate::etcd_peer::{api, config, create};
use crate::etcd_upstream::{KubeApiserver, binary, found};
use crate::etcd_upstream_custom::{custom, definition, object};
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use kubist::Server;
use kubist::apimachinery::Unstructured;
use kubist::client::{Api, Client, Patch};
use kubist::transport::Body;
use kubist_codec::cbor::{CborEncoder, is_cbor, to_json};
use kubist_storage::KvRead as _;
use serde_json::{Value, json};
use std::path::Path;

const CBOR: &str = "application/cbor";
const GATE: &str = "--feature-gates=CBORServingAndStorage=true";
const PLURAL: &str = "cbors";

/// Sends a request in CBOR, and returns its code and the JSON of its response.
async fn ask(client: &Client, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(ACCEPT, CBOR);
    let mut cbor = Vec::new();
    if let Some(body) = body {
        let content_type = match method {
            "PATCH" => "application/apply-patch+cbor",
            _ => CBOR,
        };
        request = request.header(CONTENT_TYPE, content_type);
        CborEncoder::new().push(body.to_string().as_bytes(), &mut cbor);
    }
    // The client would make an error of a refusal.
    let request = request.body(Body::from(cbor)).unwrap();
    let response = client.transport().send(request).await;
    let (head, mut body) = response.unwrap().into_parts();
    assert_eq!(head.headers[CONTENT_TYPE], CBOR, "{method} {path}");
    let mut bytes = Vec::new();
    while let Some(chunk) = body.chunk().await.unwrap() {
        bytes.extend_from_slice(&chunk);
    }
    let json = to_json(&bytes).unwrap();
    (head.status.as_u16(), serde_json::from_slice(&json).unwrap())
}

/// Both say the same, but for what is each server's own in a refusal.
async fn check_same(ours: &Client, theirs: &Client, path: &str) -> Value {
    let (our_code, our) = ask(ours, "GET", path, None).await;
    let (their_code, their) = ask(theirs, "GET", path, None).await;
    assert_eq!((our_code, &our), (their_code, &their), "{path}");
    our
}

#[tokio::test]
async fn what_a_kube_apiserver_stores_in_cbor_is_read_and_both_speak_it() {
    let (Some(binary), Some(etcd)) = (binary(), Etcd::start(Release::Current).await) else {
        return;
    };
    let upstream = KubeApiserver::start_with(Path::new(&binary), &etcd, &[GATE]).await;
    let mut config = config(&etcd);
    config.cbor = true;
    let server = Server::start(config).await.unwrap();
    let (ours, theirs) = (&server.client(), &upstream.client);

    let definitions = api(theirs.clone(), &definition(PLURAL, "Cbor"));
    create(&definitions, &object(&definition(PLURAL, "Cbor"))).await;
    let [our_api, their_api] = [ours, theirs].map(|client| {
        let of = custom(PLURAL, "Cbor", "v1", "");
        api(client.clone(), &of)
    });
    check_custom_objects(&etcd, &our_api, &their_api).await;
    let widgets = format!("/apis/both.example.com/v1/namespaces/default/{PLURAL}");
    check_same(ours, theirs, &widgets).await;
    check_same(ours, theirs, &format!("{widgets}/by-theirs")).await;
    check_same(ours, theirs, &format!("{widgets}/none")).await;

    let maps = "/api/v1/namespaces/default/configmaps";
    for (client, name) in [(ours, "in-ours"), (theirs, "in-theirs")] {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
            "data": {"a": "\u{e4}\"\n"}, "binaryData": {"b": "AP8="},
        });
        assert_eq!(ask(client, "POST", maps, Some(&map)).await.0, 201);
        let applied = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"c": "d"},
        });
        let path = format!("{maps}/{name}?fieldManager=me");
        assert_eq!(ask(client, "PATCH", &path, Some(&applied)).await.0, 200);
        let shown = check_same(ours, theirs, &format!("{maps}/{name}")).await;
        assert_eq!(shown["data"], json!({"a": "\u{e4}\"\n", "c": "d"}));
        assert_eq!(shown["binaryData"], json!({"b": "AP8="}));
    }
    check_same(ours, theirs, "/api/v1/namespaces/none").await;
    check_refusals(ours, theirs, maps).await;
    server.shutdown().await;
}

/// Both refuse what does not fit a field in the same words.
async fn check_refusals(ours: &Client, theirs: &Client, maps: &str) {
    for data in [
        json!({"a": 5}),
        json!({"a": -5}),
        json!({"a": 1e19}),
        json!({"a": [1]}),
        json!({"a": {}}),
        json!(["a"]),
        json!("a"),
        json!(true),
    ] {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wrong"}, "data": data,
        });
        let our = ask(ours, "POST", maps, Some(&map)).await;
        assert_eq!(our.0, 400, "{our:?}");
        assert_eq!(our, ask(theirs, "POST", maps, Some(&map)).await);
    }
}

/// Objects that one server creates, and the other reads and changes.
async fn check_custom_objects(etcd: &Etcd, ours: &Api<Unstructured>, theirs: &Api<Unstructured>) {
    for (from, to, name) in [(theirs, ours, "by-theirs"), (ours, theirs, "by-ours")] {
        let created = create(from, &object(&custom(PLURAL, "Cbor", "v1", name))).await;
        assert_eq!(found(to, name).await, created);
        if name == "by-theirs" {
            let key = format!("/registry/both.example.com/{PLURAL}/default/{name}");
            let stored = etcd
                .kv()
                .get(key.as_bytes(), None)
                .await
                .unwrap()
                .kv
                .unwrap();
            assert!(is_cbor(&stored.value), "upstream stores CBOR");
        }
        let patch = Patch::Merge(json!({"spec": {"size": 2, "note": null}}));
        let changed = to.patch(name, &patch).await.unwrap();
        assert_eq!(changed.pointer("/spec/size"), Some(&json!(2)));
        assert_eq!(from.get(name).await.unwrap(), changed);
    }
}
