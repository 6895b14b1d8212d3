//! Watches over HTTP.

use crate::client::{Client, silent_server};
use bytes::Bytes;
use http::Version;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use kubist_apimachinery::wire::Encoding;
use kubist_codec::watch_stream::{EventKind, Frame, WatchStream};
use serde_json::{Value, json};
use std::time::Duration;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// The frames of a watch as they arrive.
struct Frames {
    body: Incoming,
    stream: WatchStream,
}

impl Frames {
    async fn open(client: &mut Client, query: &str, encoding: Encoding) -> Self {
        let path = format!("{PATH}?watch=true&{query}");
        let response = client.send("GET", &path, "", "").await.expect("it answers");
        assert_eq!(response.status(), 200);
        Self {
            body: response.into_body(),
            stream: WatchStream::new(encoding),
        }
    }

    /// Returns the next frame; `None` at the end.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.stream.next_frame().expect("it is a watch") {
                return Some(frame);
            }
            let chunk = self.body.frame().await?.expect("it goes on");
            let chunk: Bytes = chunk.into_data().unwrap_or_default();
            self.stream.push(chunk);
        }
    }

    async fn json(&mut self) -> (EventKind, Value) {
        let frame = self.next().await.expect("there is one more");
        let object = serde_json::from_slice(&frame.object).expect("it is JSON");
        (frame.kind, object)
    }
}

fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "web"}}, "data": {"a": "1"}})
}

#[tokio::test]
async fn events_arrive_as_they_happen_in_each_form() {
    let server = silent_server().await;
    let mut writer = Client::in_memory(&server, Version::HTTP_2).await;
    let mut plain = Client::in_memory(&server, Version::HTTP_11).await;
    let mut plain = Frames::open(&mut plain, "", Encoding::Json).await;
    let protobuf = Client::in_memory(&server, Version::HTTP_2).await;
    let mut protobuf =
        protobuf.header("accept", "application/vnd.kubernetes.protobuf;stream=watch");
    let mut protobuf = Frames::open(&mut protobuf, "", Encoding::Protobuf).await;
    let meta = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let mut partial = Client::in_memory(&server, Version::HTTP_2)
        .await
        .header("accept", meta);
    let mut partial = Frames::open(&mut partial, "", Encoding::Json).await;
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let mut rows = Client::in_memory(&server, Version::HTTP_2)
        .await
        .header("accept", table);
    let mut rows = Frames::open(&mut rows, "", Encoding::Json).await;

    writer.post(PATH, &config_map("c")).await;
    writer.ask("DELETE", &format!("{PATH}/c"), "", "").await;

    let (kind, object) = plain.json().await;
    assert_eq!(
        (kind, &object["kind"]),
        (EventKind::Added, &json!("ConfigMap"))
    );
    let (kind, deleted) = plain.json().await;
    assert_eq!(kind, EventKind::Deleted);
    let version = |object: &Value| -> u64 {
        let text = object["metadata"]["resourceVersion"].as_str();
        text.and_then(|text| text.parse().ok())
            .expect("it is a number")
    };
    assert!(version(&deleted) > version(&object));

    let frame = protobuf.next().await.expect("there is one");
    assert_eq!(
        (frame.kind, &*frame.type_name),
        (EventKind::Added, "ConfigMap")
    );
    let (_, object) = partial.json().await;
    assert_eq!(object["kind"], "PartialObjectMetadata");
    assert_eq!(object.get("data"), None);
    let (_, first) = rows.json().await;
    assert_eq!(first["columnDefinitions"][0]["name"], "Name");
    let said = first["columnDefinitions"][1]["description"].as_str();
    assert!(said.is_some_and(|it| it.starts_with("Data contains the configuration data.")));
    assert_eq!(first["rows"][0]["cells"][0], "c");
    let (_, second) = rows.json().await;
    assert_eq!(second["columnDefinitions"], Value::Null);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_its_time_is_over_and_not_before() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let started = tokio::time::Instant::now();
    let mut frames = Frames::open(&mut client, "timeoutSeconds=100", Encoding::Json).await;
    assert_eq!(frames.next().await, None);
    let seconds = started.elapsed().as_secs();
    assert!((100..105).contains(&seconds), "{seconds}");
    let started = tokio::time::Instant::now();
    let mut frames = Frames::open(&mut client, "", Encoding::Json).await;
    assert_eq!(frames.next().await, None);
    let minutes = started.elapsed().as_secs() / 60;
    assert!((30..=60).contains(&minutes), "{minutes}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_streaming_list_ends_with_the_marked_bookmark() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for name in ["a", "b"] {
        client.post(PATH, &config_map(name)).await;
    }
    let query = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    let mut frames = Frames::open(&mut client, query, Encoding::Json).await;
    for name in ["a", "b"] {
        assert_eq!(frames.json().await.1["metadata"]["name"], name);
    }
    let (kind, bookmark) = frames.json().await;
    assert_eq!(kind, EventKind::Bookmark);
    let annotations = &bookmark["metadata"]["annotations"];
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
    server.shutdown().await;
}

#[tokio::test]
async fn many_watches_share_a_connection_and_requests_go_between() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut watches = Vec::new();
    for _ in 0..100 {
        watches.push(Frames::open(&mut client, "", Encoding::Json).await);
    }
    let created = client.post(PATH, &config_map("c")).await;
    assert_eq!(created.code, 201);
    for watch in &mut watches {
        let next = tokio::time::timeout(Duration::from_secs(10), watch.json());
        assert_eq!(next.await.expect("it arrives").0, EventKind::Added);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_watch_is_said_in_upstreams_order() {
    let server = silent_server().await;
    let json = "application/json";
    let (yaml, stream) = ("application/yaml", "application/yaml;stream=watch");
    let no_stream = "only the following media types are accepted: application/json;stream=watch, \
                     application/vnd.kubernetes.protobuf;stream=watch";
    let no_type = "only the following media types are accepted: application/json, \
                   application/yaml, application/vnd.kubernetes.protobuf";
    let no_match = "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                    sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    let no_token = "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
                    resourceVersionMatch is forbidden when continue is provided";
    let no_field =
        "\"a.b\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
    let no_name = "fieldSelector metadata.name doesn't match requested name";
    let one = "/api/v1/watch/namespaces/default/configmaps/c";
    for (accept, path, query, code, message) in [
        (stream, PATH, "watch=1&sendInitialEvents=1", 406, no_type),
        (yaml, PATH, "watch=1&sendInitialEvents=1", 422, no_match),
        (yaml, PATH, "watch=1&fieldSelector=a.b%3Dc", 400, no_field),
        (yaml, PATH, "watch=1", 406, no_stream),
        (json, PATH, "watch=1&continue=x", 422, no_token),
        (
            json,
            PATH,
            "watch=1&sendInitialEvents=1&fieldSelector=a.b%3Dc",
            422,
            no_match,
        ),
        (json, one, "fieldSelector=metadata.name%3Dx", 400, no_name),
        (json, one, "fieldSelector=a.b%3Dx", 400, no_field),
    ] {
        let client = Client::in_memory(&server, Version::HTTP_2).await;
        let mut client = client.header("accept", accept);
        let answer = client.get(&format!("{path}?{query}")).await;
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert_eq!(answer.code, code, "{accept} {query}: {text}");
        if accept != yaml {
            assert_eq!(answer.json()["message"], message, "{query}");
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn fields_to_select_by_are_those_of_upstream() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let slices = "/apis/resource.k8s.io/v1/resourceslices";
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    for (path, field, message) in [
        (slices, "spec.driver", None),
        (slices, "spec.nodeName", None),
        (
            slices,
            "metadata.namespace",
            Some(
                "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: \
                 metadata.namespace",
            ),
        ),
        (
            sets,
            "status.replicas",
            Some(
                "\"status.replicas\" is not a known field selector: only \"metadata.name\", \
                 \"metadata.namespace\"",
            ),
        ),
        ("/api/v1/pods", "status.podIPs", None),
    ] {
        let answer = client
            .get(&format!("{path}?fieldSelector={field}%3Da"))
            .await;
        let said = answer.json()["message"].as_str().map(str::to_owned);
        assert_eq!(said.as_deref(), message, "{field}");
    }
    server.shutdown().await;
}
