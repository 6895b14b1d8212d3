//! Responses about compacted history: those of a kube-apiserver v1.36 that reads from a compacted
//! etcd, word for word.

use crate::client::{Client, server_with};
use http::Version;
use kubist_apiserver::Config;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{KvMaintenance, KvRead};
use serde_json::{Value, json};
use std::sync::Arc;

/// Upstream has no watch cache for events, so its storage responds.
const PATH: &str = "/api/v1/namespaces/default/events";

const CONTINUE: &str = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\
    \"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoibzFcdTAwMDAifQ\"},\"status\":\"Failure\",\
    \"message\":\"The provided continue parameter is too old to display a consistent list result. \
    You can start a new list without the continue parameter, or use the continue token in this \
    response to retrieve the remainder of the results. Continuing with the provided token results \
    in an inconsistent list - objects that were created, modified, or deleted between the time the \
    first chunk was returned and now may show up in the list.\",\"reason\":\"Expired\",\
    \"code\":410}\n";

const EXACT: &str = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
    \"message\":\"The resourceVersion for the provided list is too old.\",\"reason\":\"Expired\",\
    \"code\":410}\n";

const WATCH: &str = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\
    \"metadata\":{},\"status\":\"Failure\",\"message\":\"The resourceVersion for the provided watch is \
    too old.\",\"reason\":\"Expired\",\"code\":410}}\n";

async fn create(client: &mut Client, name: &str) {
    let event = json!({
        "metadata": {"name": name},
        "involvedObject": {"namespace": "default"},
    });
    assert_eq!(client.post(PATH, &event).await.code, 201);
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("it is a list");
    let metadata = items.iter().map(|it| &it["metadata"]);
    metadata.filter_map(|it| it["name"].as_str()).collect()
}

#[tokio::test]
async fn what_is_asked_of_a_compacted_past_is_answered_in_upstreams_words() {
    let kv = MemoryKv::default();
    let config = Config {
        listen: None,
        ..Config::default()
    };
    let server = server_with(config, |registry| registry.kv = Arc::new(kv.clone())).await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    for name in ["o0", "o1", "o2", "o3", "o4"] {
        create(&mut client, name).await;
    }
    let page = client.get(&format!("{PATH}?limit=2")).await.json();
    let text = |at: &str| page["metadata"][at].as_str().expect("it has one");
    let (token, version) = (text("continue"), text("resourceVersion"));
    create(&mut client, "later").await;
    assert_eq!(client.delete(&format!("{PATH}/o3")).await.code, 200);
    let now = kv.revision().await.expect("it is open");
    kv.compact(now).await.expect("it is further than before");

    let continued = client
        .get(&format!("{PATH}?limit=2&continue={token}"))
        .await;
    assert_eq!(
        (continued.code, &*String::from_utf8_lossy(&continued.bytes)),
        (410, CONTINUE)
    );
    for limit in ["", "&limit=2"] {
        let query = format!("resourceVersion={version}&resourceVersionMatch=Exact{limit}");
        let exact = client.get(&format!("{PATH}?{query}")).await;
        assert_eq!(
            (exact.code, &*String::from_utf8_lossy(&exact.bytes)),
            (410, EXACT)
        );
    }
    let query = format!("watch=true&resourceVersion={version}&timeoutSeconds=5");
    let watch = client.get(&format!("{PATH}?{query}")).await;
    assert_eq!(
        (watch.code, &*String::from_utf8_lossy(&watch.bytes)),
        (200, WATCH)
    );
    let collection = format!("{PATH}?limit=2&continue={token}");
    let deleted = client.delete(&collection).await;
    assert_eq!(
        (deleted.code, &*String::from_utf8_lossy(&deleted.bytes)),
        (410, CONTINUE)
    );

    // The token in the response continues from the current state, and inexact versions are served.
    let given = continued.json();
    let token = given["metadata"]["continue"].as_str().expect("it has one");
    let rest = client
        .get(&format!("{PATH}?limit=4&continue={token}"))
        .await;
    assert_eq!((rest.code, names(&rest.json())), (200, vec!["o2", "o4"]));
    let query = format!("resourceVersion={version}&resourceVersionMatch=NotOlderThan");
    let list = client.get(&format!("{PATH}?{query}")).await;
    assert_eq!(
        (list.code, names(&list.json())),
        (200, vec!["later", "o0", "o1", "o2", "o4"])
    );
    server.shutdown().await;
}
