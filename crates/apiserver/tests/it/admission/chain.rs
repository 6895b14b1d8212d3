//! Webhooks and policies together, and the requests that they see.

use super::{MUTATING, VALIDATING, World, allow, configuration, hook, map, settle};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn counting(reinvocation: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }]},
            "reinvocationPolicy": reinvocation,
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression":
                "[JSONPatch{op: 'add', path: '/data/seen', value: string(object.data.size())}]"}}],
        },
    })
}

#[tokio::test]
async fn a_policy_that_asks_for_it_sees_what_a_webhook_changed() {
    for (reinvocation, seen) in [("Never", "1"), ("IfNeeded", "3")] {
        let mut world = World::new().await;
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"name": "b"}, "spec": {"policyName": "p"},
        });
        world.configure(POLICIES, &counting(reinvocation)).await;
        world.configure(BINDINGS, &binding).await;
        let kind = "MutatingWebhookConfiguration";
        world
            .configure(MUTATING, &configuration(kind, &[hook("a")]))
            .await;
        world.script("/a", |_| {
            let patch = json!([{"op": "add", "path": "/data/late", "value": "a"}]);
            let patch = STANDARD.encode(patch.to_string());
            Ok(json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
        });
        let answer = world.create_map("m").await;
        assert_eq!(answer.json()["data"]["seen"], seen, "{reinvocation}");
        world.server.shutdown().await;
    }
}

#[tokio::test]
async fn subresources_are_seen_as_the_objects_that_their_requests_have() {
    let mut of_scale = hook("a");
    of_scale["rules"] = json!([{
        "operations": ["UPDATE"], "apiGroups": ["apps"], "apiVersions": ["v1"],
        "resources": ["deployments/scale", "deployments/status"],
    }]);
    let mut world = World::new().await;
    let kind = "ValidatingWebhookConfiguration";
    world
        .configure(VALIDATING, &configuration(kind, &[of_scale]))
        .await;
    world.script("/a", |request| {
        let replicas = &request["object"]["spec"]["replicas"];
        Ok(json!({"allowed": replicas != 9}))
    });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "i"}]},
            },
        },
    });
    assert_eq!(world.client.post(DEPLOYMENTS, &deployment).await.code, 201);
    let scale = format!("{DEPLOYMENTS}/web/scale");
    let to = |replicas: i32| json!({"spec": {"replicas": replicas}});
    assert_eq!(world.merge(&scale, &to(9)).await.code, 400);
    assert_eq!(world.merge(&scale, &to(2)).await.code, 200);
    let status = format!("{DEPLOYMENTS}/web/status");
    let patch = json!({"status": {"replicas": 1}});
    assert_eq!(world.merge(&status, &patch).await.code, 200);
    let reviews = world.reviews();
    let kinds: Vec<(&Value, &Value)> = reviews
        .iter()
        .map(|it| {
            (
                &it["request"]["kind"]["kind"],
                &it["request"]["subResource"],
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [
            (&json!("Scale"), &json!("scale")),
            (&json!("Scale"), &json!("scale")),
            (&json!("Deployment"), &json!("status")),
        ]
    );
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_configuration_counts_soon_and_until_it_is_gone() {
    let mut world = World::new().await;
    let of = configuration("ValidatingWebhookConfiguration", &[hook("a")]);
    assert_eq!(world.client.post(VALIDATING, &of).await.code, 201);
    #[expect(clippy::disallowed_methods, reason = "what is measured is time")]
    let begun = Instant::now();
    let mut number = 0;
    while world.create_map(&format!("m-{number}")).await.code == 201 {
        number += 1;
        // It is 10 ms on an idle machine.
        assert!(begun.elapsed() < Duration::from_secs(2));
    }
    world.script("/a", allow);
    assert_eq!(
        world.client.post(super::MAPS, &map("allowed")).await.code,
        201
    );
    assert_eq!(
        world
            .client
            .delete(&format!("{VALIDATING}/hooks"))
            .await
            .code,
        200
    );
    settle().await;
    let before = world.reviews().len();
    assert_eq!(world.create_map("unseen").await.code, 201);
    assert_eq!(world.reviews().len(), before);
    world.server.shutdown().await;
}
