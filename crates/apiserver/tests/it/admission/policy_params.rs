//! The parameters of policies.

use super::policies::bind;
use super::{MAPS, World, map};
use serde_json::{Value, json};

/// A policy whose parameters say which value is forbidden.
fn rules(kind: &str) -> Value {
    json!({
        "paramKind": {"apiVersion": if kind == "ConfigMap" { "v1" } else { "example.com/v1" },
            "kind": kind},
        "matchConditions": [{"name": "other", "expression": "!has(object.data.forbidden)"}],
        "validations": [{
            "expression": "params == null || object.data.a != params.data.forbidden",
            "messageExpression": "'forbidden by ' + params.metadata.name",
        }],
    })
}

fn parameters(name: &str, forbidden: &str) -> Value {
    let mut object = map(name);
    object["data"] = json!({"forbidden": forbidden});
    object["metadata"]["labels"] = json!({"limits": "yes"});
    object
}

async fn refusal(world: &mut World) -> Option<String> {
    let answer = world.create_map("m").await;
    let message = answer.json()["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let (_, why) = message.split_once("denied request: ")?;
    Some(why.to_owned())
}

#[tokio::test]
async fn parameters_are_named_in_the_namespace_of_the_request() {
    let mut world = World::new().await;
    let reference = json!({"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}});
    bind(&mut world, &rules("ConfigMap"), &reference).await;
    let why = "failed to configure binding: no params found for policy binding with `Deny` \
               parameterNotFoundAction";
    assert_eq!(refusal(&mut world).await.as_deref(), Some(why));
    let mut other = parameters("limits", "1");
    other["metadata"]["namespace"] = "kube-system".into();
    let path = "/api/v1/namespaces/kube-system/configmaps";
    let answer = world.client.post(path, &other).await;
    assert_eq!(answer.code, 422, "it has no parameters there either");
    world.server.shutdown().await;
}

#[tokio::test]
async fn each_selected_object_is_a_set_of_parameters() {
    let mut world = World::new().await;
    for (name, forbidden) in [("one", "2"), ("two", "1")] {
        let answer = world.client.post(MAPS, &parameters(name, forbidden)).await;
        assert_eq!(answer.code, 201);
    }
    let reference = json!({"paramRef": {
        "selector": {"matchLabels": {"limits": "yes"}}, "namespace": "default",
        "parameterNotFoundAction": "Allow",
    }});
    bind(&mut world, &rules("ConfigMap"), &reference).await;
    assert_eq!(
        refusal(&mut world).await.as_deref(),
        Some("forbidden by two")
    );
    assert_eq!(world.client.delete(&format!("{MAPS}/two")).await.code, 200);
    assert_eq!(refusal(&mut world).await, None);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_kind_of_parameters_that_is_not_served_fails() {
    let mut world = World::new().await;
    let reference = json!({"paramRef": {"name": "x", "parameterNotFoundAction": "Deny"}});
    bind(&mut world, &rules("Limit"), &reference).await;
    let why = "failed to configure policy: failed to find resource referenced by paramKind: \
               'example.com/v1, Kind=Limit'";
    assert_eq!(refusal(&mut world).await.as_deref(), Some(why));
    world.server.shutdown().await;
}

#[tokio::test]
async fn parameters_can_be_custom_objects() {
    let mut world = World::new().await;
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "limits.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "limits", "kind": "Limit"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {
                    "data": {"type": "object", "additionalProperties": {"type": "string"}},
                }},
            }}],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(world.client.post(path, &definition).await.code, 201);
    let limits = "/apis/example.com/v1/limits";
    while world.client.get(limits).await.code != 200 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let reference = json!({"paramRef": {"name": "x", "parameterNotFoundAction": "Allow"}});
    bind(&mut world, &rules("Limit"), &reference).await;
    let limit = json!({
        "apiVersion": "example.com/v1", "kind": "Limit", "metadata": {"name": "x"},
        "data": {"forbidden": "1"},
    });
    assert_eq!(world.client.post(limits, &limit).await.code, 201);
    let why = refusal(&mut world).await;
    assert_eq!(why.as_deref(), Some("forbidden by x"), "it counts at once");
    assert_eq!(world.client.delete(&format!("{limits}/x")).await.code, 200);
    assert_eq!(refusal(&mut world).await, None);
    world.server.shutdown().await;
}
