//! The nodes, the Deployments and their rolling updates.

use super::record::Record;
use super::web::Web;
use super::{REPLICAS_MAX, user};
use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// The namespace of the Deployments.
pub(super) const NAMESPACE: &str = "soak";
/// How long all nodes, or all Pods, may take to become ready.
const READY_LIMIT: Duration = Duration::from_secs(1_800);
/// How long a rolling update may take.
const ROLL_LIMIT: Duration = Duration::from_secs(600);
/// The pause between two looks at all nodes, and at a Deployment.
const LOOK_AT_NODES: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_secs(1);

/// After so many rolling updates it says so.
const TELL: u32 = 50;

/// What the cluster does.
pub(super) struct Load<'a> {
    web: &'a Web,
    record: &'a Record,
    folder: &'a Path,
    nodes: u32,
    pods: u32,
}

impl<'a> Load<'a> {
    pub(super) fn new(
        web: &'a Web,
        record: &'a Record,
        folder: &'a Path,
        nodes: u32,
        pods: u32,
    ) -> Self {
        Self {
            web,
            record,
            folder,
            nodes,
            pods,
        }
    }

    /// Creates the nodes, and waits until Pods can be scheduled to all of them.
    pub(super) fn nodes(&self) -> Outcome {
        let nodes: Vec<Value> = (0..self.nodes).map(node).collect();
        self.web.create_all("/api/v1/nodes", &nodes, self.folder)?;
        await_all(LOOK_AT_NODES, || {
            let nodes = self.web.get("/api/v1/nodes")?;
            Ok(
                items(&nodes).iter().filter(|it| is_schedulable(it)).count()
                    == nodes_of(self.nodes),
            )
        })
        .map_err(|error| format!("the nodes: {error}"))?;
        self.record.say(&format!("{} nodes are ready", self.nodes));
        Ok(())
    }

    /// Creates the Deployments, and waits until all Pods are ready.
    pub(super) fn deployments(&self) -> Outcome {
        let namespaces = [NAMESPACE, user::NAMESPACE];
        let namespaces = namespaces.map(|it| json!({"metadata": {"name": it}}));
        self.web
            .create_all("/api/v1/namespaces", &namespaces, self.folder)?;
        let account = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default");
        await_all(LOOK, || Ok(self.web.get(&account).is_ok()))?;
        let replicas = replicas(self.pods);
        let names = replicas.iter().enumerate();
        let deployments: Vec<Value> = names.map(|(number, it)| deployment(number, *it)).collect();
        self.web
            .create_all(&collection(), &deployments, self.folder)?;
        await_all(LOOK_AT_NODES, || {
            let all = self.web.get(&collection())?;
            Ok(items(&all).iter().filter(|it| is_rolled_out(it)).count() == replicas.len())
        })
        .map_err(|error| format!("the Deployments: {error}"))?;
        self.record.say(&format!("{} Pods are ready", self.pods));
        Ok(())
    }

    /// Rolls one Deployment after another until a time, and returns how many were.
    pub(super) fn roll_until(&self, until: Instant) -> u32 {
        let mut done = 0;
        while Instant::now() < until {
            if !self.roll(done) {
                // It has been recorded, and the next one may be better.
                std::thread::sleep(LOOK);
            }
            done += 1;
            if done % TELL == 0 {
                self.record.say(&format!("{done} rolling updates"));
            }
        }
        done
    }

    /// Rolls out a change of one Deployment. Returns whether it came to its end.
    pub(super) fn roll(&self, turn: u32) -> bool {
        let count = u32::try_from(replicas(self.pods).len()).unwrap_or(1);
        let path = format!("{}/{}", collection(), name((turn % count) as usize));
        let annotations = json!({"soak/turn": turn.to_string()});
        let patch = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        let patched = self.record.attempt("a patch of a Deployment", |_| {
            self.web.send("PATCH", &path, Some(&patch))?.success()
        });
        let begin = Instant::now();
        while patched.is_some() && begin.elapsed() < ROLL_LIMIT {
            std::thread::sleep(LOOK);
            let now = self
                .record
                .attempt("a get of a Deployment", |_| self.web.get(&path));
            if now.is_some_and(|it| is_rolled_out(&it)) {
                return true;
            }
        }
        if patched.is_some() {
            self.record
                .fail(&format!("{path} was not rolled out within {ROLL_LIMIT:?}"));
        }
        false
    }
}

/// Waits until something is true.
fn await_all(pause: Duration, mut check: impl FnMut() -> Outcome<bool>) -> Outcome {
    let begin = Instant::now();
    loop {
        let checked = check();
        if matches!(checked, Ok(true)) {
            return Ok(());
        }
        if begin.elapsed() > READY_LIMIT {
            checked?;
            return Err(format!("they are not ready after {READY_LIMIT:?}").into());
        }
        std::thread::sleep(pause);
    }
}

fn nodes_of(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

/// Divides the Pods among Deployments.
fn replicas(pods: u32) -> Vec<u32> {
    let count = pods.div_ceil(REPLICAS_MAX).max(1);
    let share = |number| pods / count + u32::from(number < pods % count);
    (0..count).map(share).collect()
}

fn collection() -> String {
    format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments")
}

fn name(number: usize) -> String {
    format!("app-{number}")
}

fn node(number: u32) -> Value {
    let name = format!("node-{number}");
    let size = json!({"cpu": "32", "memory": "64Gi", "pods": "110"});
    json!({
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
        }},
        "status": {"allocatable": size, "capacity": size},
    })
}

fn deployment(number: usize, replicas: u32) -> Value {
    let name = name(number);
    let labels = json!({"app": name});
    let requests = json!({"cpu": "10m", "memory": "16Mi"});
    let container = json!({
        "name": "main", "image": "registry.example/app:1", "resources": {"requests": requests},
    });
    json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    })
}

fn is_schedulable(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
        && node["spec"]["taints"].as_array().is_none_or(Vec::is_empty)
}

/// Whether the last change has reached all Pods, and the old ones are gone.
fn is_rolled_out(deployment: &Value) -> bool {
    let (spec, status) = (&deployment["spec"], &deployment["status"]);
    let counts = ["updatedReplicas", "replicas", "availableReplicas"];
    status["observedGeneration"] == deployment["metadata"]["generation"]
        && counts.iter().all(|it| status[it] == spec["replicas"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_divided_among_deployments_of_at_most_a_hundred() {
        assert_eq!(replicas(300), [100; 3]);
        assert_eq!(replicas(301), [76, 75, 75, 75]);
        assert_eq!(replicas(10_000).len(), 100);
    }

    #[test]
    fn a_deployment_is_rolled_out_when_its_status_is_of_its_generation_and_all_are_available() {
        let status = |seen: u32, old: u32| {
            json!({
                "metadata": {"generation": 2},
                "spec": {"replicas": 3},
                "status": {
                    "observedGeneration": seen, "updatedReplicas": 3, "availableReplicas": 3,
                    "replicas": 3 + old,
                },
            })
        };
        assert!(is_rolled_out(&status(2, 0)));
        assert!(!is_rolled_out(&status(1, 0)));
        assert!(!is_rolled_out(&status(2, 1)));
    }
}
