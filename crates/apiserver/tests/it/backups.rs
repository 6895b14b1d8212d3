//! `/storage/backup` of a running server.

use crate::client::{Client, silent_server};
use http::Version;
use kubist_storage::backup::Reader;
use serde_json::json;
use std::collections::BTreeSet;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn a_backup_is_one_state_with_everything_answered_before() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let mut before = BTreeSet::new();
    let mut revision = 0;
    for number in 0..300 {
        let name = format!("before-{number}");
        let body = json!({"metadata": {"name": name}, "data": {"a": "x".repeat(9_000)}});
        let made = client.post(PATH, &body).await.json();
        let version = made["metadata"]["resourceVersion"].as_str();
        revision = version
            .and_then(|it| it.parse().ok())
            .expect("it is a number");
        before.insert(format!("/registry/configmaps/default/{name}"));
    }
    let answer = client.send("GET", "/storage/backup", "", "").await;
    let answer = answer.expect("it answers");
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.headers()["content-type"],
        "application/vnd.kubist.backup"
    );
    // The response is in progress, exceeds all buffers, and is not read yet.
    for number in 0..300 {
        let path = format!("{PATH}/before-{number}");
        assert_eq!(client.delete(&path).await.code, 200);
        let body = json!({"metadata": {"name": format!("after-{number}")}});
        assert_eq!(client.post(PATH, &body).await.code, 201);
    }
    let bytes = http_body_util::BodyExt::collect(answer.into_body()).await;
    let bytes = bytes.expect("it is whole").to_bytes();
    let mut reader = Reader::open(&bytes[..]).expect("it is a backup");
    assert_eq!(reader.revision().0, revision);
    let mut found = BTreeSet::new();
    while let Some(kv) = reader.next().expect("it is whole") {
        found.insert(String::from_utf8_lossy(&kv.key).into_owned());
    }
    assert!(before.is_subset(&found));
    assert!(
        !found.iter().any(|key| key.contains("/after-")),
        "it is one state"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn no_more_than_two_backups_are_under_way() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    // More than HTTP buffers for a client that does not read.
    for number in 0..40 {
        let body = json!({
            "metadata": {"name": format!("c{number}")},
            "data": {"a": "x".repeat(500_000)},
        });
        assert_eq!(client.post(PATH, &body).await.code, 201);
    }
    let mut clients = Vec::new();
    let mut answers = Vec::new();
    for _ in 0..2 {
        let mut client = Client::in_memory(&server, Version::HTTP_2).await;
        let answer = client.send("GET", "/storage/backup", "", "").await;
        answers.push(answer.expect("it answers"));
        clients.push(client);
    }
    assert!(answers.iter().all(|it| it.status() == 200));
    let refused = client.get("/storage/backup").await;
    assert_eq!((refused.code, refused.header("retry-after")), (429, "1"));
    drop((answers, clients));
    while client.get("/storage/backup").await.code == 429 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        client.ask("POST", "/storage/backup", "", "").await.code,
        404
    );
    server.shutdown().await;
}
