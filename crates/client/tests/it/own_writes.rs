//! The write log of an `Api`.

use crate::server::{Reply, Server};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{DeleteOptions, ObjectName, PostOptions, Status, StatusDetails};
use kubist_cache::{WriteLog, Written};
use kubist_client::{Api, Patch};
use serde_json::json;

fn pod(version: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    pod.metadata.namespace = "shop".into();
    pod.metadata.uid = "u-1".into();
    pod.metadata.resource_version = version.into();
    pod
}

fn setup(replies: impl IntoIterator<Item = Reply>) -> (Api<Pod>, WriteLog<Pod>) {
    let replies: Vec<_> = replies.into_iter().collect();
    let server = Server::new(replies);
    let log = WriteLog::new();
    let pods = Api::namespaced(server.client(), "shop").with_write_log(&log);
    (pods, log)
}

fn pending(log: &WriteLog<Pod>) -> Option<Written> {
    log.pending(&ObjectName::new("shop", "web"))
}

#[tokio::test]
async fn every_write_of_an_object_is_recorded_as_the_server_answered_it() {
    let versions = ["8", "9", "10", "11", "12"];
    let (pods, log) = setup(versions.map(|version| Reply::object(&pod(version))));
    let patch = Patch::Merge(json!({}));
    pods.create(&pod("")).await.unwrap();
    assert_eq!(pending(&log), Some(Written::saved(&pod("8"))));
    pods.replace(&pod("8")).await.unwrap();
    assert_eq!(pending(&log), Some(Written::saved(&pod("9"))));
    pods.patch("web", &patch).await.unwrap();
    assert_eq!(pending(&log), Some(Written::saved(&pod("10"))));
    pods.patch_status("web", &patch).await.unwrap();
    assert_eq!(pending(&log), Some(Written::saved(&pod("11"))));
    pods.replace_status(&pod("11")).await.unwrap();
    assert_eq!(pending(&log), Some(Written::saved(&pod("12"))));
    assert_eq!(log.len(), 1);
}

#[tokio::test]
async fn reads_dry_runs_and_refusals_are_not_recorded() {
    let refused = Reply::status(&Status::default()).code(409);
    let (pods, log) = setup([
        Reply::object(&pod("8")),
        Reply::object(&pod("8")),
        Reply::object(&pod("8")),
        refused,
    ]);
    pods.get("web").await.unwrap();
    let options = PostOptions {
        dry_run: true,
        ..PostOptions::default()
    };
    pods.create_with(&pod(""), &options).await.unwrap();
    let options = DeleteOptions {
        dry_run: vec!["All".into()],
        ..DeleteOptions::default()
    };
    pods.delete_with("web", &options).await.unwrap();
    pods.replace(&pod("8")).await.unwrap_err();
    assert!(log.is_empty());
}

#[tokio::test]
async fn deletions_are_recorded_as_terminating_or_deleted() {
    let gone = Status {
        status: "Success".into(),
        code: 200,
        details: Some(Box::new(StatusDetails {
            name: "web".into(),
            uid: "u-1".into(),
            ..StatusDetails::default()
        })),
        ..Status::default()
    };
    let mut terminating = pod("9");
    terminating.metadata.deletion_timestamp = "2026-01-02T03:04:05Z".parse().ok();
    let (pods, log) = setup([Reply::object(&terminating)]);
    pods.delete("web").await.unwrap();
    assert_eq!(
        pending(&log),
        Some(Written::saved(&terminating)),
        "it is still there"
    );

    let (pods, log) = setup([Reply::object(&pod("9"))]);
    pods.delete("web").await.unwrap();
    assert_eq!(pending(&log), Some(Written::deleted_object(&pod("9"))));

    let (pods, log) = setup([Reply::status(&gone)]);
    pods.delete("web").await.unwrap();
    let name = ObjectName::new("shop", "web");
    assert_eq!(pending(&log), Some(Written::deleted(name, "u-1")));
}

#[tokio::test]
async fn writes_for_a_key_are_found_by_the_key() {
    let (pods, log) = setup([Reply::object(&pod("8"))]);
    let key = ObjectName::new("shop", "front");
    pods.with_write_log(&log.for_key(&key))
        .create(&pod(""))
        .await
        .unwrap();
    let empty = kubist_cache::Indexer::<Pod>::new();
    assert_eq!(
        log.unseen_of(&empty.lister(), &key),
        [Written::saved(&pod("8"))]
    );
    let other = ObjectName::new("shop", "back");
    assert!(log.unseen_of(&empty.lister(), &other).is_empty());
}
