//! Mutating policies.

use super::{MAPS, World, map};
use serde_json::{Value, json};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

/// Puts a policy in force that changes new objects of a resource in these steps.
async fn change(world: &mut World, name: &str, resource: (&str, &str), steps: &Value) {
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "operations": ["CREATE"], "apiGroups": [resource.0], "apiVersions": ["v1"],
                "resources": [resource.1],
            }]},
            "variables": [{"name": "text", "expression": "'of ' + object.metadata.name"}],
            "reinvocationPolicy": "Never",
            "mutations": steps,
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": {"policyName": name},
    });
    world.configure(POLICIES, &policy).await;
    world.configure(BINDINGS, &binding).await;
}

fn applied(expression: &str) -> Value {
    json!([{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}])
}

fn patched(expression: &str) -> Value {
    json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}])
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "i"}]},
            },
        },
    })
}

#[tokio::test]
async fn a_configuration_is_merged_by_the_type_of_the_object() {
    let mut world = World::new().await;
    let steps = applied(
        "Object{metadata: Object.metadata{labels: Object.metadata.labels{by: variables.text}}, \
         spec: Object.spec{replicas: 3, template: Object.spec.template{spec: \
         Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: \
         'side', image: 's'}]}}}}",
    );
    change(&mut world, "p", ("apps", "deployments"), &steps).await;
    let answer = world.client.post(DEPLOYMENTS, &deployment()).await;
    // A label has no spaces.
    assert_eq!(answer.code, 422, "{}", answer.json());
    let steps = applied(
        "Object{spec: Object.spec{replicas: 3, template: Object.spec.template{spec: \
         Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: \
         'side', image: 's'}]}}}}",
    );
    let patch = json!({"spec": {"mutations": steps}});
    assert_eq!(
        world.merge(&format!("{POLICIES}/p"), &patch).await.code,
        200
    );
    super::settle().await;
    let answer = world.client.post(DEPLOYMENTS, &deployment()).await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    let spec = &answer.json()["spec"];
    assert_eq!(spec["replicas"], 3);
    let containers = spec["template"]["spec"]["containers"].as_array().cloned();
    let mut names: Vec<String> = containers
        .unwrap_or_default()
        .iter()
        .map(|it| it["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["main", "side"]);
    world.server.shutdown().await;
}

#[tokio::test]
async fn operations_change_what_they_name_and_a_failed_test_leaves_the_object() {
    let mut world = World::new().await;
    let add = patched(
        "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('b'), value: variables.text}]",
    );
    change(&mut world, "a", ("", "configmaps"), &add).await;
    let never = patched(
        "[JSONPatch{op: 'test', path: '/data/a', value: 'other'}, \
         JSONPatch{op: 'remove', path: '/data/a'}]",
    );
    change(&mut world, "b", ("", "configmaps"), &never).await;
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    assert_eq!(answer.json()["data"], json!({"a": "1", "b": "of m"}));
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_policy_that_fails_refuses_the_request_with_its_names() {
    let mut world = World::new().await;
    let steps = patched("[JSONPatch{op: 'remove', path: '/data/' + object.spec.missing}]");
    change(&mut world, "p", ("", "configmaps"), &steps).await;
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 403);
    let status = answer.json();
    let why = "policy 'p' with binding 'p' denied request: expression '[JSONPatch{op: 'remove', \
               path: '/data/' + object.spec.missing}]' resulted in error: no such key: spec";
    assert_eq!(status["message"], why);
    assert_eq!(status["reason"], "Invalid");
    assert_eq!(status["details"]["causes"], json!([{"message": why}]));
    world.server.shutdown().await;
}

#[tokio::test]
async fn an_operation_that_adds_an_unknown_field_is_refused() {
    let mut world = World::new().await;
    let steps = patched("[JSONPatch{op: 'add', path: '/wrong', value: 1}]");
    change(&mut world, "p", ("", "configmaps"), &steps).await;
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 500);
    let why = "Internal error occurred: strict decoding error: unknown field \"wrong\"";
    assert_eq!(answer.json()["message"], why);
    world.server.shutdown().await;
}

#[tokio::test]
async fn types_of_a_configuration_are_those_of_its_fields() {
    let mut world = World::new().await;
    let steps = applied("Object{data: Object.other{b: '2'}}");
    change(&mut world, "p", ("", "configmaps"), &steps).await;
    let answer = world.create_map("m").await;
    let why = "policy 'p' with binding 'p' denied request: type mismatch: unexpected type name \
               \"Object.other\", expected \"Object.data\", which matches field name path from \
               root Object type";
    assert_eq!(answer.json()["message"], why);
    world.server.shutdown().await;
}

#[tokio::test]
async fn what_is_atomic_is_not_merged() {
    let mut world = World::new().await;
    let steps = applied(
        "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}",
    );
    change(&mut world, "p", ("apps", "deployments"), &steps).await;
    let answer = world.client.post(DEPLOYMENTS, &deployment()).await;
    let why = "policy 'p' with binding 'p' denied request: error applying patch: invalid \
               ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector";
    assert_eq!(answer.json()["message"], why);
    world.server.shutdown().await;
}

#[tokio::test]
async fn policies_change_custom_objects_by_their_schema() {
    let mut world = World::new().await;
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gates.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "gates", "kind": "Gate"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {
                    "type": "object", "properties": {
                        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
                    },
                }}},
            }}],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(world.client.post(path, &definition).await.code, 201);
    let gates = "/apis/example.com/v1/namespaces/default/gates";
    while world.client.get(gates).await.code != 200 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let steps = applied("Object{spec: Object.spec{tags: Object.spec.tags{b: '2'}}}");
    change(&mut world, "p", ("example.com", "gates"), &steps).await;
    let gate = json!({
        "apiVersion": "example.com/v1", "kind": "Gate", "metadata": {"name": "g"},
        "spec": {"tags": {"a": "1"}},
    });
    let answer = world.client.post(gates, &gate).await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    assert_eq!(answer.json()["spec"]["tags"], json!({"a": "1", "b": "2"}));
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_dry_run_shows_what_would_be_stored() {
    let mut world = World::new().await;
    let steps = applied("Object{data: {'b': '2'}}");
    change(&mut world, "p", ("", "configmaps"), &steps).await;
    let path = format!("{MAPS}?dryRun=All");
    let answer = world.client.post(&path, &map("m")).await;
    assert_eq!(answer.json()["data"], json!({"a": "1", "b": "2"}));
    assert_eq!(world.client.get(&format!("{MAPS}/m")).await.code, 404);
    world.server.shutdown().await;
}
