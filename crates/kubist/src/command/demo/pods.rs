//! Generated Pods like those of a busy cluster.
//!
//! The same seed gives the same Pods. They have a node and the status of running Pods, and no
//! owner, so that no controller changes them.

use kubist_api::core::v1::{Pod, PodStatus};
use kubist_apimachinery::wire::{DecodeContext, Wire as _};
use serde_json::{Value, json};

/// Approximate Pods per namespace.
const PER_NAMESPACE: u32 = 250;
/// Applications per namespace.
const APPLICATIONS: u64 = 12;
/// Approximate Pods per node.
const PER_NODE: u64 = 40;
/// The start time of all Pods.
const STARTED: &str = "2026-03-02T09:30:00Z";

/// Generates Pods.
#[derive(Debug)]
pub(super) struct PodGenerator {
    seed: u64,
    count: u32,
}

impl PodGenerator {
    pub(super) fn new(seed: u64, count: u32) -> Self {
        Self { seed, count }
    }

    /// Returns the namespaces of its Pods.
    pub(super) fn namespaces(&self) -> Vec<String> {
        (0..self.count.div_ceil(PER_NAMESPACE))
            .map(namespace)
            .collect()
    }

    /// Returns the Pod of this number, as it is created, and its status.
    pub(super) fn pod(&self, index: u32) -> (Pod, PodStatus) {
        let mut random = Random(self.seed ^ (u64::from(index) << 20));
        let app = format!("app-{}", random.below(APPLICATIONS));
        let version = format!(
            "{}.{}.{}",
            random.below(4),
            random.below(20),
            random.below(9)
        );
        let node = random.below(u64::from(self.count) / PER_NODE + 1);
        let image = format!(
            "registry.example.com/{}/{app}:{version}",
            namespace(index / PER_NAMESPACE)
        );
        let mut containers = vec![container("app", &image, &mut random)];
        if random.below(3) == 0 {
            let proxy = "registry.example.com/mesh/proxy:1.24.3";
            containers.push(container("proxy", proxy, &mut random));
        }
        let address = random.next();
        let (host, own) = (ip(node), ip(address));
        let statuses: Vec<Value> = containers
            .iter()
            .map(|it| container_status(it, &mut random))
            .collect();
        let object = json!({
            "metadata": {
                "name": format!("{app}-{:010x}-{index:05}", random.next() >> 24),
                "namespace": namespace(index / PER_NAMESPACE),
                "labels": {
                    "app.kubernetes.io/name": app,
                    "app.kubernetes.io/version": version,
                    "pod-template-hash": format!("{:010x}", random.next() >> 24),
                },
                "annotations": {
                    "prometheus.io/scrape": "true",
                    "prometheus.io/port": "9090",
                },
            },
            "spec": {
                "nodeName": format!("node-{node}.cluster.local"),
                "containers": containers,
                "volumes": [
                    {"name": "config", "configMap": {"name": format!("{app}-config")}},
                    {"name": "scratch", "emptyDir": {"sizeLimit": "64Mi"}},
                ],
                "securityContext": {"fsGroup": 1000, "runAsNonRoot": true},
                "terminationGracePeriodSeconds": 30,
            },
            "status": {
                "phase": "Running",
                "conditions": conditions(),
                "hostIP": host,
                "hostIPs": [{"ip": host}],
                "podIP": own,
                "podIPs": [{"ip": own}],
                "startTime": STARTED,
                "containerStatuses": statuses,
                "qosClass": "Burstable",
            },
        });
        let mut pod = Pod::from_json(object.to_string().as_bytes(), &mut DecodeContext::new())
            .expect("it has the fields of a Pod");
        let status = std::mem::take(&mut pod.status);
        (pod, status)
    }
}

fn namespace(number: u32) -> String {
    format!("team-{number}")
}

fn ip(number: u64) -> String {
    format!(
        "10.{}.{}.{}",
        (number >> 16) & 0x3f | 0x40,
        (number >> 8) & 0xff,
        number & 0xff
    )
}

fn container(name: &str, image: &str, random: &mut Random) -> Value {
    let env: Vec<Value> = (0..3 + random.below(6))
        .map(|it| json!({"name": format!("SETTING_{it}"), "value": format!("value-{}", random.below(50))}))
        .collect();
    let probe = |path: &str, period: u32| json!({"httpGet": {"path": path, "port": "http"}, "periodSeconds": period});
    json!({
        "name": name,
        "image": image,
        "args": ["--config=/etc/app/config.yaml", "--log-level=info"],
        "ports": [
            {"name": "http", "containerPort": 8080},
            {"name": "metrics", "containerPort": 9090},
        ],
        "env": env,
        "resources": {
            "requests": {"cpu": format!("{}m", 50 * (1 + random.below(8))), "memory": "128Mi"},
            "limits": {"memory": "512Mi"},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app", "readOnly": true},
            {"name": "scratch", "mountPath": "/tmp"},
        ],
        "livenessProbe": probe("/livez", 10),
        "readinessProbe": probe("/readyz", 5),
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
        },
    })
}

fn container_status(container: &Value, random: &mut Random) -> Value {
    let digest = |random: &mut Random| {
        let parts = [random.next(), random.next(), random.next(), random.next()];
        parts.map(|part| format!("{part:016x}")).concat()
    };
    json!({
        "name": container["name"],
        "image": container["image"],
        "imageID": format!("registry.example.com/image@sha256:{}", digest(random)),
        "containerID": format!("containerd://{}", digest(random)),
        "ready": true,
        "started": true,
        "restartCount": random.below(3),
        "state": {"running": {"startedAt": STARTED}},
    })
}

fn conditions() -> Vec<Value> {
    let types = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ];
    let condition =
        |it: &&str| json!({"type": it, "status": "True", "lastTransitionTime": STARTED});
    types.iter().map(condition).collect()
}

/// Vigna's splitmix64: every seed is good.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::Object as _;
    use std::collections::BTreeSet;

    #[test]
    fn the_same_seed_gives_the_same_pods_and_no_name_twice() {
        let (one, other) = (PodGenerator::new(7, 1000), PodGenerator::new(7, 1000));
        let namespaces = one.namespaces();
        assert_eq!(namespaces.len(), 4);
        let mut names = BTreeSet::new();
        for index in 0..1000 {
            let (pod, status) = one.pod(index);
            assert_eq!((&pod, &status), (&other.pod(index).0, &other.pod(index).1));
            assert!(namespaces.iter().any(|it| it == pod.namespace()));
            assert_eq!(status.container_statuses.len(), pod.spec.containers.len());
            assert!(names.insert(pod.object_name()));
        }
        assert_ne!(PodGenerator::new(8, 1000).pod(0), one.pod(0));
    }

    #[test]
    fn a_pod_is_as_large_as_real_ones() {
        let generator = PodGenerator::new(1, 200);
        let bytes = |index| {
            let (mut pod, status) = generator.pod(index);
            pod.status = status;
            pod.to_protobuf().len()
        };
        let mean = (0..200).map(bytes).sum::<usize>() / 200;
        assert!((1500..6000).contains(&mean), "{mean} bytes");
    }
}
