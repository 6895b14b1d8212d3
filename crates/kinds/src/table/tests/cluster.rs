//! Rows of API server configuration and of kinds with few columns.

use super::check;
use serde_json::{Value, json};

#[test]
fn events_of_both_groups() {
    let about = json!({"kind": "Pod", "name": "p", "fieldPath": "spec.containers{a}"});
    check(
        ("", "v1", "events"),
        json!({"type": "Normal", "reason": "R", "message": " m\n", "involvedObject": about,
            "source": {"component": "kubelet", "host": "h"}, "count": 4,
            "firstTimestamp": "2023-11-14T22:12:20Z", "lastTimestamp": "2023-11-14T22:13:10Z"}),
        json!([
            "10s",
            "Normal",
            "R",
            "pod/p",
            "spec.containers{a}",
            "kubelet, h",
            "m",
            "60s",
            4,
            "x"
        ]),
    );
    check(
        ("events.k8s.io", "v1", "events"),
        json!({"type": "Warning", "reason": "R", "note": "m", "regarding": {"kind": "Node"},
            "reportingController": "c", "eventTime": "2023-11-14T22:12:20.000000Z",
            "series": {"count": 9, "lastObservedTime": "2023-11-14T22:13:15.000000Z"}}),
        json!(["5s", "Warning", "R", "node", "", "c", "m", "60s", 9, "x"]),
    );
}

#[test]
fn rows_of_access_kinds() {
    let subjects = json!([{"kind": "User", "name": "u"}, {"kind": "User", "name": "v"},
        {"kind": "Group", "name": "g"}, {"kind": "ServiceAccount", "namespace": "n", "name": "s"}]);
    for plural in ["rolebindings", "clusterrolebindings"] {
        check(
            ("rbac.authorization.k8s.io", "v1", plural),
            json!({"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": subjects}),
            json!(["x", "ClusterRole/r", "5m", "u, v", "g", "n/s"]),
        );
    }
    check(
        ("rbac.authorization.k8s.io", "v1", "clusterroles"),
        json!({}),
        json!(["x", super::CREATED]),
    );
    let conditions = json!([{"type": "Approved", "status": "True"}]);
    check(
        ("certificates.k8s.io", "v1", "certificatesigningrequests"),
        json!({"spec": {"signerName": "s/t", "username": "u", "expirationSeconds": 86400},
            "status": {"conditions": conditions, "certificate": "QUJD"}}),
        json!(["x", "5m", "s/t", "u", "24h", "Approved,Issued"]),
    );
}

#[test]
fn autoscalers_show_two_metrics_in_either_version() {
    let of = json!({"kind": "Deployment", "name": "d"});
    check(
        ("autoscaling", "v1", "horizontalpodautoscalers"),
        json!({"spec": {"scaleTargetRef": of, "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 80},
            "status": {"currentReplicas": 2, "currentCPUUtilizationPercentage": 10}}),
        json!(["x", "Deployment/d", "cpu: 10%/80%", "<unset>", 3, 2, "5m"]),
    );
    let memory = json!({"type": "Resource", "resource": {"name": "memory",
        "target": {"type": "AverageValue", "averageValue": "100Mi"}}});
    let pods = json!({"type": "Pods", "pods": {"metric": {"name": "m"},
        "target": {"type": "AverageValue", "averageValue": "7"}}});
    let other = json!({"type": "External", "external": {"metric": {"name": "q"},
        "target": {"type": "Value", "value": "5"}}});
    let current = json!([{"type": "Resource", "resource": {"name": "memory",
        "current": {"averageValue": "50Mi"}}}]);
    check(
        ("autoscaling", "v2", "horizontalpodautoscalers"),
        json!({"spec": {"scaleTargetRef": of, "minReplicas": 1, "maxReplicas": 3,
            "metrics": [memory, pods, other]}, "status": {"currentMetrics": current}}),
        json!([
            "x",
            "Deployment/d",
            "memory: 50Mi/100Mi, <unknown>/7 + 1 more...",
            "1",
            3,
            0,
            "5m"
        ]),
    );
}

#[test]
fn rows_of_policy_kinds() {
    check(
        ("policy", "v1", "poddisruptionbudgets"),
        json!({"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 2}}),
        json!(["x", "50%", "N/A", 2, "5m"]),
    );
    check(
        ("", "v1", "resourcequotas"),
        json!({"status": {"hard": {"pods": "10", "limits.cpu": "2", "cpu": "1"},
            "used": {"pods": "3"}}}),
        json!(["x", "cpu: 0/1, pods: 3/10", "limits.cpu: 0/2", "5m"]),
    );
    check(
        ("flowcontrol.apiserver.k8s.io", "v1", "flowschemas"),
        json!({"spec": {"priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 9,
            "distinguisherMethod": {"type": "ByUser"}},
            "status": {"conditions": [{"type": "Dangling", "status": "False"}]}}),
        json!(["x", "l", 9, "ByUser", "5m", "False"]),
    );
    let queuing = json!({"queues": 64, "handSize": 6, "queueLengthLimit": 50});
    check(
        (
            "flowcontrol.apiserver.k8s.io",
            "v1",
            "prioritylevelconfigurations",
        ),
        json!({"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 30,
            "limitResponse": {"type": "Queue", "queuing": queuing}}}}),
        json!(["x", "Limited", 30, 64, 6, 50, "5m"]),
    );
}

#[test]
fn rows_of_admission_kinds() {
    let registration = "admissionregistration.k8s.io";
    for plural in [
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
    ] {
        let webhooks = json!({"webhooks": [{"name": "a"}, {"name": "b"}]});
        check(
            (registration, "v1", plural),
            webhooks,
            json!(["x", 2, "5m"]),
        );
    }
    check(
        (registration, "v1", "validatingadmissionpolicies"),
        json!({"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "true"}]}}),
        json!(["x", 1, "v1/ConfigMap", "5m"]),
    );
    check(
        (registration, "v1beta1", "mutatingadmissionpolicybindings"),
        json!({"spec": {"policyName": "p", "paramRef": {"namespace": "n", "name": "m"}}}),
        json!(["x", "p", "n/m", "5m"]),
    );
    for (reference, shown) in [
        (Value::Null, "<unset>"),
        (json!({"name": "m"}), "*/m"),
        (json!({"selector": {"matchLabels": {"k": "v"}}}), "k=v"),
    ] {
        check(
            (registration, "v1", "validatingadmissionpolicybindings"),
            json!({"spec": {"policyName": "p", "paramRef": reference}}),
            json!(["x", "p", shown, "5m"]),
        );
    }
}

#[test]
fn rows_of_small_kinds() {
    let (data, binary) = (json!({"a": "b"}), json!({"c": "QQ=="}));
    check(
        ("", "v1", "configmaps"),
        json!({"data": data, "binaryData": binary}),
        json!(["x", 2, "5m"]),
    );
    check(
        ("", "v1", "secrets"),
        json!({"type": "Opaque", "data": binary}),
        json!(["x", "Opaque", 1, "5m"]),
    );
    check(("", "v1", "serviceaccounts"), json!({}), json!(["x", "5m"]));
    check(
        ("", "v1", "namespaces"),
        json!({"status": {"phase": "Active"}}),
        json!(["x", "Active", "5m"]),
    );
    check(
        ("", "v1", "limitranges"),
        json!({}),
        json!(["x", super::CREATED]),
    );
    check(
        ("", "v1", "componentstatuses"),
        json!({"conditions": [{"type": "Healthy", "status": "True", "message": "ok"}]}),
        json!(["x", "Healthy", "ok", ""]),
    );
    check(
        ("coordination.k8s.io", "v1", "leases"),
        json!({"spec": {"holderIdentity": "h"}}),
        json!(["x", "h", "5m"]),
    );
    check(
        ("scheduling.k8s.io", "v1", "priorityclasses"),
        json!({"value": 1000, "preemptionPolicy": "Never"}),
        json!(["x", 1000, false, "5m", "Never"]),
    );
    check(
        ("node.k8s.io", "v1", "runtimeclasses"),
        json!({"handler": "h"}),
        json!(["x", "h", "5m"]),
    );
    let missing = json!([{"type": "Available", "status": "False", "reason": "MissingEndpoints"}]);
    check(
        ("apiregistration.k8s.io", "v1", "apiservices"),
        json!({"spec": {"service": {"namespace": "n", "name": "s"}},
            "status": {"conditions": missing}}),
        json!(["x", "n/s", "False (MissingEndpoints)", "5m"]),
    );
    check(
        ("resource.k8s.io", "v1beta1", "resourceclaims"),
        json!({"status": {"allocation": {}, "reservedFor": [{"resource": "pods", "name": "p",
            "uid": "u"}]}}),
        json!(["x", "allocated,reserved", "5m"]),
    );
}
