//! The status of a running Pod, as far as it can be simulated.

use kubist_api::core::v1::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStatus,
    HostIP, Pod, PodCondition, PodIP, PodStatus,
};
use kubist_apimachinery::{Str, Time};

/// The beginning of every container's id.
pub(super) const ID_PREFIX: &str = "kubist://";
/// The address of every node: Pod addresses must differ, host addresses need not.
const HOST: &str = "10.0.0.1";
/// The number of addresses before they repeat: those of 10.244.0.0/16 without .0 and .255.
const ADDRESSES: u32 = 256 * 254;

/// Returns the address of the Pod with this number.
pub(super) fn address(number: u32) -> String {
    let number = number % ADDRESSES;
    format!("10.244.{}.{}", number / 254, number % 254 + 1)
}

/// Sets the status of a running Pod: init containers have completed, the others run and are ready.
pub(super) fn running(pod: &Pod, address: &str, now: Time) -> PodStatus {
    let conditions = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ];
    let before = |type_: &str| pod.status.conditions.iter().find(|it| it.type_ == *type_);
    let condition = |type_: &str| match before(type_) {
        Some(known) if known.status == "True" => known.clone(),
        _ => PodCondition {
            type_: type_.into(),
            status: "True".into(),
            last_transition_time: Some(now),
            ..PodCondition::default()
        },
    };
    let uid = &pod.metadata.uid;
    let sidecar = |it: &&Container| it.restart_policy.as_ref().is_some_and(|it| it == "Always");
    let status_of = |container: &Container, runs: bool| status(container, uid, runs, now);
    PodStatus {
        phase: "Running".into(),
        conditions: conditions.map(condition).into(),
        host_ip: HOST.into(),
        host_ips: vec![HostIP { ip: HOST.into() }],
        pod_ip: address.into(),
        pod_ips: vec![PodIP { ip: address.into() }],
        start_time: pod.status.start_time.or(Some(now)),
        init_container_statuses: pod
            .spec
            .init_containers
            .iter()
            .map(|it| status_of(it, sidecar(&it)))
            .collect(),
        container_statuses: pod
            .spec
            .containers
            .iter()
            .map(|it| status_of(it, true))
            .collect(),
        ..pod.status.clone()
    }
}

/// Sets a condition; its time changes with its status.
pub(super) fn set_condition(
    status: &mut PodStatus,
    type_: &str,
    value: &str,
    reason: &str,
    now: Time,
) {
    let mut conditions = status.conditions.iter_mut();
    if let Some(known) = conditions.find(|it| it.type_ == *type_) {
        if known.status != *value {
            known.last_transition_time = Some(now);
        }
        (known.status, known.reason) = (value.into(), reason.into());
        return;
    }
    status.conditions.push(PodCondition {
        type_: type_.into(),
        status: value.into(),
        reason: reason.into(),
        last_transition_time: Some(now),
        ..PodCondition::default()
    });
}

fn status(container: &Container, uid: &str, runs: bool, now: Time) -> ContainerStatus {
    let id = Str::from(format!("{ID_PREFIX}{uid}/{}", container.name));
    let state = if runs {
        ContainerState {
            running: Some(Box::new(ContainerStateRunning {
                started_at: Some(now),
            })),
            ..ContainerState::default()
        }
    } else {
        ContainerState {
            terminated: Some(Box::new(ContainerStateTerminated {
                reason: "Completed".into(),
                started_at: Some(now),
                finished_at: Some(now),
                container_id: id.clone(),
                ..ContainerStateTerminated::default()
            })),
            ..ContainerState::default()
        }
    };
    ContainerStatus {
        name: container.name.clone(),
        state,
        ready: true,
        image: container.image.clone(),
        image_id: container.image.clone(),
        container_id: id,
        started: Some(runs),
        ..ContainerStatus::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(name: &str, restart_policy: Option<&str>) -> Container {
        Container {
            name: name.into(),
            image: "registry.example/it:1".into(),
            restart_policy: restart_policy.map(Str::from),
            ..Container::default()
        }
    }

    #[test]
    fn containers_run_and_init_containers_have_ended_unless_they_stay() {
        let mut pod = Pod::default();
        pod.spec.containers = vec![container("web", None)];
        pod.spec.init_containers =
            vec![container("setup", None), container("proxy", Some("Always"))];
        pod.status.qos_class = "Burstable".into();
        let scheduled = Time::from_unix(1);
        pod.status.conditions = vec![PodCondition {
            type_: "PodScheduled".into(),
            status: "True".into(),
            last_transition_time: Some(scheduled),
            ..PodCondition::default()
        }];
        let status = running(&pod, "10.244.0.7", Time::from_unix(5));
        assert_eq!(
            (&*status.phase, &*status.qos_class),
            ("Running", "Burstable")
        );
        assert_eq!(status.pod_ips[0].ip, status.pod_ip);
        assert!(status.container_statuses[0].state.running.is_some());
        let ended: Vec<_> = status.init_container_statuses.iter().collect();
        assert!(ended[0].state.terminated.is_some() && ended[1].state.running.is_some());
        assert!(status.conditions.iter().all(|it| it.status == "True"));
        assert_eq!(status.conditions[4].last_transition_time, Some(scheduled));
        assert_eq!(status.conditions.len(), 5);
    }

    #[test]
    fn addresses_are_valid_and_differ() {
        assert_eq!(address(0), "10.244.0.1");
        assert_eq!(address(253), "10.244.0.254");
        assert_eq!(address(254), "10.244.1.1");
        assert_eq!(address(ADDRESSES), address(0));
    }
}
