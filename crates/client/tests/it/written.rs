//! Writes that were applied and whose response cannot be read.

use crate::server::{Reply, Server};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{DeleteOptions, PatchOptions, PostOptions, Retry};
use kubist_cache::Metadata;
use kubist_client::{Api, ApiError, DeleteAnswer, Patch};
use serde_json::json;

const UNREADABLE: &str = r#"{"apiVersion":"v1","kind":"Pod","spec":7,
    "metadata":{"name":"web","namespace":"shop","resourceVersion":"9"}}"#;

fn pods(reply: &str) -> Api<Pod> {
    let server = Server::new([Reply::json(reply.to_owned())]);
    Api::namespaced(server.client(), "shop")
}

fn is_told(error: &ApiError, verb: &str) {
    assert!(error.is_written(), "{verb}: {error:?}");
    let object = error.written().unwrap();
    let name = object.name.as_ref().unwrap();
    assert_eq!(
        (name.to_string().as_str(), object.resource_version.as_str()),
        ("shop/web", "9")
    );
    assert_eq!(error.retry(), Retry::Never);
    let text = error.to_string();
    for said in [verb, "was done", "spec", "Metadata<K>"] {
        assert!(text.contains(said), "{text}");
    }
}

/// Contract CLIENT-5.
#[tokio::test]
async fn a_write_with_an_unreadable_answer_is_reported_as_applied() {
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    let patch = Patch::Merge(json!({}));
    let [create, replace, change, status, apply] = std::array::from_fn(|_| pods(UNREADABLE));
    is_told(&create.create(&pod).await.unwrap_err(), "POST");
    is_told(&replace.replace(&pod).await.unwrap_err(), "PUT");
    is_told(&change.patch("web", &patch).await.unwrap_err(), "PATCH");
    is_told(
        &status.patch_status("web", &patch).await.unwrap_err(),
        "PATCH",
    );
    is_told(
        &apply
            .apply(&pod, &PatchOptions::managed_by("test"))
            .await
            .unwrap_err(),
        "PATCH",
    );
    is_told(&pods(UNREADABLE).delete("web").await.unwrap_err(), "DELETE");
}

#[tokio::test]
async fn failed_writes_and_foreign_answers_are_not_reported_as_applied() {
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    let dry = PostOptions {
        dry_run: true,
        ..PostOptions::default()
    };
    let error = pods(UNREADABLE).create_with(&pod, &dry).await.unwrap_err();
    assert!(!error.is_written(), "{error}");
    let dry = DeleteOptions {
        dry_run: vec!["All".into()],
        ..DeleteOptions::default()
    };
    let error = pods(UNREADABLE).delete_with("web", &dry).await.unwrap_err();
    assert!(!error.is_written(), "{error}");
    assert!(!pods(UNREADABLE).get("web").await.unwrap_err().is_written());
    let other = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"web"}}"#;
    let error = pods(other).replace(&pod).await.unwrap_err();
    assert!(!error.is_written(), "{error}");
}

#[tokio::test]
async fn metadata_is_enough_to_delete_what_cannot_be_read() {
    let server = Server::new([Reply::json(UNREADABLE)]);
    let pods: Api<Metadata<Pod>> = Api::namespaced(server.client(), "shop");
    let answer = pods.delete("web").await.unwrap();
    assert!(matches!(answer, DeleteAnswer::Object(_)), "{answer:?}");
}
