//! Component statuses, which are not stored.

use crate::client::{Client, silent_server};
use http::Version;
use serde_json::{Value, json};

#[tokio::test]
async fn component_statuses_are_upstreams_three() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let all = "/api/v1/componentstatuses";
    let list = client.get(all).await.json();
    let names = |list: &Value| {
        let items = list["items"].as_array().expect("it is a list").iter();
        let name = |it: &Value| {
            it["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        items.map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(&list), ["controller-manager", "scheduler", "etcd-0"]);
    let storage = client.get(&format!("{all}/etcd-0")).await.json();
    let healthy = json!([{"type": "Healthy", "status": "True", "message": "ok"}]);
    assert_eq!(storage["conditions"], healthy);
    let scheduler = client.get(&format!("{all}/scheduler")).await.json();
    let condition = &scheduler["conditions"][0];
    assert_eq!(condition["status"], "False");
    let message = condition["message"].to_string();
    assert!(
        message.contains("https://127.0.0.1:10259/healthz"),
        "{message}"
    );
    let one = client
        .get(&format!("{all}?fieldSelector=metadata.name%3Detcd-0"))
        .await;
    assert_eq!(names(&one.json()), ["etcd-0"]);
    let none = client.get(&format!("{all}?labelSelector=a%3Db")).await;
    assert!(names(&none.json()).is_empty());
    let missing = client.get(&format!("{all}/kubelet")).await;
    assert_eq!(missing.code, 404);
    assert_eq!(
        missing.json()["message"],
        "componentstatus \"kubelet\" not found"
    );
    server.shutdown().await;
}
