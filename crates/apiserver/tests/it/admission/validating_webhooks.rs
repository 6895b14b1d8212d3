//! Validating webhooks.

use super::{MAPS, VALIDATING, World, allow, configuration, hook, settle};
use serde_json::{Value, json};

const KIND: &str = "ValidatingWebhookConfiguration";

async fn world(hooks: &[Value]) -> World {
    let mut world = World::new().await;
    world
        .configure(VALIDATING, &configuration(KIND, hooks))
        .await;
    world
}

#[tokio::test]
async fn a_webhook_that_denies_refuses_the_request_in_its_words() {
    let mut world = world(&[hook("a")]).await;
    world.script("/a", |_| {
        Ok(json!({
            "allowed": false, "status": {"message": "not today", "code": 403},
            "warnings": ["look out"], "auditAnnotations": {"why": "because"},
        }))
    });
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 403);
    let message = r#"admission webhook "a.example.com" denied the request: not today"#;
    assert_eq!(answer.json()["message"], message);
    assert_eq!(answer.header("warning"), r#"299 - "look out""#);
    assert_eq!(world.client.get(&format!("{MAPS}/m")).await.code, 404);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_review_has_the_request_and_its_objects() {
    let mut world = world(&[hook("a")]).await;
    world.script("/a", allow);
    assert_eq!(world.create_map("m").await.code, 201);
    let reviews = world.reviews();
    let request = &reviews[0]["request"];
    assert_eq!(request["operation"], "CREATE");
    assert_eq!(request["resource"]["resource"], "configmaps");
    assert_eq!(
        request["requestKind"],
        json!({"group": "", "version": "v1", "kind": "ConfigMap"})
    );
    assert_eq!(request["name"], "m");
    assert_eq!(request["namespace"], "default");
    assert_eq!(request["object"]["data"], json!({"a": "1"}));
    assert_eq!(request["object"]["kind"], "ConfigMap");
    assert_eq!(request["oldObject"], json!(null));
    assert_eq!(request["options"]["kind"], "CreateOptions");
    assert_eq!(request["userInfo"]["username"], "kubernetes-admin");
    let uid = request["object"]["metadata"]["uid"].as_str();
    assert!(
        uid.is_some_and(|it| !it.is_empty()),
        "it is the final object"
    );
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_webhook_that_cannot_be_called_fails_or_is_ignored_by_its_policy() {
    let mut world = world(&[hook("a")]).await;
    let answer = world.create_map("m").await;
    assert_eq!(answer.code, 500);
    let message = "Internal error occurred: failed calling webhook \"a.example.com\": failed to \
                   call webhook: Post \"https://hooks/a?timeout=10s\": dial tcp 127.0.0.1:1: \
                   connect: connection refused";
    assert_eq!(answer.json()["message"], message);
    let mut ignored = hook("a");
    ignored["failurePolicy"] = "Ignore".into();
    let path = format!("{VALIDATING}/hooks");
    let patch = json!({"webhooks": [ignored]});
    assert_eq!(world.merge(&path, &patch).await.code, 200);
    settle().await;
    assert_eq!(world.create_map("m").await.code, 201);
    world.server.shutdown().await;
}

#[tokio::test]
async fn what_selectors_and_conditions_leave_out_is_not_sent() {
    let mut selective = hook("a");
    selective["objectSelector"] = json!({"matchLabels": {"checked": "yes"}});
    let mut conditional = hook("b");
    conditional["matchConditions"] = json!([
        {"name": "prefix", "expression": "object.metadata.name.startsWith('x')"},
    ]);
    let mut elsewhere = hook("c");
    elsewhere["namespaceSelector"] =
        json!({"matchLabels": {"kubernetes.io/metadata.name": "other"}});
    let mut world = world(&[selective, conditional, elsewhere]).await;
    world.script("", allow);
    assert_eq!(world.create_map("m").await.code, 201);
    assert_eq!(world.reviews().len(), 0);
    assert_eq!(world.create_map("x").await.code, 201);
    assert_eq!(world.reviews().len(), 1);
    let patch = json!({"metadata": {"labels": {"checked": "yes"}}});
    let path = format!("{MAPS}/m");
    assert_eq!(world.merge(&path, &patch).await.code, 200);
    assert_eq!(world.reviews().len(), 2);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_dry_run_is_sent_as_such() {
    let mut world = world(&[hook("a")]).await;
    world.script("/a", allow);
    let path = format!("{MAPS}?dryRun=All");
    let answer = world.client.post(&path, &super::map("m")).await;
    assert_eq!(answer.code, 201);
    let reviews = world.reviews();
    assert_eq!(reviews[0]["request"]["dryRun"], true);
    assert_eq!(reviews[0]["request"]["options"]["dryRun"], json!(["All"]));
    world.server.shutdown().await;
}

#[tokio::test]
async fn webhooks_are_never_sent_configurations_of_webhooks() {
    let mut all = hook("a");
    all["rules"] = json!([{
        "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"],
    }]);
    let mut world = world(&[all]).await;
    assert_eq!(world.create_map("m").await.code, 500, "it is down");
    let answer = world.client.delete(&format!("{VALIDATING}/hooks")).await;
    assert_eq!(answer.code, 200);
    settle().await;
    assert_eq!(world.create_map("m").await.code, 201);
    world.server.shutdown().await;
}

#[tokio::test]
async fn an_object_is_sent_in_the_version_that_the_rule_names() {
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1", "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                }},
            },
        })
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gates.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "gates", "kind": "Gate"},
            "versions": [version("v1"), version("v1beta1")],
        },
    });
    let mut equivalent = hook("a");
    equivalent["rules"] = json!([{
        "operations": ["CREATE"], "apiGroups": ["example.com"], "apiVersions": ["v1beta1"],
        "resources": ["gates"],
    }]);
    let mut exact = hook("b");
    exact["rules"] = equivalent["rules"].clone();
    exact["matchPolicy"] = "Exact".into();
    let mut world = world(&[equivalent, exact]).await;
    world.script("", allow);
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(world.client.post(path, &definition).await.code, 201);
    let gates = "/apis/example.com/v1/namespaces/default/gates";
    while world.client.get(gates).await.code != 200 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let gate = json!({
        "apiVersion": "example.com/v1", "kind": "Gate", "metadata": {"name": "g"}, "spec": {},
    });
    assert_eq!(world.client.post(gates, &gate).await.code, 201);
    let reviews = world.reviews();
    assert_eq!(reviews.len(), 1, "the exact one does not match");
    let request = &reviews[0]["request"];
    assert_eq!(request["kind"]["version"], "v1beta1");
    assert_eq!(request["resource"]["version"], "v1beta1");
    assert_eq!(request["requestKind"]["version"], "v1");
    assert_eq!(request["object"]["apiVersion"], "example.com/v1beta1");
    world.server.shutdown().await;
}

#[tokio::test]
async fn deletions_and_their_collections_are_sent_with_what_is_deleted() {
    let mut on_delete = hook("a");
    on_delete["rules"][0]["operations"] = json!(["DELETE"]);
    let mut world = world(&[on_delete]).await;
    world.script("/a", |request| {
        let name = &request["oldObject"]["metadata"]["name"];
        Ok(json!({"allowed": name != "kept"}))
    });
    for name in ["kept", "other", "third"] {
        assert_eq!(world.create_map(name).await.code, 201);
    }
    let answer = world.client.delete(&format!("{MAPS}/kept")).await;
    assert_eq!(answer.code, 400, "{}", answer.json());
    let message = r#"admission webhook "a.example.com" denied the request without explanation"#;
    assert_eq!(answer.json()["message"], message);
    assert_eq!(
        world.client.delete(&format!("{MAPS}/other")).await.code,
        200
    );
    let reviews = world.reviews();
    let request = &reviews[0]["request"];
    assert_eq!(request["operation"], "DELETE");
    assert_eq!(request["object"], json!(null));
    assert_eq!(request["options"]["kind"], "DeleteOptions");
    assert_eq!(world.client.delete(MAPS).await.code, 400);
    assert_eq!(world.client.get(&format!("{MAPS}/kept")).await.code, 200);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_binding_is_sent_as_the_resource_that_the_client_used() {
    let mut any = hook("a");
    any["rules"][0]["resources"] = json!(["pods/binding", "bindings"]);
    any["rules"][0]["operations"] = json!(["*"]);
    let mut world = world(&[any]).await;
    world.script("/a", allow);
    let pods = "/api/v1/namespaces/default/pods";
    for name in ["p", "q"] {
        let containers = json!([{"name": "a", "image": "i"}]);
        let pod = json!({"metadata": {"name": name}, "spec": {"containers": containers}});
        assert_eq!(world.client.post(pods, &pod).await.code, 201);
    }
    let binding = |name: &str| json!({"metadata": {"name": name}, "target": {"name": "n"}});
    for (path, name) in [
        ("/api/v1/namespaces/default/bindings".to_owned(), "p"),
        (format!("{pods}/q/binding"), "q"),
    ] {
        let answer = world.client.post(&path, &binding(name)).await;
        assert_eq!(answer.code, 201, "{path}");
        let bound = world.client.get(&format!("{pods}/{name}")).await;
        assert_eq!(bound.json()["spec"]["nodeName"], "n");
    }
    let of = |review: &Value| {
        let request = &review["request"];
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        (
            text(&request["resource"]["resource"]),
            text(&request["subResource"]),
            text(&request["kind"]["kind"]),
            text(&request["name"]),
        )
    };
    let sent: Vec<_> = world.reviews().iter().map(of).collect();
    let text = |it: [&str; 4]| {
        let [resource, subresource, kind, name] = it.map(str::to_owned);
        (resource, subresource, kind, name)
    };
    assert_eq!(
        sent,
        [
            text(["bindings", "", "Binding", "p"]),
            text(["pods", "binding", "Binding", "q"]),
        ]
    );
    world.server.shutdown().await;
}
