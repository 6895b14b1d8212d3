//! A minimal valid object of each kind, with only the required fields.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubist_api::ResourceFacts;
use serde_json::{Value, json};

/// Returns the object, without a name unless its kind requires a certain one.
pub(super) fn object(facts: &ResourceFacts, namespace: &str) -> Value {
    let mut object = match facts.group {
        "" => of_core(facts.plural, namespace),
        "apps" | "batch" | "autoscaling" => of_workloads(facts),
        "certificates.k8s.io" if facts.plural == "clustertrustbundles" => trust_bundle(),
        "storagemigration.k8s.io" => json!({"spec": {
            "resource": {"group": "apps", "resource": "deployments"},
        }}),
        _ => of_others(facts, namespace),
    };
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    object["metadata"]["labels"] = json!({});
    object
}

fn pod_spec() -> Value {
    json!({"containers": [{"name": "c", "image": "i"}]})
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "a"}}, "spec": pod_spec()})
}

fn job_spec() -> Value {
    let mut template = template();
    template["spec"]["restartPolicy"] = json!("Never");
    json!({"template": template})
}

fn of_core(plural: &str, namespace: &str) -> Value {
    let storage = json!({"storage": "1Gi"});
    match plural {
        "events" => json!({"involvedObject": {"namespace": namespace}}),
        "persistentvolumeclaims" => json!({"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": storage},
        }}),
        "persistentvolumes" => json!({"spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": storage, "hostPath": {"path": "/x"},
        }}),
        "pods" => json!({"spec": pod_spec()}),
        "podtemplates" => json!({"template": template()}),
        "replicationcontrollers" => json!({"spec": {
            "selector": {"app": "a"}, "template": template(),
        }}),
        "services" => json!({"spec": {"ports": [{"port": 80}]}}),
        _ => json!({}),
    }
}

fn of_workloads(facts: &ResourceFacts) -> Value {
    let selector = json!({"matchLabels": {"app": "a"}});
    match facts.plural {
        "controllerrevisions" => json!({"data": {}}),
        "daemonsets" | "deployments" | "replicasets" | "statefulsets" => json!({"spec": {
            "selector": selector, "template": template(),
        }}),
        "jobs" => json!({"spec": job_spec()}),
        "cronjobs" => json!({"spec": {
            "schedule": "* * * * *", "jobTemplate": {"spec": job_spec()},
        }}),
        "horizontalpodautoscalers" => json!({"spec": {"maxReplicas": 2, "scaleTargetRef": {
            "apiVersion": "apps/v1", "kind": "Deployment", "name": "d",
        }}}),
        _ => json!({}),
    }
}

fn of_admission(plural: &str) -> Value {
    let matched = json!({"resourceRules": [{
        "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
    }]});
    match plural {
        "validatingadmissionpolicies" => json!({"spec": {
            "matchConstraints": matched, "validations": [{"expression": "true"}],
        }}),
        "mutatingadmissionpolicies" => json!({"spec": {
            "matchConstraints": matched, "reinvocationPolicy": "Never", "mutations": [{
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": "Object{}"},
            }],
        }}),
        "validatingadmissionpolicybindings" => json!({"spec": {
            "policyName": "p", "validationActions": ["Deny"],
        }}),
        "mutatingadmissionpolicybindings" => json!({"spec": {"policyName": "p"}}),
        _ => json!({}),
    }
}

fn of_others(facts: &ResourceFacts, namespace: &str) -> Value {
    let request = include_str!("../../request.pem");
    match (facts.group, facts.plural) {
        ("admissionregistration.k8s.io", plural) => of_admission(plural),
        ("apiregistration.k8s.io", _) => json!({
            "metadata": {"name": "v1.example.com"},
            "spec": {
                "group": "example.com", "version": "v1",
                "groupPriorityMinimum": 100, "versionPriority": 100,
            },
        }),
        ("events.k8s.io", _) => json!({
            "eventTime": "2023-11-14T22:13:20.000000Z", "type": "Normal", "reason": "Tested",
            "action": "Testing", "reportingController": "example.com/tester",
            "reportingInstance": "tester-1", "regarding": {"namespace": namespace},
        }),
        ("certificates.k8s.io", "certificatesigningrequests") => json!({"spec": {
            "request": base64(request.as_bytes()), "usages": ["client auth"],
            "signerName": "example.com/signer",
        }}),
        ("networking.k8s.io", "ingressclasses") => {
            json!({"spec": {"controller": "example.com/controller"}})
        }
        ("networking.k8s.io", "ingresses") => json!({"spec": {"defaultBackend": {"service": {
            "name": "s", "port": {"number": 80},
        }}}}),
        ("rbac.authorization.k8s.io", "clusterrolebindings" | "rolebindings") => json!({
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r",
            },
        }),
        ("resource.k8s.io", "devicetaintrules") => json!({"spec": {
            "taint": {"key": "a", "effect": "NoSchedule"},
        }}),
        ("networking.k8s.io", "ipaddresses") => json!({
            "metadata": {"name": "10.96.0.9"},
            "spec": {"parentRef": {"resource": "services", "name": "s"}},
        }),
        ("networking.k8s.io", "servicecidrs") => json!({"spec": {"cidrs": ["10.97.0.0/24"]}}),
        ("storage.k8s.io", "csistoragecapacities") => json!({"storageClassName": "c"}),
        ("storage.k8s.io", "volumeattachments") => json!({"spec": {
            "attacher": "example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"},
        }}),
        ("storage.k8s.io", "volumeattributesclasses") => json!({
            "driverName": "example.com", "parameters": {"key": "value"},
        }),
        ("storage.k8s.io", "storageclasses") => json!({"provisioner": "example.com/storage"}),
        ("resource.k8s.io", "resourceslices") => json!({"spec": {
            "allNodes": true, "driver": "gpu.example.com", "pool": {"name": "p"},
        }}),
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => json!({"spec": {
            "priorityLevelConfiguration": {"name": "p"},
        }}),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations") => json!({
            "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}},
        }),
        ("node.k8s.io", "runtimeclasses") => json!({"handler": "h"}),
        ("discovery.k8s.io", "endpointslices") => json!({"addressType": "IPv4"}),
        ("apiextensions.k8s.io", "customresourcedefinitions") => json!({
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }],
            },
        }),
        _ => json!({}),
    }
}

fn trust_bundle() -> Value {
    json!({"spec": {"trustBundle": include_str!("anchor.pem")}})
}

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
