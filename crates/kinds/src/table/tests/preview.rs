//! Rows of kinds that are served only on request.

use super::check;
use serde_json::json;

const CERTIFICATES: &str = "certificates.k8s.io";

#[test]
fn certificates_of_pods_and_trust_bundles() {
    for version in ["v1alpha1", "v1beta1"] {
        let facts = (CERTIFICATES, version, "clustertrustbundles");
        check(facts, json!({}), json!(["x", "<none>"]));
        let bundle = json!({"spec": {"signerName": "example.com/a"}});
        check(facts, bundle, json!(["x", "example.com/a"]));
    }
    check(
        (CERTIFICATES, "v1beta1", "podcertificaterequests"),
        json!({
            "spec": {"podName": "p", "serviceAccountName": "a", "nodeName": "n",
                "signerName": "example.com/a", "unverifiedUserAnnotations": {"k": "v"}},
            "status": {"conditions": [{"type": "Issued", "status": "True"}]},
        }),
        json!(["x", "p", "a", "n", "example.com/a", "Issued", "k=v"]),
    );
}

#[test]
fn versions_of_the_control_plane() {
    let spec = json!({"leaseName": "l", "binaryVersion": "1.36.0", "emulationVersion": "1.35.0"});
    for version in ["v1alpha2", "v1beta1"] {
        check(
            ("coordination.k8s.io", version, "leasecandidates"),
            json!({"spec": spec}),
            json!(["x", "l", "1.36.0", "1.35.0", "5m"]),
        );
    }
    let facts = ("internal.apiserver.k8s.io", "v1alpha1", "storageversions");
    check(facts, json!({}), json!(["x", "<unset>", "<unset>", "5m"]));
    let of = |id: &str| json!({"apiServerID": id, "encodingVersion": "v1"});
    let status = json!({"commonEncodingVersion": "v1",
        "storageVersions": [of("a"), of("b"), of("c"), of("d")]});
    check(
        facts,
        json!({"status": status}),
        json!(["x", "v1", "a=v1,b=v1,c=v1 + 1 more...", "5m"]),
    );
    let facts = (
        "storagemigration.k8s.io",
        "v1beta1",
        "storageversionmigrations",
    );
    let resource = json!({"group": "apps", "resource": "deployments"});
    check(
        facts,
        json!({"spec": {"resource": resource}}),
        json!(["x", "deployments.apps", "Unknown"]),
    );
    let conditions = json!([{"type": "Running", "status": "False"},
        {"type": "Succeeded", "status": "True"}]);
    check(
        facts,
        json!({"spec": {"resource": {"resource": "pods"}}, "status": {"conditions": conditions}}),
        json!(["x", "pods", "Succeeded"]),
    );
}

#[test]
fn devices_and_their_pools() {
    let taint = json!({"key": "k", "value": "v", "effect": "NoExecute",
        "timeAdded": "2023-11-14T22:12:20Z"});
    for version in ["v1alpha3", "v1beta2"] {
        check(
            ("resource.k8s.io", version, "devicetaintrules"),
            json!({"spec": {"taint": taint}}),
            json!(["x", "k", "v", "NoExecute", "60s", "5m"]),
        );
    }
    let facts = ("resource.k8s.io", "v1alpha3", "resourcepoolstatusrequests");
    let spec = json!({"driver": "d"});
    check(
        facts,
        json!({"spec": spec}),
        json!(["x", "d", "-", "-", "-", "-", "-", 0, "Pending", "<none>"]),
    );
    let pool = |total: i32| {
        json!({"driver": "d", "totalDevices": total, "availableDevices": 1, "allocatedDevices": 2,
            "unavailableDevices": 3, "validationError": "e"})
    };
    let complete = json!({"type": "Complete", "status": "True",
        "lastTransitionTime": "2023-11-14T22:12:20Z"});
    check(
        facts,
        json!({"spec": spec, "status": {"poolCount": 3, "pools": [pool(6), pool(7)],
            "conditions": [complete]}}),
        json!([
            "x",
            "d",
            "13",
            "2",
            "4",
            "6",
            "2",
            3,
            "Complete (2/3 pools)",
            "60s"
        ]),
    );
    let failed = json!({"type": "Failed", "status": "True"});
    check(
        facts,
        json!({"spec": spec, "status": {"poolCount": 1, "conditions": [failed]}}),
        json!(["x", "d", "-", "-", "-", "-", "-", 1, "Failed", "<none>"]),
    );
}

#[test]
fn groups_of_pods() {
    let facts = ("scheduling.k8s.io", "v1alpha2", "podgroups");
    let basic = json!({"schedulingPolicy": {"basic": {}}});
    check(
        facts,
        json!({"spec": basic}),
        json!(["x", "Basic", "<none>", "Pending", "5m"]),
    );
    let workload = json!({"workloadName": "w", "podGroupTemplateName": "t"});
    let gang = json!({"schedulingPolicy": {"gang": {"minCount": 2}},
        "podGroupTemplateRef": {"workload": workload}});
    let scheduled = |status: &str| json!({"type": "PodGroupScheduled", "status": status});
    let disrupted = json!({"type": "DisruptionTarget", "status": "True", "reason": "Preempted"});
    for (conditions, expected) in [
        (json!([scheduled("True")]), "Scheduled"),
        (json!([scheduled("False")]), "Unschedulable"),
        (json!([disrupted, scheduled("True")]), "Preempted"),
    ] {
        check(
            facts,
            json!({"spec": gang, "status": {"conditions": conditions}}),
            json!(["x", "Gang", "w", expected, "5m"]),
        );
    }
}
