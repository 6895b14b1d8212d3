//! Objects that cause warnings: deprecated or risky fields, and fields without effect.

use crate::plan::Plan;
use crate::step::{Body, Edit};
use serde_json::{Value, json};

fn set(pointer: &str, value: Value) -> Edit {
    Edit::Set(pointer.to_owned(), value)
}

/// Changes that may cause a warning, of a pod at this pointer.
#[expect(clippy::too_many_lines, reason = "it is a table of cases")]
fn of_pod(plan: &mut Plan<'_>, root: &str) -> Vec<Edit> {
    let at = |pointer: &str, value: Value| set(&format!("{root}{pointer}"), value);
    let expression = |key: &str| json!([{"key": key, "operator": "In", "values": ["a"]}]);
    let affinity = |key: &str| {
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{"matchExpressions": expression(key)}]}}})
    };
    let volume = |volume: Value| at("/spec/volumes/-", volume);
    let edit = match plan.random.below(30) {
        0 => at(
            "/spec/nodeSelector",
            json!({"beta.kubernetes.io/arch": "amd64"}),
        ),
        1 => at(
            "/spec/nodeSelector",
            json!({"failure-domain.beta.kubernetes.io/zone": "a"}),
        ),
        2 => at("/spec/affinity", affinity("beta.kubernetes.io/os")),
        3 => at("/spec/affinity", affinity("node-role.kubernetes.io/master")),
        4 => at(
            "/spec/topologySpreadConstraints",
            json!([{"maxSkew": 1, "whenUnsatisfiable":
            "DoNotSchedule", "topologyKey": "failure-domain.beta.kubernetes.io/region"}]),
        ),
        5 => at("/spec/serviceAccount", json!("old")),
        6 => at("/spec/terminationGracePeriodSeconds", json!(-1)),
        7 => at(
            "/spec/containers/0/env",
            json!([{"name": "A", "value": "1"},
            {"name": "A", "value": "2"}]),
        ),
        8 => at(
            "/spec/containers/0/env",
            json!([{"name": "A", "value": "$(A)"},
            {"name": "A", "value": "2"}]),
        ),
        9 => at(
            "/spec/containers/0/ports",
            json!([{"containerPort": 80},
            {"containerPort": 80}]),
        ),
        10 => at(
            "/spec/containers/0/ports",
            json!([{"containerPort": 80, "hostPort": 81},
            {"containerPort": 82, "hostPort": 81}]),
        ),
        11 => at(
            "/spec/containers/0/resources",
            json!({"requests": {"memory": "100m"}}),
        ),
        12 => at(
            "/spec/containers/0/resources",
            json!({"limits": {"ephemeral-storage": "10m"}}),
        ),
        13 => at(
            "/spec/tolerations",
            json!([{"key": "node-role.kubernetes.io/master",
            "operator": "Exists"}]),
        ),
        14 => at(
            "/spec/hostAliases",
            json!([{"ip": "10.0.0.9", "hostnames": ["a"]},
            {"ip": "10.0.0.9", "hostnames": ["b"]}]),
        ),
        15 => at("/spec/imagePullSecrets", json!([{"name": ""}])),
        16 => at(
            "/spec/imagePullSecrets",
            json!([{"name": "a"}, {"name": "a"}]),
        ),
        17 => volume(json!({"name": "git", "gitRepo": {"repository": "a"}})),
        18 => volume(json!({"name": "ceph", "cephfs": {"monitors": ["a"]}})),
        19 => volume(json!({"name": "rbd", "rbd": {"monitors": ["a"], "image": "b"}})),
        20 => volume(json!({"name": "gluster", "glusterfs": {"endpoints": "a", "path": "b"}})),
        21 => volume(json!({"name": "flocker", "flocker": {"datasetName": "a"}})),
        22 => volume(json!({"name": "pw", "photonPersistentDisk": {"pdID": "a"}})),
        23 => volume(json!({"name": "two", "projected": {"sources": [
            {"secret": {"name": "a", "items": [{"key": "k", "path": "p"}]}},
            {"configMap": {"name": "b", "items": [{"key": "k", "path": "p"}]}}]}})),
        24 => set(
            &format!("{root}/metadata/annotations"),
            json!({
            "seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}),
        ),
        25 => set(
            &format!("{root}/metadata/annotations"),
            json!({
            "container.apparmor.security.beta.kubernetes.io/main": "runtime/default"}),
        ),
        26 => at(
            "/spec/containers/0/securityContext",
            json!({"privileged": true,
            "allowPrivilegeEscalation": false}),
        ),
        27 => at("/spec/overhead", json!({"cpu": "1m", "memory": "1m"})),
        28 => at(
            "/spec/dnsConfig",
            json!({"searches": ["a.", ".", "_b.c"],
            "nameservers": ["010.0.0.1"]}),
        ),
        _ => at("/spec/priorityClassName", json!("system-node-critical")),
    };
    vec![edit]
}

/// Returns such changes of an object of this kind.
#[expect(clippy::too_many_lines, reason = "it is a table of cases")]
fn of_kind(plan: &mut Plan<'_>, plural: &str) -> Vec<Edit> {
    let any = plan.random.below(6);
    let edit = match (plural, any) {
        ("services", 0) => set(
            "/metadata/annotations",
            json!({"service.kubernetes.io/topology-aware-hints": "auto"}),
        ),
        ("services", 1) => set("/spec/externalIPs", json!(["010.1.2.3"])),
        ("services", 2) => set(
            "/spec",
            json!({"type": "LoadBalancer", "ports": [{"port": 80}],
            "loadBalancerIP": "10.0.0.5", "loadBalancerSourceRanges": ["10.0.0.1/8"]}),
        ),
        ("services", 3) => set(
            "/spec",
            json!({"type": "ExternalName", "externalName": "a.b",
            "sessionAffinity": "ClientIP"}),
        ),
        ("services", 4) => set(
            "/spec",
            json!({"clusterIP": "None", "ports": [{"port": 80}],
            "loadBalancerIP": "10.0.0.5"}),
        ),
        ("ingresses", 0) => set(
            "/metadata/annotations",
            json!({"kubernetes.io/ingress.class": "nginx"}),
        ),
        ("jobs" | "cronjobs", 0) => set("/metadata/name", json!("dotted.name.of.a-job")),
        ("jobs" | "cronjobs", 1) => set("/metadata/name", json!("a".repeat(60))),
        ("jobs", 2) => set("/spec/parallelism", json!(200_000)),
        ("jobs", 3) => {
            let spec = [
                ("/spec/completionMode", json!("Indexed")),
                ("/spec/completions", json!(200_000)),
                ("/spec/parallelism", json!(20_000)),
            ];
            return spec.into_iter().map(|(at, value)| set(at, value)).collect();
        }
        ("cronjobs", 2) => set("/spec/schedule", json!("TZ=UTC 0 * * * *")),
        ("cronjobs", 3) => set("/spec/timeZone", json!("Etc/UTC")),
        ("nodes", 0) => set(
            "/spec/configSource",
            json!({"configMap": {"name": "a",
            "namespace": "b", "kubeletConfigKey": "c"}}),
        ),
        ("nodes", 1) => set("/spec/externalID", json!("old")),
        ("nodes", 2) => set("/spec/podCIDR", json!("10.0.0.1/8")),
        ("persistentvolumes" | "persistentvolumeclaims", 0) => set(
            "/metadata/annotations",
            json!({"volume.beta.kubernetes.io/storage-class": "a"}),
        ),
        ("persistentvolumes", 1) => set("/spec/persistentVolumeReclaimPolicy", json!("Recycle")),
        ("persistentvolumeclaims", 1) => {
            set("/spec/resources", json!({"requests": {"storage": "100m"}}))
        }
        ("storageclasses", 0) => set(
            "/allowedTopologies",
            json!([{"matchLabelExpressions":
            [{"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]}]}]),
        ),
        ("csidrivers", 0) => set("/spec/tokenRequests", json!([{"audience": "a"}])),
        ("csidrivers", 1) => set("/spec/serviceAccountTokenInSecrets", json!(true)),
        ("runtimeclasses", 0) => set(
            "/scheduling",
            json!({"nodeSelector": {"beta.kubernetes.io/arch": "amd64"}}),
        ),
        ("poddisruptionbudgets", 0) => set("/spec/selector", json!({})),
        ("networkpolicies", 0) => set(
            "/spec/egress",
            json!([{"to": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]),
        ),
        ("endpointslices", 0) => set("/endpoints", json!([{"addresses": ["010.1.2.3"]}])),
        ("serviceaccounts", 0) => set(
            "/metadata/annotations",
            json!({"kubernetes.io/enforce-mountable-secrets": "true"}),
        ),
        ("serviceaccounts", 1) => set("/secrets", json!([{"name": "a"}, {"name": "a"}])),
        ("namespaces", 0) => set(
            "/metadata/labels",
            json!({"pod-security.kubernetes.io/enforce": "odd"}),
        ),
        ("statefulsets", 0) => set("/spec/revisionHistoryLimit", json!(-1)),
        ("horizontalpodautoscalers", 0) => set("/spec/maxReplicas", json!(0)),
        _ => set("/metadata/finalizers", json!(["nodomain"])),
    };
    vec![edit]
}

pub(super) fn advance(plan: &mut Plan<'_>) {
    let pods = [
        ("pods", ""),
        ("pods", ""),
        ("deployments", "/spec/template"),
        ("daemonsets", "/spec/template"),
        ("statefulsets", "/spec/template"),
        ("jobs", "/spec/template"),
        ("cronjobs", "/spec/jobTemplate/spec/template"),
        ("podtemplates", "/template"),
        ("replicasets", "/spec/template"),
        ("replicationcontrollers", "/spec/template"),
    ];
    let others = [
        "services",
        "services",
        "ingresses",
        "jobs",
        "cronjobs",
        "nodes",
        "persistentvolumes",
        "persistentvolumeclaims",
        "storageclasses",
        "csidrivers",
        "runtimeclasses",
        "endpoints",
        "poddisruptionbudgets",
        "networkpolicies",
        "endpointslices",
        "serviceaccounts",
        "namespaces",
        "statefulsets",
        "horizontalpodautoscalers",
        "configmaps",
    ];
    let (plural, edits) = if plan.random.percent(55) {
        let (plural, root) = *plan.random.pick(&pods);
        (plural, of_pod(plan, root))
    } else {
        let plural = *plan.random.pick(&others);
        (plural, of_kind(plan, plural))
    };
    let kind = plan.catalogue.kind(plural);
    if plan.random.percent(25) {
        let made = plan.some_of(plural);
        let body = Body::Answer {
            step: made.step,
            edits,
        };
        let step = plan.step("PUT", made.path).body("application/json", body);
        plan.push(step);
        return;
    }
    let mut object = plan.object(kind);
    for edit in &edits {
        edit.apply(&mut object);
    }
    plan.create_object(kind, object, true);
}
