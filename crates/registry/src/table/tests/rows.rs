//! One row, or a few, of each kind that has more to say than its name.

use super::row;
use serde_json::{Value, json};

/// A template with two containers.
fn template() -> Value {
    json!({"metadata": {"labels": {"t": "u"}}, "spec": {"containers": [
        {"name": "a", "image": "one"}, {"name": "b", "image": "two"}], "nodeSelector": {"d": "e"}}})
}

fn check(resource: (&str, &str, &str), object: Value, expected: Value) {
    let (group, version, plural) = resource;
    let mut object = object;
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    assert_eq!(row(group, version, plural, object), expected, "{plural}");
}

#[test]
fn what_keeps_pods_running() {
    let selector = json!({"matchLabels": {"k": "v"}});
    check(
        ("apps", "v1", "deployments"),
        json!({"spec": {"replicas": 3, "selector": selector, "template": template()},
            "status": {"readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2}}),
        json!(["x", "2/3", 1, 2, "5m", "a,b", "one,two", "k=v"]),
    );
    check(
        ("apps", "v1", "replicasets"),
        json!({"spec": {"replicas": 3, "template": template()},
            "status": {"replicas": 2, "readyReplicas": 1}}),
        json!(["x", 3, 2, 1, "5m", "a,b", "one,two", "<none>"]),
    );
    check(
        ("", "v1", "replicationcontrollers"),
        json!({"spec": {"replicas": 3, "selector": {"k": "v"}, "template": template()}}),
        json!(["x", 3, 0, 0, "5m", "a,b", "one,two", "k=v"]),
    );
    check(
        ("apps", "v1", "statefulsets"),
        json!({"spec": {"replicas": 3, "template": template()}, "status": {"readyReplicas": 1}}),
        json!(["x", "1/3", "5m", "a,b", "one,two"]),
    );
    check(
        ("apps", "v1", "daemonsets"),
        json!({"spec": {"selector": selector, "template": template()},
            "status": {"desiredNumberScheduled": 5, "currentNumberScheduled": 4,
                "numberReady": 3, "updatedNumberScheduled": 2, "numberAvailable": 1}}),
        json!(["x", 5, 4, 3, 2, 1, "d=e", "5m", "a,b", "one,two", "k=v"]),
    );
    check(
        ("", "v1", "podtemplates"),
        json!({"template": template()}),
        json!(["x", "a,b", "one,two", "t=u"]),
    );
    let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u",
        "controller": true}]);
    check(
        ("apps", "v1", "controllerrevisions"),
        json!({"metadata": {"ownerReferences": owner}, "revision": 7}),
        json!(["x", "daemonset.apps/d", 7, "5m"]),
    );
}

#[test]
fn jobs_tell_how_far_they_are() {
    let job = |spec: Value, status: Value| {
        let mut spec = spec;
        spec["template"] = template();
        let job = json!({"metadata": {}, "spec": spec, "status": status});
        let row = row("batch", "v1", "jobs", job);
        [row[1].clone(), row[2].clone(), row[3].clone()]
    };
    let start = "2023-11-14T22:12:20Z";
    assert_eq!(
        job(
            json!({"completions": 2}),
            json!({"succeeded": 1, "startTime": start})
        ),
        ["Running", "1/2", "60s"],
    );
    let done = json!([{"type": "Complete", "status": "True"}]);
    let end = "2023-11-14T22:12:30Z";
    let status = json!({"succeeded": 1, "startTime": start, "completionTime": end,
        "conditions": done});
    assert_eq!(
        job(json!({"parallelism": 3}), status),
        ["Complete", "1/1 of 3", "10s"]
    );
    let suspended = json!({"conditions": [{"type": "Suspended", "status": "True"}]});
    assert_eq!(
        job(json!({"parallelism": 1}), suspended),
        ["Suspended", "0/1", ""]
    );
    check(
        ("batch", "v1", "cronjobs"),
        json!({"spec": {"schedule": "* * * * *", "suspend": false, "jobTemplate":
            {"spec": {"template": template()}}},
            "status": {"active": [{}], "lastScheduleTime": "2023-11-14T22:13:00Z"}}),
        json!([
            "x",
            "* * * * *",
            "<none>",
            "False",
            1,
            "20s",
            "5m",
            "a,b",
            "one,two",
            "<none>"
        ]),
    );
    check(
        ("batch", "v1", "cronjobs"),
        json!({"spec": {"schedule": "@daily", "timeZone": "Etc/UTC"}}),
        json!([
            "x", "@daily", "Etc/UTC", "<unset>", 0, "<none>", "5m", "", "", "<none>"
        ]),
    );
}

#[test]
fn services_tell_how_they_are_reached() {
    let ports = json!([{"port": 80, "protocol": "TCP"},
        {"port": 53, "protocol": "UDP", "nodePort": 30053}]);
    check(
        ("", "v1", "services"),
        json!({"spec": {"type": "NodePort", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"],
            "externalIPs": ["1.1.1.1", "2.2.2.2"], "ports": ports, "selector": {"k": "v"}}}),
        json!([
            "x",
            "NodePort",
            "10.0.0.1",
            "1.1.1.1,2.2.2.2",
            "80/TCP,53:30053/UDP",
            "5m",
            "k=v"
        ]),
    );
    let balanced = |points: Value| {
        let service = json!({"metadata": {}, "spec": {"type": "LoadBalancer"},
            "status": {"loadBalancer": {"ingress": points}}});
        row("", "v1", "services", service)[3].clone()
    };
    assert_eq!(balanced(json!([])), "<pending>");
    assert_eq!(
        balanced(json!([{"hostname": "h.example.com"}, {"ip": "9.9.9.9"}])),
        "9.9.9.9,h.example.com"
    );
    check(
        ("", "v1", "services"),
        json!({"spec": {"type": "ExternalName", "externalName": "e.example.com"}}),
        json!([
            "x",
            "ExternalName",
            "<none>",
            "e.example.com",
            "<none>",
            "5m",
            "<none>"
        ]),
    );
}

#[test]
fn endpoints_show_the_first_few() {
    let addresses = json!([{"ip": "1.1.1.1"}, {"ip": "2::2"}]);
    let ports = json!([{"port": 80}, {"port": 81}]);
    check(
        ("", "v1", "endpoints"),
        json!({"subsets": [{"addresses": addresses, "ports": ports}]}),
        json!(["x", "1.1.1.1:80,[2::2]:80,1.1.1.1:81 + 1 more...", "5m"]),
    );
    check(
        ("", "v1", "endpoints"),
        json!({}),
        json!(["x", "<none>", "5m"]),
    );
    check(
        ("discovery.k8s.io", "v1", "endpointslices"),
        json!({"addressType": "IPv4", "ports": [{"port": 80}, {"name": "web"}, {}],
            "endpoints": [{"addresses": ["1.1.1.1"]}]}),
        json!(["x", "IPv4", "80,web,*", "1.1.1.1", "5m"]),
    );
    check(
        ("discovery.k8s.io", "v1", "endpointslices"),
        json!({"addressType": "IPv6"}),
        json!(["x", "IPv6", "<unset>", "<unset>", "5m"]),
    );
}

#[test]
fn the_network_around_services() {
    let hosts = ["a", "b", "c", "d", "e"].map(|host| json!({"host": host}));
    check(
        ("networking.k8s.io", "v1", "ingresses"),
        json!({"spec": {"ingressClassName": "i", "rules": hosts, "tls": [{}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}]}}}),
        json!(["x", "i", "a,b,c + 2 more...", "1.1.1.1", "80, 443", "5m"]),
    );
    check(
        ("networking.k8s.io", "v1", "ingresses"),
        json!({}),
        json!(["x", "<none>", "*", "", "80", "5m"]),
    );
    let parameters = json!({"apiGroup": "g.example.com", "kind": "Parameters", "name": "p"});
    check(
        ("networking.k8s.io", "v1", "ingressclasses"),
        json!({"spec": {"controller": "c.example.com/x", "parameters": parameters}}),
        json!(["x", "c.example.com/x", "Parameters.g.example.com/p", "5m"]),
    );
    check(
        ("networking.k8s.io", "v1", "networkpolicies"),
        json!({"spec": {"podSelector": {"matchLabels": {"k": "v"}}}}),
        json!(["x", "k=v", "5m"]),
    );
    let parent = json!({"group": "g", "resource": "r", "namespace": "n", "name": "m"});
    check(
        ("networking.k8s.io", "v1", "ipaddresses"),
        json!({"spec": {"parentRef": parent}}),
        json!(["x", "g.r/n/m"]),
    );
    check(
        ("networking.k8s.io", "v1", "servicecidrs"),
        json!({"spec": {"cidrs": ["10.0.0.0/16", "fd00::/112"]}}),
        json!(["x", "10.0.0.0/16,fd00::/112", "5m"]),
    );
}

#[test]
fn volumes_and_what_provides_them() {
    check(
        ("", "v1", "persistentvolumes"),
        json!({"spec": {"capacity": {"storage": "1Gi"}, "volumeMode": "Block",
            "accessModes": ["ReadWriteMany", "ReadWriteOnce", "ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "s",
            "claimRef": {"namespace": "n", "name": "c"}}, "status": {"phase": "Bound"}}),
        json!([
            "x", "1Gi", "RWO,RWX", "Retain", "Bound", "n/c", "s", "<unset>", "", "5m", "Block"
        ]),
    );
    check(
        ("", "v1", "persistentvolumeclaims"),
        json!({"spec": {"volumeName": "v", "storageClassName": "s", "volumeMode": "Filesystem"},
            "status": {"phase": "Bound", "capacity": {"storage": "2Gi"},
                "accessModes": ["ReadWriteOncePod"]}}),
        json!([
            "x",
            "Bound",
            "v",
            "2Gi",
            "RWOP",
            "s",
            "<unset>",
            "5m",
            "Filesystem"
        ]),
    );
    check(
        ("", "v1", "persistentvolumeclaims"),
        json!({"status": {"phase": "Pending"}}),
        json!(["x", "Pending", "", "", "", "", "<unset>", "5m", "<unset>"]),
    );
    let default = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    check(
        ("storage.k8s.io", "v1", "storageclasses"),
        json!({"metadata": {"annotations": default}, "provisioner": "p"}),
        json!(["x (default)", "p", "Delete", "Immediate", false, "5m"]),
    );
    check(
        ("storage.k8s.io", "v1", "csidrivers"),
        json!({"spec": {"tokenRequests": [{"audience": "a"}, {"audience": "b"}],
            "volumeLifecycleModes": ["Persistent", "Ephemeral"]}}),
        json!([
            "x",
            true,
            false,
            false,
            "a,b",
            false,
            "Persistent,Ephemeral",
            "5m"
        ]),
    );
    check(
        ("storage.k8s.io", "v1", "csinodes"),
        json!({"spec": {"drivers": [{"name": "d", "nodeID": "n"}]}}),
        json!(["x", 1, "5m"]),
    );
    check(
        ("storage.k8s.io", "v1", "volumeattachments"),
        json!({"spec": {"attacher": "a", "source": {"persistentVolumeName": "v"},
            "nodeName": "n"}, "status": {"attached": true}}),
        json!(["x", "a", "v", "n", true, "5m"]),
    );
}

#[test]
fn nodes_show_their_state_and_roles() {
    let labels = json!({"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "control",
        "node-role.kubernetes.io/": ""});
    let info = json!({"kubeletVersion": "v1.36.0", "osImage": "Linux"});
    check(
        ("", "v1", "nodes"),
        json!({"metadata": {"labels": labels}, "spec": {"unschedulable": true},
            "status": {"nodeInfo": info, "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "1.1.1.1"}]}}),
        json!([
            "x",
            "Ready,SchedulingDisabled",
            "control,worker",
            "5m",
            "v1.36.0",
            "1.1.1.1",
            "<none>",
            "Linux",
            "<unknown>",
            "<unknown>"
        ]),
    );
}

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
fn who_may_do_what() {
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
fn budgets_quotas_and_fairness() {
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
fn what_admits_requests() {
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
}

#[test]
fn kinds_with_little_to_say() {
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
