//! Realistic Pods in any number, which all benchmarks use; and two other kinds of objects, which
//! show that nothing was tuned to Pods alone ([`Workload`]).
//!
//! Each Pod has two containers with probes, variables and mounts, a projected volume, five
//! conditions and two entries of managed fields: about 8 kB of JSON, 5 kB of protobuf. There are 50
//! namespaces, 400 applications and 500 nodes. The same number and seed give the same Pod.

mod definition;
mod workload;

pub use workload::{LABEL, UnknownWorkload, Workload};

use serde_json::{Map, Value, json};

/// The number of namespaces.
pub const NAMESPACES: u64 = 50;
/// The name of the Pod that marks the end of the updates in a recorded watch.
pub const MARKER: &str = "marker";
const APPS: u64 = 400;
const NODES: u64 = 500;
const VARIABLES: u64 = 8;

/// Returns the namespace of a Pod, by number.
pub fn namespace(number: u64) -> String {
    format!("group-{:02}", number % NAMESPACES)
}

/// The fields that differ between Pods.
struct Facts {
    number: u64,
    app: String,
    owner: String,
    name: String,
    uid: String,
    version: String,
    node_address: String,
    address: String,
}

impl Facts {
    fn new(seed: u64, number: u64) -> Self {
        let bits = mix(seed, number);
        let app = format!("backend-{}", number % APPS);
        let owner = format!("{app}-{:08x}", mix(seed, number % APPS) >> 32);
        Self {
            number,
            name: format!("{owner}-{:05x}", number % 0x10_0000),
            uid: uid(bits, number),
            version: format!("2.{}.{}", number % 30, number % 4),
            node_address: format!("10.64.{}.{}", number % NODES / 250, number % 250 + 1),
            address: format!(
                "10.{}.{}.{}",
                number / 62_500 % 250,
                number / 250 % 250,
                number % 250
            ),
            app,
            owner,
        }
    }
}

fn uid(bits: u64, number: u64) -> String {
    format!(
        "{:08x}-{:04x}-4{:03x}-9{:03x}-{:012x}",
        bits >> 32,
        bits >> 16 & 0xffff,
        bits >> 4 & 0xfff,
        bits & 0xfff,
        number
    )
}

/// Returns a Pod as a server would.
pub fn pod(seed: u64, number: u64) -> Value {
    let facts = Facts::new(seed, number);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(&facts),
        "spec": spec(&facts),
        "status": status(&facts),
    })
}

/// Returns the resource version of a list of the first `objects` objects.
pub fn list_version(objects: u64) -> u64 {
    500_000 + objects
}

/// Returns a Pod after an update: the changes of a container restart.
pub fn updated(seed: u64, objects: u64, update: u64) -> Value {
    let mut pod = pod(seed, update % objects.max(1));
    let metadata = &mut pod["metadata"];
    metadata["resourceVersion"] = (list_version(objects) + 1 + update).to_string().into();
    metadata["annotations"]["kubectl.kubernetes.io/restartedAt"] = format!("round-{update}").into();
    let time = format!("2026-05-04T09:{:02}:{:02}Z", update / 60 % 60, update % 60);
    let status = &mut pod["status"];
    status["conditions"][2]["lastTransitionTime"] = time.as_str().into();
    let container = &mut status["containerStatuses"][0];
    container["restartCount"] = (1 + update % 100).into();
    container["state"]["running"]["startedAt"] = time.into();
    pod
}

fn metadata(facts: &Facts) -> Value {
    json!({
        "name": facts.name,
        "generateName": format!("{}-", facts.owner),
        "namespace": namespace(facts.number),
        "uid": facts.uid,
        "resourceVersion": (500_000 + facts.number).to_string(),
        "generation": 1,
        "creationTimestamp": "2026-05-04T08:00:00Z",
        "labels": {
            "app.kubernetes.io/name": facts.app,
            "app.kubernetes.io/version": facts.version,
            "pod-template-hash": facts.owner.rsplit('-').next(),
        },
        "annotations": {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "9102",
            "kubectl.kubernetes.io/restartedAt": "2026-05-03T17:30:00Z",
        },
        "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": facts.owner, "uid": facts.uid,
            "controller": true, "blockOwnerDeletion": true,
        }],
        "managedFields": [
            {
                "manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1",
                "time": "2026-05-04T08:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": controller_fields(facts),
            },
            {
                "manager": "kubelet", "operation": "Update", "apiVersion": "v1",
                "time": "2026-05-04T08:00:11Z", "fieldsType": "FieldsV1",
                "fieldsV1": kubelet_fields(), "subresource": "status",
            },
        ],
    })
}

/// Returns an entry of managed fields.
fn fields(names: &[&str]) -> Value {
    let named = names.iter().map(|name| (format!("f:{name}"), json!({})));
    std::iter::once((".".to_owned(), json!({})))
        .chain(named)
        .collect::<Map<_, _>>()
        .into()
}

fn controller_fields(facts: &Facts) -> Value {
    let mut env = Map::from_iter([(".".to_owned(), json!({}))]);
    for variable in 0..VARIABLES {
        let key = format!("k:{{\"name\":\"{}\"}}", variable_name(variable));
        env.insert(key, fields(&["name", "value"]));
    }
    let owner = format!("k:{{\"uid\":\"{}\"}}", facts.uid);
    json!({
        "f:metadata": {
            "f:generateName": {},
            "f:labels": fields(
                &["app.kubernetes.io/name", "app.kubernetes.io/version", "pod-template-hash"]),
            "f:ownerReferences": {".": {}, owner: {}},
        },
        "f:spec": {
            "f:containers": {"k:{\"name\":\"server\"}": {
                ".": {}, "f:args": {}, "f:env": env, "f:image": {}, "f:imagePullPolicy": {},
                "f:livenessProbe": {".": {}, "f:failureThreshold": {},
                    "f:httpGet": fields(&["path", "port", "scheme"])},
                "f:name": {}, "f:ports": fields(&[]),
                "f:resources": {".": {}, "f:limits": fields(&["cpu", "memory"])},
                "f:volumeMounts": fields(&[]),
            }},
            "f:dnsPolicy": {}, "f:enableServiceLinks": {}, "f:restartPolicy": {},
            "f:schedulerName": {}, "f:securityContext": {},
            "f:terminationGracePeriodSeconds": {}, "f:volumes": fields(&[]),
        },
    })
}

fn kubelet_fields() -> Value {
    let condition = |kind: &str| {
        let names = fields(&["lastProbeTime", "lastTransitionTime", "status", "type"]);
        (format!("k:{{\"type\":\"{kind}\"}}"), names)
    };
    let conditions: Map<_, _> = ["ContainersReady", "Initialized", "Ready"]
        .map(condition)
        .into_iter()
        .collect();
    json!({"f:status": {
        "f:conditions": conditions, "f:containerStatuses": {}, "f:hostIP": {}, "f:phase": {},
        "f:podIP": {}, "f:podIPs": fields(&[]), "f:startTime": {},
    }})
}

fn spec(facts: &Facts) -> Value {
    let toleration = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let token = json!({"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace",
            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    ]}});
    json!({
        "volumes": [
            {"name": "settings",
                "configMap": {"name": format!("{}-settings", facts.app), "defaultMode": 420}},
            token,
        ],
        "containers": [
            container(facts, "server", &server_image(facts)),
            container(facts, "sidecar", SIDECAR_IMAGE),
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": facts.app,
        "serviceAccount": facts.app,
        "nodeName": format!("worker-{}.example.internal", facts.number % NODES),
        "securityContext": {"fsGroup": 2000},
        "schedulerName": "default-scheduler",
        "tolerations": [
            toleration("node.kubernetes.io/not-ready"),
            toleration("node.kubernetes.io/unreachable"),
        ],
        "priority": 0,
        "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
    })
}

const SIDECAR_IMAGE: &str = "registry.example.com/mesh/sidecar:1.27.1";

fn server_image(facts: &Facts) -> String {
    format!(
        "registry.example.com/backends/{}:v{}",
        facts.app, facts.version
    )
}

fn variable_name(variable: u64) -> String {
    format!("SETTING_{variable}")
}

fn container(facts: &Facts, name: &str, image: &str) -> Value {
    let mut env: Vec<Value> = (0..VARIABLES)
        .map(|it| json!({"name": variable_name(it), "value": format!("value-{it}-{}", facts.number % 9)}))
        .collect();
    env.push(json!({"name": "POD_IP",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}));
    let probe = |path: &str, port: Value, period: u32| {
        json!({"httpGet": {"path": path, "port": port, "scheme": "HTTP"}, "timeoutSeconds": 1,
            "periodSeconds": period, "successThreshold": 1, "failureThreshold": 3})
    };
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
            {"name": "kube-api-access", "readOnly": true,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
        ],
        "livenessProbe": probe("/livez", json!(8080), 10),
        "readinessProbe": probe("/readyz", json!("http"), 5),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true,
            "allowPrivilegeEscalation": false},
    })
}

fn status(facts: &Facts) -> Value {
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "lastProbeTime": null,
            "lastTransitionTime": "2026-05-04T08:00:10Z"})
    };
    let container = |name: &str, image: &str| {
        json!({
            "name": name, "image": image, "ready": true, "started": true, "restartCount": 0,
            "state": {"running": {"startedAt": "2026-05-04T08:00:06Z"}}, "lastState": {},
            "imageID": format!("registry.example.com/{name}@sha256:{}", "c4".repeat(32)),
            "containerID": format!("containerd://{:064x}", facts.number),
        })
    };
    let kinds = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ];
    json!({
        "phase": "Running",
        "conditions": kinds.map(condition),
        "hostIP": facts.node_address,
        "hostIPs": [{"ip": facts.node_address}],
        "podIP": facts.address,
        "podIPs": [{"ip": facts.address}],
        "startTime": "2026-05-04T08:00:00Z",
        "containerStatuses": [
            container("server", &server_image(facts)),
            container("sidecar", SIDECAR_IMAGE),
        ],
        "qosClass": "Burstable",
    })
}

/// Mixes a number: the finalizer of `SplitMix64`.
fn mix(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_pod_has_the_size_of_a_real_one_and_comes_again_from_its_seed() {
        let text = super::pod(1, 7).to_string();
        assert!((7_500..9_000).contains(&text.len()), "{} bytes", text.len());
        assert_eq!(text, super::pod(1, 7).to_string());
        assert_ne!(text, super::pod(2, 7).to_string());
    }

    #[test]
    fn an_update_changes_the_version_and_the_status_of_one_pod() {
        let (pod, updated) = (super::pod(1, 3), super::updated(1, 10, 13));
        assert_eq!(updated["metadata"]["name"], pod["metadata"]["name"]);
        assert_eq!(updated["metadata"]["resourceVersion"], "500024");
        assert_ne!(updated["status"], pod["status"]);
        assert_eq!(updated["spec"], pod["spec"]);
    }
}
