//! Validating policies.

use super::{MAPS, World, map, settle};
use kubist_apiserver::Authorization;
use serde_json::{Value, json};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// Returns a policy for config maps with more members of its specification.
pub(super) fn policy(members: &Value) -> Value {
    let mut policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }]},
        },
    });
    for (name, value) in members.as_object().expect("it has members") {
        policy["spec"][name] = value.clone();
    }
    policy
}

pub(super) fn binding(members: &Value) -> Value {
    let mut binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": ["Deny"]},
    });
    for (name, value) in members.as_object().expect("it has members") {
        binding["spec"][name] = value.clone();
    }
    binding
}

pub(super) async fn bind(world: &mut World, of_policy: &Value, of_binding: &Value) {
    world.configure(POLICIES, &policy(of_policy)).await;
    world.configure(BINDINGS, &binding(of_binding)).await;
}

/// Creates a config map, and returns the code and the message of the answer.
async fn created(world: &mut World, name: &str) -> (u16, String) {
    let answer = world.create_map(name).await;
    let message = answer.json()["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (answer.code, message)
}

#[tokio::test]
async fn a_violation_is_refused_with_the_names_of_policy_and_binding() {
    let mut world = World::new().await;
    let rules = json!({"validations": [{"expression": "object.data.a != '1'"}]});
    world.configure(POLICIES, &policy(&rules)).await;
    assert_eq!(world.create_map("free").await.code, 201, "it is not bound");
    world.configure(BINDINGS, &binding(&json!({}))).await;
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 422);
    let status = answer.json();
    let why = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: \
               object.data.a != '1'";
    assert_eq!(
        status["message"],
        format!("configmaps \"m\" is forbidden: {why}")
    );
    assert_eq!(status["reason"], "Invalid");
    assert_eq!(status["details"]["causes"], json!([{"message": why}]));
    world.server.shutdown().await;
}

#[tokio::test]
async fn messages_are_evaluated_with_variables_and_reasons_are_those_of_the_rule() {
    let mut world = World::new().await;
    let rules = json!({
        "variables": [
            {"name": "size", "expression": "object.data.size()"},
            {"name": "text", "expression": "'size ' + string(variables.size)"},
        ],
        "validations": [{
            "expression": "variables.size > 1", "message": "too small",
            "messageExpression": "variables.text + ' of ' + object.metadata.name",
            "reason": "Forbidden",
        }],
    });
    bind(&mut world, &rules, &json!({})).await;
    let (code, message) = created(&mut world, "m").await;
    assert_eq!(code, 403);
    let why = "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' \
               denied request: size 1 of m";
    assert_eq!(message, why);
    let mut large = map("m");
    large["data"]["b"] = "2".into();
    assert_eq!(world.client.post(MAPS, &large).await.code, 201);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_violation_may_only_warn() {
    let mut world = World::new().await;
    let rules = json!({"validations": [{"expression": "false", "message": "no"}]});
    let actions = json!({"validationActions": ["Warn", "Audit"]});
    bind(&mut world, &rules, &actions).await;
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 201);
    let warning = "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': \
                   no\"";
    assert_eq!(answer.header("warning"), warning);
    world.server.shutdown().await;
}

#[tokio::test]
async fn an_expression_that_fails_refuses_the_request_unless_failures_are_ignored() {
    let mut world = World::new().await;
    let rules = json!({"validations": [{"expression": "object.spec.x == 1"}]});
    bind(&mut world, &rules, &json!({})).await;
    let (code, message) = created(&mut world, "m").await;
    assert_eq!(code, 422);
    let why = "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' \
               denied request: expression 'object.spec.x == 1' resulted in error: no such key: \
               spec";
    assert_eq!(message, why);
    let path = format!("{POLICIES}/p");
    let patch = json!({"spec": {"failurePolicy": "Ignore"}});
    assert_eq!(world.merge(&path, &patch).await.code, 200);
    settle().await;
    assert_eq!(world.create_map("m").await.code, 201);
    world.server.shutdown().await;
}

#[tokio::test]
async fn expressions_know_the_request_the_namespace_and_the_rights_of_the_user() {
    let mut world = World::with(Authorization::rbac()).await;
    let rules = json!({"validations": [
        {"expression": "request.userInfo.username == 'kubernetes-admin'"},
        {"expression": "request.operation == 'CREATE'"},
        {"expression": "request.resource.resource == 'configmaps'"},
        {"expression": "namespaceObject.metadata.name == 'default' && oldObject == null"},
        {"expression": "authorizer.requestResource.check('delete').allowed()"},
        {"expression":
            "!authorizer.serviceAccount('default', 'x').group('').resource('pods')\
             .namespace('default').check('list').allowed()"},
    ]});
    bind(&mut world, &rules, &json!({})).await;
    assert_eq!(created(&mut world, "m").await, (201, String::new()));
    world.server.shutdown().await;
}

#[tokio::test]
async fn bindings_and_conditions_choose_requests() {
    let mut world = World::new().await;
    let rules = json!({
        "matchConditions": [{"name": "c", "expression": "!object.metadata.name.startsWith('x')"}],
        "validations": [{"expression": "false"}],
    });
    let selected = json!({"matchResources": {"objectSelector": {"matchLabels": {"a": "1"}}}});
    bind(&mut world, &rules, &selected).await;
    assert_eq!(world.create_map("unlabeled").await.code, 201);
    let mut labeled = map("m");
    labeled["metadata"]["labels"] = json!({"a": "1"});
    assert_eq!(world.client.post(MAPS, &labeled).await.code, 422);
    labeled["metadata"]["name"] = "x".into();
    assert_eq!(world.client.post(MAPS, &labeled).await.code, 201);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_policy_that_refuses_everything_can_be_deleted() {
    let mut world = World::new().await;
    let rules = json!({
        "matchConstraints": {"resourceRules": [{
            "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"],
        }]},
        "validations": [{"expression": "false"}],
    });
    bind(&mut world, &rules, &json!({})).await;
    assert_eq!(world.create_map("m").await.code, 422);
    assert_eq!(
        world.client.delete(&format!("{BINDINGS}/b")).await.code,
        200
    );
    settle().await;
    assert_eq!(world.create_map("m").await.code, 201);
    world.server.shutdown().await;
}
