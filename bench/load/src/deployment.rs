//! A realistic Deployment and its three managers: an applier of the whole object, an applier of a
//! few fields, and a controller that writes the status.

use crate::server::NAMESPACE;
use serde_json::{Value, json};

/// The manager that applies the whole object.
pub const DEPLOYER: &str = "deployer";
/// The manager that applies a few fields.
pub const SCALER: &str = "scaler";
/// The manager that updates the status.
pub const CONTROLLER: &str = "deployment-controller";

/// Returns the path of the collection.
pub fn collection() -> String {
    format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments")
}

/// Returns the whole object, with this number in the tag of its first image.
pub fn whole(name: &str, tag: usize) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": labels(name),
            "annotations": {"example.com/team": "payments", "example.com/contact": "#payments"},
        },
        "spec": {
            "replicas": 3,
            "revisionHistoryLimit": 5,
            "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0},
            },
            "template": {
                "metadata": {
                    "labels": labels(name),
                    "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9102"},
                },
                "spec": pod_spec(name, tag),
            },
        },
    })
}

/// Returns the few fields, among them the replicas if given.
pub fn part(name: &str, replicas: Option<usize>) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "annotations": {"example.com/scaled-by": SCALER}},
        "spec": {"minReadySeconds": 5},
    });
    if let Some(replicas) = replicas {
        object["spec"]["replicas"] = replicas.into();
    }
    object
}

/// Returns a merge patch of the status.
pub fn status() -> Value {
    let condition = |kind: &str, reason: &str| {
        json!({"type": kind, "status": "True", "reason": reason, "message": "as wished",
            "lastUpdateTime": "2026-05-04T08:00:10Z", "lastTransitionTime": "2026-05-04T08:00:10Z"})
    };
    json!({"status": {
        "observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3,
        "availableReplicas": 3,
        "conditions": [
            condition("Available", "MinimumReplicasAvailable"),
            condition("Progressing", "NewReplicaSetAvailable"),
        ],
    }})
}

fn labels(name: &str) -> Value {
    json!({
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/part-of": "payments",
        "app.kubernetes.io/version": "2.4.1",
    })
}

fn pod_spec(name: &str, tag: usize) -> Value {
    let image = format!("registry.example.com/payments/server:v{tag}");
    json!({
        "serviceAccountName": name,
        "securityContext": {"fsGroup": 2000, "runAsNonRoot": true},
        "terminationGracePeriodSeconds": 30,
        "containers": [
            container("server", &image),
            container("sidecar", "registry.example.com/mesh/sidecar:1.27.1"),
        ],
        "volumes": [
            {"name": "settings", "configMap": {"name": "settings"}},
            {"name": "scratch", "emptyDir": {}},
        ],
    })
}

fn container(name: &str, image: &str) -> Value {
    let mut env: Vec<Value> = (0..6)
        .map(|it| json!({"name": format!("SETTING_{it}"), "value": format!("value-{it}")}))
        .collect();
    env.push(json!({"name": "POD_IP",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}));
    let probe = |path: &str, period: u32| json!({"httpGet": {"path": path, "port": "http"}, "periodSeconds": period});
    json!({
        "name": name,
        "image": image,
        "args": ["--settings=/etc/settings/main.yaml", "--verbosity=2"],
        "ports": [
            {"name": "http", "containerPort": 8080, "protocol": "TCP"},
            {"name": "metrics", "containerPort": 9102, "protocol": "TCP"},
        ],
        "env": env,
        "resources": {
            "limits": {"cpu": "500m", "memory": "512Mi"},
            "requests": {"cpu": "100m", "memory": "128Mi"},
        },
        "volumeMounts": [
            {"name": "settings", "readOnly": true, "mountPath": "/etc/settings"},
            {"name": "scratch", "mountPath": "/var/scratch"},
        ],
        "livenessProbe": probe("/livez", 10),
        "readinessProbe": probe("/readyz", 5),
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": false},
    })
}
