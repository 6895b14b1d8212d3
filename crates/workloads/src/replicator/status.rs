//! The status of a ReplicaSet. No I/O; the time is an argument.

use crate::clock::until;
use crate::pod_state::{count, ready_since};
use kubist_api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::Time;
use kubist_client::ApiError;
use std::sync::Arc;
use std::time::Duration;

const FAILURE: &str = "ReplicaFailure";

/// Returns the status, and after how long a ready Pod becomes available (`minReadySeconds`).
pub(super) fn counted(
    set: &ReplicaSet,
    active: &[Arc<Pod>],
    terminating: usize,
    failure: Option<&ApiError>,
    now: Time,
) -> (ReplicaSetStatus, Option<Duration>) {
    let wanted = &set.spec.template.metadata.labels;
    let labelled = active.iter().filter(|pod| {
        let labels = &pod.metadata.labels;
        wanted
            .iter()
            .all(|(key, value)| labels.get(key) == Some(value))
    });
    let ready: Vec<Time> = active.iter().filter_map(|pod| ready_since(pod)).collect();
    let minimum = set.spec.min_ready_seconds;
    let waits = ready.iter().map(|since| match minimum {
        ..=0 => None,
        _ => until(*since, minimum, now),
    });
    let waits: Vec<Duration> = waits.flatten().collect();
    let mut status = ReplicaSetStatus {
        replicas: count(active.len()),
        fully_labeled_replicas: count(labelled.count()),
        ready_replicas: count(ready.len()),
        available_replicas: count(ready.len() - waits.len()),
        terminating_replicas: Some(count(terminating)),
        observed_generation: set.metadata.generation,
        ..set.status.clone()
    };
    judge_failure(&mut status, set, active.len(), failure, now);
    (status, waits.into_iter().min())
}

fn judge_failure(
    status: &mut ReplicaSetStatus,
    set: &ReplicaSet,
    active: usize,
    failure: Option<&ApiError>,
    now: Time,
) {
    let Some(error) = failure else {
        status.conditions.retain(|it| it.type_ != FAILURE);
        return;
    };
    if status.conditions.iter().any(|it| it.type_ == FAILURE) {
        return;
    }
    let missing = count(active) < set.spec.replicas.unwrap_or(1);
    let reason = if missing {
        "FailedCreate"
    } else {
        "FailedDelete"
    };
    status.conditions.push(ReplicaSetCondition {
        type_: FAILURE.into(),
        status: "True".into(),
        last_transition_time: Some(now),
        reason: reason.into(),
        message: error.to_string().into(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::PodCondition;
    use kubist_apimachinery::Status;
    use kubist_apimachinery::StatusReason;

    fn ready(since: Option<i64>) -> Arc<Pod> {
        let mut pod = Pod::default();
        pod.status.conditions.push(PodCondition {
            type_: "Ready".into(),
            status: if since.is_some() { "True" } else { "False" }.into(),
            last_transition_time: since.map(Time::from_unix),
            ..PodCondition::default()
        });
        Arc::new(pod)
    }

    #[test]
    fn pods_are_available_once_they_were_ready_for_long_enough() {
        let mut set = ReplicaSet::default();
        set.spec.min_ready_seconds = 10;
        set.metadata.generation = 4;
        let pods = [
            ready(Some(100)),
            ready(Some(105)),
            ready(Some(89)),
            ready(None),
        ];
        let (status, wait) = counted(&set, &pods, 2, None, Time::from_unix(106));
        assert_eq!(
            (
                status.replicas,
                status.ready_replicas,
                status.available_replicas
            ),
            (4, 3, 1)
        );
        assert_eq!(
            (status.fully_labeled_replicas, status.observed_generation),
            (4, 4)
        );
        assert_eq!(status.terminating_replicas, Some(2));
        assert_eq!(wait, Some(Duration::from_secs(4)));
        set.spec.min_ready_seconds = 0;
        let (status, wait) = counted(&set, &pods, 0, None, Time::from_unix(106));
        assert_eq!((status.available_replicas, wait), (3, None));
    }

    #[test]
    fn a_failure_is_reported_until_it_is_gone() {
        let mut set = ReplicaSet::default();
        set.spec.replicas = Some(1);
        let refusal = Status::failure(403, StatusReason::Forbidden, "quota");
        let error = ApiError::Status(Box::new(refusal));
        let (status, _) = counted(&set, &[], 0, Some(&error), Time::from_unix(1));
        assert_eq!(status.conditions[0].reason, "FailedCreate");
        assert!(status.conditions[0].message.contains("quota"));
        set.status = status.clone();
        assert_eq!(
            counted(&set, &[], 0, Some(&error), Time::from_unix(2)).0,
            status
        );
        assert!(
            counted(&set, &[], 0, None, Time::from_unix(2))
                .0
                .conditions
                .is_empty()
        );
    }
}
