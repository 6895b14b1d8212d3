//! Rows of Pods, with the state of their containers in one word.

use super::age::{age, since};
use super::cells;
use super::listing::text_or;
use kubist_api::core::v1::{
    Container, ContainerStateTerminated, ContainerStatus, Pod, PodCondition,
};
use kubist_apimachinery::Time;
use serde_json::Value;

/// The reason of Pods on unreachable nodes.
const NODE_LOST: &str = "NodeLost";

/// A summary of the containers' state.
struct Summary {
    ready: usize,
    total: usize,
    status: String,
    restarts: Restarts,
}

/// The number of container restarts, and the end time of the last previous run.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<Time>,
}

impl Restarts {
    fn add(&mut self, status: &ContainerStatus) {
        self.count += i64::from(status.restart_count);
        let ended = status
            .last_state
            .terminated
            .as_ref()
            .and_then(|it| it.finished_at);
        self.last = self.last.max(ended);
    }

    fn cell(self, now: Time) -> String {
        match self.last {
            Some(last) if self.count != 0 && !last.is_zero() => {
                format!("{} ({} ago)", self.count, since(Some(last), now))
            }
            _ => self.count.to_string(),
        }
    }
}

pub(super) fn pod(pod: &Pod, now: Time) -> Vec<Value> {
    let summary = summarize(pod);
    let status = &pod.status;
    let ip = status.pod_ips.first().map_or(&*status.pod_ip, |it| &*it.ip);
    cells![
        &*pod.metadata.name,
        format!("{}/{}", summary.ready, summary.total),
        summary.status,
        summary.restarts.cell(now),
        age(&pod.metadata, now),
        text_or(ip, "<none>"),
        text_or(&pod.spec.node_name, "<none>"),
        text_or(&status.nominated_node_name, "<none>"),
        readiness_gates(pod),
    ]
}

fn readiness_gates(pod: &Pod) -> String {
    let gates = &pod.spec.readiness_gates;
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let passed = gates
        .iter()
        .filter(|gate| is_true(pod, &gate.condition_type));
    format!("{}/{}", passed.count(), gates.len())
}

fn is_true(pod: &Pod, condition: &str) -> bool {
    let mut conditions = pod.status.conditions.iter();
    conditions.any(|it| it.type_ == condition && it.status == "True")
}

fn summarize(pod: &Pod) -> Summary {
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|it| is_sidecar(it))
        .count();
    let mut summary = Summary {
        ready: 0,
        total: pod.spec.containers.len() + sidecars,
        status: text_or(&pod.status.reason, &pod.status.phase).to_owned(),
        restarts: Restarts::default(),
    };
    if pod.status.conditions.iter().any(is_gated) {
        "SchedulingGated".clone_into(&mut summary.status);
    }
    let (initializing, sidecar_restarts) = read_init_containers(pod, &mut summary);
    if !initializing || is_true(pod, "Initialized") {
        summary.restarts = sidecar_restarts;
        read_containers(pod, &mut summary);
    }
    if pod.metadata.is_terminating() {
        let over = matches!(&*pod.status.phase, "Failed" | "Succeeded");
        if pod.status.reason == NODE_LOST {
            "Unknown".clone_into(&mut summary.status);
        } else if !over {
            "Terminating".clone_into(&mut summary.status);
        }
    }
    summary
}

fn is_gated(condition: &PodCondition) -> bool {
    condition.type_ == "PodScheduled" && condition.reason == "SchedulingGated"
}

/// Reports whether an init container keeps running beside the others.
fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// Reads the init containers up to the first one that is not finished. Reports whether there is
/// one, and the restarts of sidecar containers.
fn read_init_containers(pod: &Pod, summary: &mut Summary) -> (bool, Restarts) {
    let mut sidecar_restarts = Restarts::default();
    let specs = &pod.spec.init_containers;
    for (index, status) in pod.status.init_container_statuses.iter().enumerate() {
        summary.restarts.add(status);
        let sidecar = specs
            .iter()
            .any(|it| it.name == status.name && is_sidecar(it));
        if sidecar {
            sidecar_restarts.add(status);
        }
        let terminated = status.state.terminated.as_deref();
        if terminated.is_some_and(|it| it.exit_code == 0) {
            continue;
        }
        if sidecar && status.started == Some(true) {
            summary.ready += usize::from(status.ready);
            continue;
        }
        let waits_for = status.state.waiting.as_deref().map_or("", |it| &*it.reason);
        summary.status = match terminated {
            Some(ended) => format!("Init:{}", termination_reason(ended)),
            None if !waits_for.is_empty() && waits_for != "PodInitializing" => {
                format!("Init:{waits_for}")
            }
            None => format!("Init:{index}/{}", specs.len()),
        };
        return (true, sidecar_restarts);
    }
    (false, sidecar_restarts)
}

fn termination_reason(ended: &ContainerStateTerminated) -> String {
    if !ended.reason.is_empty() {
        ended.reason.to_string()
    } else if ended.signal != 0 {
        format!("Signal:{}", ended.signal)
    } else {
        format!("ExitCode:{}", ended.exit_code)
    }
}

/// Reads the containers. The first one takes precedence in the status.
fn read_containers(pod: &Pod, summary: &mut Summary) {
    let mut one_runs = false;
    for status in pod.status.container_statuses.iter().rev() {
        summary.restarts.add(status);
        let state = &status.state;
        let waits_for = state.waiting.as_deref().map_or("", |it| &*it.reason);
        if !waits_for.is_empty() {
            waits_for.clone_into(&mut summary.status);
        } else if let Some(ended) = &state.terminated {
            summary.status = termination_reason(ended);
        } else if status.ready && state.running.is_some() {
            one_runs = true;
            summary.ready += 1;
        }
    }
    if summary.status == "Completed" && one_runs {
        let word = if is_true(pod, "Ready") {
            "Running"
        } else {
            "NotReady"
        };
        word.clone_into(&mut summary.status);
    }
}
