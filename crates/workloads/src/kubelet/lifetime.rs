//! How long the containers of a Pod run, and how they end. No I/O.
//!
//! Containers of a Pod that belongs to a Job succeed after a while, all others run for ever, unless
//! annotations say otherwise: `kubist.dev/run-for` is a duration such as `1m30s`, and
//! `kubist.dev/exit-code` a number, or one for each container, as in `main=3,side=0`.
//! A container that ends is restarted as `restartPolicy` says, after the kubelet's delays.

use super::pod_status::{ID_PREFIX, set_condition};
use kubist_api::core::v1::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated,
    ContainerStateWaiting, ContainerStatus, Pod, PodStatus,
};
use kubist_apimachinery::{Object as _, Time};
use std::time::Duration;

/// The annotation with the time that containers run.
pub(super) const RUN_FOR: &str = "kubist.dev/run-for";
/// The annotation with the exit codes.
const EXIT_CODE: &str = "kubist.dev/exit-code";
/// The exit code of a process that was told to end.
const TERMINATED: i32 = 143;
/// The delay before a second restart, which each further one doubles, and its limit, as kubelets'.
const BACKOFF: Duration = Duration::from_secs(10);
const BACKOFF_MAX: Duration = Duration::from_secs(300);

/// What comes next in the life of a Pod that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The containers end after this time.
    End(Duration),
    /// Those that are to run again do after this time.
    Restart(Duration),
    Nothing,
}

/// Returns what comes next, and how often the containers were restarted.
pub(super) fn next(pod: &Pod, job_run_time: Duration) -> (Next, i32) {
    let main = &pod.status.container_statuses;
    let restarts = main.iter().map(|it| it.restart_count).max().unwrap_or(0);
    let next = if main.iter().any(|it| it.state.running.is_some()) {
        run_time(pod, job_run_time).map_or(Next::Nothing, Next::End)
    } else if main.iter().any(|it| it.state.waiting.is_some()) {
        Next::Restart(delay(restarts))
    } else {
        Next::Nothing
    };
    (next, restarts)
}

/// How long the containers run; none: for ever.
fn run_time(pod: &Pod, job_run_time: Duration) -> Option<Duration> {
    let said = pod.metadata.annotations.get(RUN_FOR);
    let said = said.and_then(|it| it.parse::<kubist_apimachinery::Duration>().ok());
    if let Some(said) = said {
        return said.to_std();
    }
    let is_of_job = pod.metadata.controller().is_some_and(|it| it.kind == "Job");
    (is_of_job && pod.spec.restart_policy != "Always").then_some(job_run_time)
}

fn delay(restarts: i32) -> Duration {
    let Ok(doublings) = u32::try_from(restarts - 1) else {
        return Duration::ZERO;
    };
    BACKOFF
        .saturating_mul(1 << doublings.min(8))
        .min(BACKOFF_MAX)
}

/// Returns the exit code of a container.
fn exit_code(pod: &Pod, container: &str) -> i32 {
    let Some(text) = pod.metadata.annotations.get(EXIT_CODE) else {
        return 0;
    };
    let mut parts = text.split(',').map(str::trim);
    let code = parts.find_map(|it| match it.split_once('=') {
        Some((name, code)) => (name == container).then(|| code.parse().ok())?,
        None => it.parse().ok(),
    });
    code.unwrap_or(0)
}

/// Returns the status after the containers that run have ended.
pub(super) fn ended(pod: &Pod, now: Time) -> PodStatus {
    let always = pod.spec.restart_policy == "Always";
    let on_failure = pod.spec.restart_policy == "OnFailure";
    let mut status = pod.status.clone();
    let mut goes_on = false;
    for it in &mut status.container_statuses {
        if it.state.running.is_none() {
            continue;
        }
        let code = exit_code(pod, &it.name);
        end(it, code, now);
        if always || (on_failure && code != 0) {
            let name = it.name.clone();
            it.last_state = std::mem::take(&mut it.state);
            it.state = crash_loop(pod, &name, it.restart_count);
            goes_on = true;
        }
    }
    if goes_on {
        unready(&mut status, "ContainersNotReady", now);
        return status;
    }
    over(pod, status, now)
}

/// Returns the status of a Pod that was told to end.
pub(super) fn stopped(pod: &Pod, now: Time) -> PodStatus {
    let mut status = pod.status.clone();
    for it in &mut status.container_statuses {
        if it.state.terminated.is_none() {
            end(it, TERMINATED, now);
        }
    }
    over(pod, status, now)
}

/// Returns the status after the restart of the containers that wait for it.
pub(super) fn restarted(pod: &Pod, now: Time) -> PodStatus {
    let mut status = pod.status.clone();
    for it in &mut status.container_statuses {
        if it.state.waiting.is_none() {
            continue;
        }
        it.restart_count = it.restart_count.saturating_add(1);
        it.container_id = id(pod, &it.name, it.restart_count).into();
        it.state = ContainerState {
            running: Some(Box::new(ContainerStateRunning {
                started_at: Some(now),
            })),
            ..ContainerState::default()
        };
        (it.ready, it.started) = (true, Some(true));
    }
    for type_ in ["Ready", "ContainersReady"] {
        set_condition(&mut status, type_, "True", "", now);
    }
    status
}

/// The id of a container, which changes with each restart.
pub(super) fn id(pod: &Pod, container: &str, restarts: i32) -> String {
    let first = format!("{ID_PREFIX}{}/{container}", pod.metadata.uid);
    if restarts == 0 {
        first
    } else {
        format!("{first}/{restarts}")
    }
}

fn end(it: &mut ContainerStatus, code: i32, now: Time) {
    let started = it.state.running.as_ref().and_then(|it| it.started_at);
    let reason = if code == 0 { "Completed" } else { "Error" };
    it.state = ContainerState {
        terminated: Some(Box::new(ContainerStateTerminated {
            exit_code: code,
            reason: reason.into(),
            started_at: started,
            finished_at: Some(now),
            container_id: it.container_id.clone(),
            ..ContainerStateTerminated::default()
        })),
        ..ContainerState::default()
    };
    (it.ready, it.started) = (false, Some(false));
}

fn crash_loop(pod: &Pod, container: &str, restarts: i32) -> ContainerState {
    let (name, namespace) = (pod.name(), pod.namespace());
    let (seconds, uid) = (delay(restarts).as_secs(), &pod.metadata.uid);
    let message = format!(
        "back-off {seconds}s restarting failed container={container} \
         pod={name}_{namespace}({uid})"
    );
    ContainerState {
        waiting: Some(Box::new(ContainerStateWaiting {
            reason: "CrashLoopBackOff".into(),
            message: message.into(),
        })),
        ..ContainerState::default()
    }
}

/// Sets the phase of a Pod that has ended; sidecars end with it.
fn over(pod: &Pod, mut status: PodStatus, now: Time) -> PodStatus {
    let is_sidecar = |it: &&Container| it.restart_policy.as_ref().is_some_and(|it| it == "Always");
    let sidecars = pod.spec.init_containers.iter().filter(is_sidecar);
    let sidecars: Vec<_> = sidecars.map(|it| &it.name).collect();
    for it in &mut status.init_container_statuses {
        if sidecars.contains(&&it.name) && it.state.terminated.is_none() {
            end(it, 0, now);
        }
    }
    let codes = status.container_statuses.iter();
    let mut codes = codes.filter_map(|it| it.state.terminated.as_ref().map(|it| it.exit_code));
    let (phase, reason) = if codes.all(|it| it == 0) {
        ("Succeeded", "PodCompleted")
    } else {
        ("Failed", "PodFailed")
    };
    status.phase = phase.into();
    unready(&mut status, reason, now);
    status
}

fn unready(status: &mut PodStatus, reason: &str, now: Time) {
    for type_ in ["Ready", "ContainersReady"] {
        set_condition(status, type_, "False", reason, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::pod_status::running;
    use super::*;
    use kubist_apimachinery::OwnerReference;

    const SECOND: Duration = Duration::from_secs(1);

    fn pod(policy: &str, of_job: bool, annotations: &[(&str, &str)]) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.uid = "u".into();
        pod.spec.restart_policy = policy.into();
        let container = |name: &str| Container {
            name: name.into(),
            ..Container::default()
        };
        pod.spec.containers = vec![container("main"), container("side")];
        let pairs = annotations.iter();
        pod.metadata.annotations = pairs
            .map(|(key, it)| ((*key).into(), (*it).into()))
            .collect();
        if of_job {
            pod.metadata.owner_references.push(OwnerReference {
                kind: "Job".into(),
                controller: Some(true),
                ..OwnerReference::default()
            });
        }
        pod.status = running(&pod, "10.244.0.1", Time::from_unix(10));
        pod
    }

    #[test]
    fn only_pods_of_jobs_and_those_that_say_so_end() {
        let next = |pod: &Pod| next(pod, SECOND).0;
        assert_eq!(next(&pod("Always", false, &[])), Next::Nothing);
        assert_eq!(next(&pod("Never", false, &[])), Next::Nothing);
        assert_eq!(next(&pod("Never", true, &[])), Next::End(SECOND));
        let told = pod("Always", false, &[(RUN_FOR, "1m30s")]);
        assert_eq!(next(&told), Next::End(Duration::from_secs(90)));
        let forever = pod("OnFailure", true, &[(RUN_FOR, "9000h")]);
        assert_eq!(next(&forever), Next::End(Duration::from_secs(9000 * 3600)));
    }

    #[test]
    fn a_pod_has_succeeded_if_all_its_containers_have() {
        let now = Time::from_unix(20);
        let mut done = pod("Never", true, &[]);
        done.status = ended(&done, now);
        assert_eq!(done.status.phase, "Succeeded");
        let state = done.status.container_statuses[0].state.terminated.clone();
        let state = state.expect("it has ended");
        assert_eq!(
            (&*state.reason, state.finished_at),
            ("Completed", Some(now))
        );
        assert_eq!(next(&done, SECOND).0, Next::Nothing);
        let failed = pod("Never", true, &[(EXIT_CODE, "main=3, side=0")]);
        let status = ended(&failed, now);
        let codes = status.container_statuses.iter();
        let codes = codes.map(|it| it.state.terminated.as_ref().map(|it| it.exit_code));
        let codes: Vec<_> = codes.collect();
        assert_eq!((&*status.phase, codes), ("Failed", vec![Some(3), Some(0)]));
        let ready = status.conditions.iter().find(|it| it.type_ == "Ready");
        assert_eq!(ready.map(|it| &*it.reason), Some("PodFailed"));
    }

    #[test]
    fn containers_are_restarted_with_growing_delays() {
        let mut pod = pod("OnFailure", true, &[(EXIT_CODE, "main=1")]);
        let mut delays = Vec::new();
        for at in 0..8 {
            let now = Time::from_unix(at);
            pod.status = ended(&pod, now);
            let states: Vec<_> = pod
                .status
                .container_statuses
                .iter()
                .map(|it| &it.state)
                .collect();
            assert!(states[0].waiting.is_some() && states[1].terminated.is_some());
            let Next::Restart(delay) = next(&pod, SECOND).0 else {
                panic!("it waits");
            };
            delays.push(delay.as_secs());
            pod.status = restarted(&pod, now);
            assert_eq!(pod.status.phase, "Running");
        }
        assert_eq!(delays, [0, 10, 20, 40, 80, 160, 300, 300]);
        let main = &pod.status.container_statuses[0];
        assert_eq!(
            (main.restart_count, &*main.container_id),
            (8, "kubist://u/main/8")
        );
        assert_eq!(pod.status.container_statuses[1].restart_count, 0);
    }

    #[test]
    fn what_is_stopped_has_failed() {
        let status = stopped(&pod("Never", true, &[]), Time::from_unix(20));
        assert_eq!(status.phase, "Failed");
    }
}
