//! Mutating webhooks.

use super::{MAPS, MUTATING, World, configuration, hook, map};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubist_registry::WebhookError;
use serde_json::{Value, json};

const KIND: &str = "MutatingWebhookConfiguration";

async fn world(hooks: &[Value]) -> World {
    let mut world = World::new().await;
    world.configure(MUTATING, &configuration(KIND, hooks)).await;
    world
}

/// Allows a request with a patch.
#[expect(clippy::unnecessary_wraps, reason = "the type of scripts")]
fn patched(patch: &Value) -> Result<Value, WebhookError> {
    Ok(json!({
        "allowed": true, "patchType": "JSONPatch", "patch": STANDARD.encode(patch.to_string()),
    }))
}

#[tokio::test]
async fn webhooks_change_the_object_one_after_the_other() {
    let mut world = world(&[hook("a"), hook("b")]).await;
    world.script("/a", |_| {
        patched(&json!([{"op": "add", "path": "/data/first", "value": "a"}]))
    });
    world.script("/b", |request| {
        let seen = &request["object"]["data"]["first"];
        patched(&json!([{"op": "add", "path": "/data/second", "value": seen}]))
    });
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    let data = json!({"a": "1", "first": "a", "second": "a"});
    assert_eq!(answer.json()["data"], data);
    let stored = world.client.get(&format!("{MAPS}/m")).await.json();
    assert_eq!(stored["data"], data);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_webhook_that_asks_for_it_sees_later_changes_in_a_second_round() {
    let mut first = hook("a");
    first["reinvocationPolicy"] = "IfNeeded".into();
    let mut world = world(&[first, hook("b")]).await;
    world.script("/a", |request| {
        let count = request["object"]["data"]
            .as_object()
            .map_or(0, serde_json::Map::len);
        let patch = [json!({"op": "add", "path": "/data/seen", "value": count.to_string()})];
        patched(&json!(patch))
    });
    world.script("/b", |_| {
        patched(&json!([{"op": "add", "path": "/data/late", "value": "b"}]))
    });
    let answer = world.create_map("m").await;
    assert_eq!(
        answer.json()["data"],
        json!({"a": "1", "late": "b", "seen": "3"})
    );
    let reviews = world.reviews();
    assert_eq!(reviews.len(), 3, "the second is not called again");
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_patch_that_does_not_fit_is_refused() {
    let mut world = world(&[hook("a")]).await;
    world.script("/a", |request| {
        let patch = match request["name"].as_str() {
            Some("type") => json!([{"op": "replace", "path": "/data", "value": 3}]),
            _ => json!([{"op": "remove", "path": "/data/missing"}]),
        };
        patched(&patch)
    });
    for name in ["type", "path"] {
        let answer = world.create_map(name).await;
        assert_eq!(answer.code, 500, "{}", answer.json());
        assert_eq!(answer.json()["reason"], "InternalError");
    }
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_patch_that_is_invalid_for_the_kind_is_refused_by_validation() {
    let mut world = world(&[hook("a")]).await;
    world.script("/a", |_| {
        patched(&json!([{"op": "add", "path": "/data/not a key", "value": "x"}]))
    });
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 422, "{}", answer.json());
    world.server.shutdown().await;
}

#[tokio::test]
async fn an_update_is_sent_with_both_objects() {
    let mut world = world(&[hook("a")]).await;
    world.script("/a", super::allow);
    assert_eq!(world.create_map("m").await.code, 201);
    let mut changed = map("m");
    changed["data"]["a"] = "2".into();
    let answer = world.put(&format!("{MAPS}/m"), &changed).await;
    assert_eq!(answer.code, 200);
    let reviews = world.reviews();
    let request = &reviews[1]["request"];
    assert_eq!(request["operation"], "UPDATE");
    assert_eq!(request["object"]["data"]["a"], "2");
    assert_eq!(request["oldObject"]["data"]["a"], "1");
    assert_eq!(request["options"]["kind"], "UpdateOptions");
    world.server.shutdown().await;
}
