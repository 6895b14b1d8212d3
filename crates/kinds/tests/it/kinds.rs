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
    async fn try_put_part(
        &self,
        resource: &str,
        part: &str,
        object: &Value,
    ) -> Result<Value, Status> {
        let (rest, namespace) = self.rest(resource);
        let name = object["metadata"]["name"].as_str().expect("it has a name");
        let part = rest.subresource(part).expect("it has such a part");
        let object = part.apply_defaults(Self::decode(&rest, object))?;
        let update = Replacement(object);
        let (cx, options) = (self.0.cx(), PostOptions::default());
        let updated = part.update(&cx, namespace, name, &update, &options).await?;
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
async fn a_pod_waits_with_everything_filled_in() {
    let kinds = Kinds::new().await;
    let pod = kinds.create("/pods", pod(json!({"nodeName": "n"}))).await;
    assert_eq!(
        pod["status"],
        json!({"phase": "Pending", "qosClass": "BestEffort"})
    );
    assert_eq!(pod["metadata"]["generation"], 1);
    let (spec, container) = (&pod["spec"], &pod["spec"]["containers"][0]);
    assert_eq!(container["imagePullPolicy"], "IfNotPresent");
    assert_eq!(container["terminationMessagePath"], "/dev/termination-log");
    assert_eq!(spec["restartPolicy"], "Always");
    assert_eq!(spec["terminationGracePeriodSeconds"], 30);
    assert_eq!(spec["priority"], 0);
    assert_eq!(spec["enableServiceLinks"], true);
    let tolerated: Vec<&Value> = spec["tolerations"]
        .as_array()
        .expect("there are")
        .iter()
        .map(|it| &it["key"])
        .collect();
    assert_eq!(
        tolerated,
        [
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable"
        ]
    );
}

#[tokio::test]
async fn requests_follow_limits_in_pods_and_not_in_templates() {
    let kinds = Kinds::new().await;
    let limited =
        json!({"name": "c", "image": "x", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}});
    let pod = kinds
        .create("/pods", pod(json!({"containers": [limited]})))
        .await;
    assert_eq!(
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"],
        "1Gi"
    );
    assert_eq!(pod["status"]["qosClass"], "Guaranteed");
    let mut template = template();
    template["spec"]["containers"][0] = limited;
    let object = json!({"metadata": {"name": "t"}, "template": template});
    let made = kinds.create("/podtemplates", object).await;
    let container = &made["template"]["spec"]["containers"][0];
    assert_eq!(
        container["resources"],
        json!({"limits": {"cpu": "1", "memory": "1Gi"}})
    );
}

#[tokio::test]
async fn a_pods_priority_is_that_of_its_class() {
    let kinds = Kinds::new().await;
    let class = json!({"metadata": {"name": "high"}, "value": 7});
    kinds
        .create("scheduling.k8s.io/priorityclasses", class)
        .await;
    let made = kinds
        .create("/pods", pod(json!({"priorityClassName": "high"})))
        .await;
    assert_eq!(made["spec"]["priority"], 7);
    let refused = kinds
        .try_create("/pods", pod(json!({"priorityClassName": "none"})))
        .await;
    let status = refused.expect_err("there is no such class");
    let expected = "pods \"p\" is forbidden: no PriorityClass with name none was found";
    assert_eq!((status.code, &*status.message), (403, expected));
}

#[tokio::test]
async fn every_mistake_in_a_pod_is_a_cause() {
    let kinds = Kinds::new().await;
    let bad = pod(json!({
        "restartPolicy": "X",
        "containers": [{"name": "c", "image": "x", "ports": [{"containerPort": 0}],
            "env": [{"name": ""}], "livenessProbe": {"periodSeconds": -1}}],
        "volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}],
    }));
    assert_eq!(
        kinds.causes("/pods", bad).await,
        [
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
            "spec.containers[0].ports[0].containerPort: Required value",
            "spec.containers[0].env[0].name: Required value",
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
            "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater \
             than or equal to 0",
            "spec.restartPolicy: Unsupported value: \"X\": supported values: \"Always\", \
             \"OnFailure\", \"Never\"",
        ]
    );
}

#[tokio::test]
async fn only_a_few_fields_of_a_pod_may_change() {
    let kinds = Kinds::new().await;
    let mut pod = kinds.create("/pods", pod(json!({}))).await;
    pod["spec"]["containers"][0]["image"] = json!("web:2");
    let mut pod = kinds
        .try_update("/pods", &pod)
        .await
        .expect("images may change");
    assert_eq!(pod["metadata"]["generation"], 2);
    pod["spec"]["nodeName"] = json!("n");
    let refused = kinds
        .try_update("/pods", &pod)
        .await
        .expect_err("the node may not");
    let causes = causes(&refused);
    assert!(causes[0].starts_with("spec: Forbidden: pod updates may not change fields"));
    assert!(
        causes[0].contains("\n- \"NodeName\": \"\",\n+ \"NodeName\": \"n\",\n"),
        "{causes:?}"
    );
}

#[tokio::test]
async fn a_workload_selects_the_pods_that_it_makes() {
    let kinds = Kinds::new().await;
    let object = |selector: Value| {
        let spec = json!({"selector": selector, "template": template()});
        json!({"metadata": {"name": "w"}, "spec": spec})
    };
    for plural in ["deployments", "replicasets", "statefulsets", "daemonsets"] {
        let resource = format!("apps/{plural}");
        let other = object(json!({"matchLabels": {"app": "b"}}));
        assert_eq!(
            kinds.causes(&resource, other).await,
            [
                "spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not \
              match template `labels`"
            ],
            "{plural}"
        );
        let own = object(json!({"matchLabels": {"app": "a"}}));
        let mut made = kinds.create(&resource, own).await;
        assert_eq!(
            made["spec"]["template"]["spec"]["dnsPolicy"], "ClusterFirst",
            "{plural}"
        );
        made["spec"]["selector"] =
            json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
        let refused = kinds
            .try_update(&resource, &made)
            .await
            .expect_err("it is fixed");
        let path = if plural == "statefulsets" {
            "spec"
        } else {
            "spec.selector"
        };
        assert_eq!(refused.causes()[0].field, path, "{plural}");
    }
}

#[tokio::test]
async fn a_job_marks_its_pods_with_its_uid() {
    let kinds = Kinds::new().await;
    let mut template = template();
    template["metadata"] = json!({});
    template["spec"]["restartPolicy"] = json!("Never");
    let object = json!({"metadata": {"name": "j"}, "spec": {"template": template}});
    let job = kinds.create("batch/jobs", object).await;
    let uid = job["metadata"]["uid"].clone();
    let key = "batch.kubernetes.io/controller-uid";
    assert_eq!(job["spec"]["selector"]["matchLabels"][key], uid);
    assert_eq!(job["spec"]["template"]["metadata"]["labels"][key], uid);
    assert_eq!(job["metadata"]["labels"]["job-name"], "j");
    // The Job was stored without labels. The first change, of any field, stores them.
    let version = job["metadata"]["resourceVersion"].clone();
    let mut job = kinds
        .try_update("batch/jobs", &job)
        .await
        .expect("nothing changed");
    assert_ne!(job["metadata"]["resourceVersion"], version);
    let version = job["metadata"]["resourceVersion"].clone();
    let same = kinds.try_update("batch/jobs", &job).await;
    assert_eq!(
        same.expect("nothing changed")["metadata"]["resourceVersion"],
        version
    );
    job["spec"]["parallelism"] = json!(3);
    let mut job = kinds
        .try_update("batch/jobs", &job)
        .await
        .expect("it may change");
    job["spec"]["template"]["spec"]["restartPolicy"] = json!("OnFailure");
    let refused = kinds
        .try_update("batch/jobs", &job)
        .await
        .expect_err("it may not");
    assert_eq!(refused.causes()[0].field, "spec.template");
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
