//! `Api::edit`: what it sends, what survives, and what happens after a conflict.

use crate::server::{Asked, Reply, Server};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{GroupKind, GroupResource, PostOptions, Status};
use kubist_client::{Api, EditOptions};
use kubist_codec::negotiate::PatchType;
use kubist_codec::patch::{Reading, apply};
use serde_json::{Value, json};

/// A Pod as a server of a later version sends it, with fields that our types do not have.
fn later_pod(version: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "web", "namespace": "shop", "resourceVersion": version, "uid": "u-1",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "laterMetadata": {"a": [1, 2]},
        },
        "spec": {
            "laterField": {"deep": [{"x": 1}]},
            "containers": [
                {"name": "web", "image": "web:1", "laterLimit": 7,
                 "resources": {"limits": {"cpu": "1000m"}}},
                {"name": "proxy", "image": "proxy:1", "laterLimit": 8},
            ],
        },
        "status": {"phase": "Running"},
    })
}

fn resource() -> GroupResource {
    GroupResource {
        group: "".into(),
        resource: "pods".into(),
    }
}

fn answer(pod: &Value) -> Reply {
    Reply::json(pod.to_string())
}

fn setup(replies: impl IntoIterator<Item = Reply>) -> (Server, Api<Pod>) {
    let server = Server::new(replies);
    let pods = Api::namespaced(server.client(), "shop");
    (server, pods)
}

/// The object after the server has applied the patch of this request.
fn patched(asked: &Asked, before: Value) -> Value {
    assert_eq!(asked.header("content-type"), "application/json-patch+json");
    let after = apply(PatchType::Json, Reading::Checked, before, &asked.body, None);
    after.expect("it applies")
}

fn operations(asked: &Asked) -> Vec<Value> {
    serde_json::from_slice(&asked.body).expect("a list")
}

#[tokio::test]
async fn only_what_changed_is_sent_with_the_version_that_was_read() {
    let (server, pods) = setup([answer(&later_pod("7")), answer(&later_pod("8"))]);
    let edited = pods.edit("web", |pod| {
        pod.metadata.labels.insert("tier".into(), "front".into());
    });
    assert_eq!(
        edited
            .await
            .expect("it is edited")
            .metadata
            .resource_version,
        "8"
    );
    let asked = server.asked();
    assert_eq!(asked[0].line, "GET /api/v1/namespaces/shop/pods/web");
    assert_eq!(asked[0].header("accept"), "application/json");
    assert_eq!(asked[1].line, "PATCH /api/v1/namespaces/shop/pods/web");
    assert_eq!(
        operations(&asked[1]),
        [
            json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}),
            json!({"op": "add", "path": "/metadata/labels", "value": {"tier": "front"}}),
        ]
    );
}

#[tokio::test]
async fn fields_of_a_later_version_survive_even_in_items_that_change_and_move() {
    let (server, pods) = setup([answer(&later_pod("7")), answer(&later_pod("8"))]);
    let edited = pods.edit("web", |pod| {
        pod.spec.containers.reverse();
        pod.spec.containers[1].image = "web:2".into();
        pod.spec.node_name = "node-1".into();
    });
    edited.await.expect("it is edited");
    let mut wanted = later_pod("7");
    wanted["spec"]["nodeName"] = "node-1".into();
    wanted["spec"]["containers"][0]["image"] = "web:2".into();
    let containers = wanted["spec"]["containers"].as_array_mut();
    containers.expect("a list").reverse();
    assert_eq!(patched(&server.asked()[1], later_pod("7")), wanted);
}

#[tokio::test]
async fn nothing_is_sent_if_nothing_changes() {
    let (server, pods) = setup([answer(&later_pod("7"))]);
    let seen = pods.edit("web", |_| ()).await.expect("it is read");
    assert_eq!(seen.metadata.resource_version, "7");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_conflict_the_change_is_made_to_the_latest_object() {
    let conflict = || Reply::status(&Status::modified(&resource(), "web"));
    let (server, pods) = setup([
        answer(&later_pod("7")),
        conflict(),
        answer(&later_pod("8")),
        answer(&later_pod("9")),
    ]);
    let mut calls = 0;
    let edited = pods.edit("web", |pod| {
        calls += 1;
        pod.spec.node_name = pod.metadata.resource_version.clone();
    });
    edited.await.expect("it is edited");
    let asked = server.asked();
    assert_eq!((calls, asked.len()), (2, 4));
    assert_eq!(patched(&asked[3], later_pod("8"))["spec"]["nodeName"], "8");
}

#[tokio::test(start_paused = true)]
async fn the_last_conflict_is_returned_when_the_attempts_are_used_up() {
    let conflict = || Reply::status(&Status::modified(&resource(), "web"));
    let rounds = (0..5).flat_map(|_| [answer(&later_pod("7")), conflict()]);
    let (server, pods) = setup(rounds);
    let edited = pods.edit("web", |pod| pod.spec.node_name = "n".into());
    assert!(edited.await.expect_err("it fails").is_conflict());
    assert_eq!(server.asked().len(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_does_not_fit_a_newer_version_is_a_conflict() {
    let kind = GroupKind {
        group: "".into(),
        kind: "Pod".into(),
    };
    let invalid = || Reply::status(&Status::invalid(&kind, "web", &[]));
    let (server, pods) = setup([
        answer(&later_pod("7")),
        invalid(),
        answer(&later_pod("8")),
        answer(&later_pod("8")),
        answer(&later_pod("9")),
    ]);
    let edited = pods.edit("web", |pod| pod.spec.node_name = "n".into());
    edited.await.expect("it is edited");
    assert_eq!(server.asked().len(), 5);

    let (server, pods) = setup([answer(&later_pod("7")), invalid(), answer(&later_pod("7"))]);
    let edited = pods.edit("web", |pod| pod.spec.node_name = "n".into());
    assert!(edited.await.expect_err("it is invalid").is_invalid());
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_replace_sends_the_whole_object_with_the_fields_that_the_type_lacks() {
    let (server, pods) = setup([answer(&later_pod("7")), answer(&later_pod("8"))]);
    let options = EditOptions {
        replace: true,
        post: PostOptions {
            field_manager: "me".into(),
            ..PostOptions::default()
        },
        ..EditOptions::default()
    };
    let edited = pods.edit_with("web", &options, |pod| {
        pod.metadata.resource_version = "1".into();
        pod.spec.node_name = "node-1".into();
    });
    edited.await.expect("it is edited");
    let asked = server.asked();
    assert_eq!(
        asked[1].line,
        "PUT /api/v1/namespaces/shop/pods/web?fieldManager=me"
    );
    let mut wanted = later_pod("7");
    wanted["spec"]["nodeName"] = "node-1".into();
    let sent: Value = serde_json::from_slice(&asked[1].body).expect("JSON");
    assert_eq!(sent, wanted);
}

#[tokio::test]
async fn the_status_is_edited_through_its_subresource() {
    let (server, pods) = setup([answer(&later_pod("7")), answer(&later_pod("8"))]);
    let edited = pods.edit_status("web", |pod| pod.status.phase = "Failed".into());
    edited.await.expect("it is edited");
    let lines: Vec<String> = server.asked().into_iter().map(|it| it.line).collect();
    assert_eq!(
        lines,
        [
            "GET /api/v1/namespaces/shop/pods/web/status",
            "PATCH /api/v1/namespaces/shop/pods/web/status",
        ]
    );
}
