//! Reviews as an API server sends them.

use serde_json::{Value, json};

/// A review of a Pod, with fields that our types do not have.
pub(crate) fn of_pod(operation: &str, object: Value, old: Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u-1", "operation": operation,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "requestResource": {"group": "", "version": "v1", "resource": "pods"},
            "name": "web", "namespace": "shop", "dryRun": true,
            "userInfo": {"username": "jane", "groups": ["devs"]},
            "object": object, "oldObject": old,
            "options": {"kind": "CreateOptions", "fieldManager": "kubectl"},
        },
    })
}

pub(crate) fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"later": {"x": 1}, "containers": [
            {"name": "web", "image": "web:1", "laterLimit": 7},
        ]},
    })
}
