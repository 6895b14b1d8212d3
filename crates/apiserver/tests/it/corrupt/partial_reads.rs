//! Lists of everything that can be decoded, on request; watches, which always continue; and the
//! authorization of unsafe deletions.

use super::{OPTION, PATH, create, names, put, start, start_with, three};
use crate::client::{Answer, Client};
use http::Version;
use http_body_util::BodyExt;
use kubist_apiserver::{Authorization, Config};
use kubist_authorization::{Action, Attributes, Authorizer, Decision};
use kubist_registry::{BoxFuture, RegistryConfig};
use kubist_storage::memory::MemoryKv;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;

fn warnings(answer: &Answer) -> Vec<String> {
    let values = answer.headers.get_all("warning").iter();
    values
        .map(|it| it.to_str().expect("it is text").to_owned())
        .collect()
}

/// Returns this many lines of a watch.
async fn lines(client: &mut Client, path: &str, count: usize) -> Vec<Value> {
    let mut watch = client.send("GET", path, "", "").await.expect("it answers");
    let mut got = Vec::new();
    while got.split(|it| *it == b'\n').count() <= count {
        let frame = watch.body_mut().frame().await.expect("it goes on");
        let data = frame.expect("it is well").into_data();
        got.extend_from_slice(&data.expect("it is data"));
    }
    let lines = got.split(|it| *it == b'\n').filter(|it| !it.is_empty());
    lines
        .map(|it| serde_json::from_slice(it).expect("JSON"))
        .collect()
}

fn event(line: &Value) -> String {
    let name = line["object"]["metadata"]["name"].as_str();
    format!(
        "{} {}",
        line["type"].as_str().expect("text"),
        name.expect("text")
    )
}

#[tokio::test]
async fn who_asks_for_the_rest_gets_it_with_a_warning_for_each_object() {
    for cached in [false, true] {
        let kv = MemoryKv::default();
        let server = three(&kv, cached, None).await;
        put(&kv, "/registry/configmaps/default/b", "broken").await;
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        let refused = client.get(PATH).await;
        assert_eq!(refused.code, 500, "nobody who does not ask");
        let rest = client.get(&format!("{PATH}?{OPTION}")).await;
        assert_eq!(names(&rest), ["a", "c"]);
        let shown = warnings(&rest);
        assert_eq!(shown.len(), 1);
        let begin = "299 - \"configmaps \\\"b\\\" in namespace \\\"default\\\" cannot be read and is not \
                     listed: ";
        assert!(shown[0].starts_with(begin), "{}", shown[0]);
        for query in ["limit=10", "resourceVersion=0"] {
            let rest = client.get(&format!("{PATH}?{OPTION}&{query}")).await;
            assert_eq!(names(&rest), ["a", "c"], "{query}");
            assert_eq!(warnings(&rest), shown, "{query}");
        }
        let watch = format!("{PATH}?{OPTION}&watch=true");
        let seen = lines(&mut client, &watch, 2).await;
        let seen: Vec<String> = seen.iter().map(event).collect();
        assert_eq!(seen, ["ADDED a", "ADDED c"]);

        for number in 0..20 {
            let key = format!("/registry/configmaps/default/n{number:02}");
            put(&kv, &key, "broken").await;
        }
        let rest = client.get(&format!("{PATH}?{OPTION}")).await;
        assert_eq!(names(&rest), ["a", "c"]);
        let shown = warnings(&rest);
        assert_eq!(shown.len(), 11, "{shown:?}");
        let more = "299 - \"11 more configmaps cannot be read and are not listed\"";
        assert_eq!(shown[10], more);
        let metrics = client.get("/metrics").await;
        let metrics = String::from_utf8_lossy(&metrics.bytes).into_owned();
        let name = "apiserver_storage_decode_errors_total{group=\"\",resource=\"configmaps\"}";
        assert!(metrics.contains(name), "{metrics}");
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_watch_continues_around_what_cannot_be_read_and_shows_its_end() {
    for cached in [false, true] {
        let kv = MemoryKv::default();
        let server = three(&kv, cached, None).await;
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        let list = client.get(PATH).await.json();
        let version = list["metadata"]["resourceVersion"].as_str().expect("text");
        let path = format!("{PATH}?watch=true&resourceVersion={version}");
        put(&kv, "/registry/configmaps/default/b", "broken").await;
        create(&mut client, "d").await;
        let gone = client.delete(&format!("{PATH}/b?{OPTION}")).await;
        assert_eq!(gone.code, 200);
        create(&mut client, "b").await;
        let seen = lines(&mut client, &path, 3).await;
        let events: Vec<String> = seen.iter().map(event).collect();
        assert_eq!(
            events,
            ["ADDED d", "DELETED b", "ADDED b"],
            "cached: {cached}"
        );
        assert_eq!(
            seen[1]["object"]["data"],
            json!({"a": "b"}),
            "as it was known"
        );
        server.shutdown().await;
    }
}

/// Denies, and records the attributes.
#[derive(Debug, Default)]
struct Refusing(Mutex<Vec<String>>);

impl Authorizer for Refusing {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        let (user, verb) = (&attributes.user.name, attributes.verb);
        let Action::Resource(it) = attributes.action else {
            return Box::pin(async { Decision::Allow(String::new()) });
        };
        if verb != "unsafe-delete-ignore-read-errors" {
            return Box::pin(async { Decision::Allow(String::new()) });
        }
        self.0.lock().push(format!(
            "{user} {verb} {}/{}/{} {}/{}",
            it.group, it.version, it.resource, it.namespace, it.name
        ));
        Box::pin(async { Decision::Deny("nobody may".to_owned()) })
    }
}

#[tokio::test]
async fn a_deletion_of_what_cannot_be_read_is_authorized_by_a_verb_of_its_own() {
    let kv = MemoryKv::default();
    three(&kv, false, None).await.shutdown().await;
    put(&kv, "/registry/configmaps/default/b", "broken").await;
    let refusing = Arc::new(Refusing::default());
    let of_server = Config {
        listen: None,
        authorization: Authorization::by(Arc::clone(&refusing) as Arc<dyn Authorizer>),
        ..Config::default()
    };
    let config = RegistryConfig::new(Arc::new(kv.clone()), kubist_kinds::BuiltIn::shared());
    let server = start_with(config, of_server, None).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    assert_eq!(client.delete(&format!("{PATH}/c")).await.code, 200);
    let refused = client.delete(&format!("{PATH}/b?{OPTION}")).await;
    assert_eq!(refused.code, 403);
    let message = "configmaps \"b\" is forbidden: not permitted to do \
                   \"unsafe-delete-ignore-read-errors\", reason: nobody may";
    assert_eq!(refused.json()["message"], message);
    let asked = refusing.0.lock().clone();
    let expected = "kubernetes-admin unsafe-delete-ignore-read-errors /v1/configmaps default/b";
    assert_eq!(asked, [expected]);
    server.shutdown().await;

    let server = start(&kv, false, None).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let gone = client.delete(&format!("{PATH}/b?{OPTION}")).await;
    assert_eq!(gone.code, 200, "by default everybody may");
    server.shutdown().await;
}
