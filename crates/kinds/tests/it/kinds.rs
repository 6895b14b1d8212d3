//! Defaults, validation and retained fields of kinds, on small objects made for the tests.

mod manifests;
mod metadata;
mod pods;
mod statuses;
mod volumes;
mod warnings;
mod workloads;

use crate::fixture::Fixture;
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{AnyObject, PostOptions, Status};
use kubist_registry::{Created, Replacement, Rest};
use serde_json::{Value, json};
use std::sync::Arc;

struct Kinds(Fixture);

impl Kinds {
    async fn new() -> Self {
        Self(Fixture::new().await)
    }

    fn decode(rest: &Rest, object: &Value) -> Box<dyn AnyObject> {
        let mut message = rest.kind().new_object().expect("it has metadata");
        let json = object.to_string();
        merge_json(&mut *message, json.as_bytes(), &mut DecodeContext::new()).expect("it decodes");
        message
    }

    fn rest(&self, resource: &str) -> (Arc<Rest>, &'static str) {
        let (group, plural) = resource.split_once('/').expect("group and plural");
        let version = if group == "autoscaling" { "v2" } else { "v1" };
        let rest = self.0.rest(group, version, plural);
        let namespace = if rest.facts().namespaced {
            "default"
        } else {
            ""
        };
        (rest, namespace)
    }

    async fn try_create(&self, resource: &str, object: Value) -> Result<Value, Status> {
        let (rest, namespace) = self.rest(resource);
        let object = Self::decode(&rest, &object);
        let (cx, options) = (self.0.cx(), PostOptions::default());
        match rest.create(&cx, namespace, "", object, &options).await? {
            Created::Object(stored) => {
                Ok(serde_json::from_slice(&stored.json()?).expect("it is JSON"))
            }
            Created::Status(status) => Err(*status),
        }
    }

    async fn create(&self, resource: &str, object: Value) -> Value {
        self.try_create(resource, object)
            .await
            .expect("it is valid")
    }

    async fn try_update(&self, resource: &str, object: &Value) -> Result<Value, Status> {
        let (rest, namespace) = self.rest(resource);
        let name = object["metadata"]["name"].as_str().expect("it has a name");
        let update = Replacement(Self::decode(&rest, object));
        let (cx, options) = (self.0.cx(), PostOptions::default());
        let updated = rest.update(&cx, namespace, name, &update, &options).await?;
        Ok(serde_json::from_slice(&updated.object.json()?).expect("it is JSON"))
    }

    /// Updates an object through a subresource, such as `status`.
    async fn try_update_subresource(
        &self,
        resource: &str,
        subresource: &str,
        object: &Value,
    ) -> Result<Value, Status> {
        let (rest, namespace) = self.rest(resource);
        let name = object["metadata"]["name"].as_str().expect("it has a name");
        let subresource = rest
            .subresource(subresource)
            .expect("it has such a subresource");
        let object = subresource.apply_defaults(Self::decode(&rest, object))?;
        let update = Replacement(object);
        let (cx, options) = (self.0.cx(), PostOptions::default());
        let updated = subresource
            .update(&cx, namespace, name, &update, &options)
            .await?;
        Ok(serde_json::from_slice(&updated.object.json()?).expect("it is JSON"))
    }

    /// Returns the causes why an object is refused, as `field: message`.
    async fn causes(&self, resource: &str, object: Value) -> Vec<String> {
        let refused = self
            .try_create(resource, object)
            .await
            .expect_err("it is not valid");
        causes(&refused)
    }
}

fn causes(status: &Status) -> Vec<String> {
    let causes = status.causes().iter();
    causes
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect()
}

fn template() -> Value {
    json!({
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "web:1"}]},
    })
}

fn pod(spec: Value) -> Value {
    let mut pod = json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "web:1"}],
    }});
    for (key, value) in spec.as_object().expect("it is an object") {
        pod["spec"][key] = value.clone();
    }
    pod
}

#[tokio::test]
async fn what_is_immutable_stays() {
    let kinds = Kinds::new().await;
    let object = json!({"metadata": {"name": "c"}, "immutable": true, "data": {"a": "b"}});
    let mut map = kinds.create("/configmaps", object).await;
    map["data"]["a"] = json!("c");
    let refused = kinds
        .try_update("/configmaps", &map)
        .await
        .expect_err("it is frozen");
    let expected = "data: Forbidden: field is immutable when `immutable` is set";
    assert_eq!(causes(&refused), [expected]);
    let claim = json!({"metadata": {"name": "v"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    let mut claim = kinds.create("/persistentvolumeclaims", claim).await;
    assert_eq!(
        claim["metadata"]["finalizers"],
        json!(["kubernetes.io/pvc-protection"])
    );
    claim["spec"]["accessModes"] = json!(["ReadOnlyMany"]);
    let refused = kinds.try_update("/persistentvolumeclaims", &claim).await;
    let causes = causes(&refused.expect_err("it is fixed"));
    assert!(
        causes[0].contains("-  \"ReadWriteOnce\"\n+  \"ReadOnlyMany\"\n"),
        "{causes:?}"
    );
}

#[tokio::test]
async fn secrets_take_texts_and_never_show_them_in_errors() {
    let kinds = Kinds::new().await;
    let object = json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}});
    let secret = kinds.create("/secrets", object).await;
    assert_eq!(
        (&secret["type"], &secret["data"]),
        (&json!("Opaque"), &json!({"a": "Yg=="}))
    );
    let object = json!({"metadata": {"name": "t"}, "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": "hush"}});
    let causes = kinds.causes("/secrets", object).await;
    assert!(
        causes[0]
            .starts_with("data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\"")
    );
}

#[tokio::test]
async fn a_second_run_of_defaults_changes_nothing() {
    let kinds = Kinds::new().await;
    let volumes = json!([{"name": "a"}, {"name": "b", "secret": {"secretName": "s"}}]);
    let objects = [
        ("/pods", pod(json!({"volumes": volumes}))),
        (
            "/services",
            json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}),
        ),
        (
            "/replicationcontrollers",
            json!({"metadata": {"name": "r"}, "spec": {"template": template()}}),
        ),
        (
            "autoscaling/horizontalpodautoscalers",
            json!({"metadata": {"name": "h"}, "spec": {
            "maxReplicas": 2, "behavior": {},
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}),
        ),
        (
            "networking.k8s.io/networkpolicies",
            json!({"metadata": {"name": "n"}, "spec": {
            "podSelector": {}, "egress": [{"ports": [{"port": 53}]}]}}),
        ),
    ];
    for (resource, object) in objects {
        let first = kinds.create(resource, object).await;
        let second = kinds
            .try_update(resource, &first)
            .await
            .expect("nothing changed");
        assert_eq!(first, second, "{resource}");
    }
}
