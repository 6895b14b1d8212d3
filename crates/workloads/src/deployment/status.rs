//! The status of a Deployment: counts and conditions, as `kubectl rollout status`, `kubectl wait`
//! and `kubectl describe` read them. No I/O; the time is an argument.

use super::sizes;
use crate::clock::until;
use kubist_api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet};
use kubist_apimachinery::Time;
use std::time::Duration;

/// The deadline that means no deadline.
const NO_DEADLINE: i32 = i32::MAX;

/// Returns the status with the counts of the ReplicaSets, including the newest.
///
/// Other fields are taken from `before`, the previous status.
pub(super) fn counted(
    deployment: &Deployment,
    before: &DeploymentStatus,
    sets: &[&ReplicaSet],
    new: Option<&ReplicaSet>,
) -> DeploymentStatus {
    let sum = |of: fn(&ReplicaSet) -> i32| sets.iter().map(|it| of(it)).sum::<i32>();
    let available = sum(|it| it.status.available_replicas);
    let terminating = sum(|it| it.status.terminating_replicas.unwrap_or(0));
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: sum(|it| it.status.replicas),
        updated_replicas: new.map_or(0, |it| it.status.replicas),
        ready_replicas: sum(|it| it.status.ready_replicas),
        available_replicas: available,
        unavailable_replicas: (sizes::total(sets.iter().copied()) - available).max(0),
        terminating_replicas: Some(terminating),
        ..before.clone()
    };
    let minimum = sizes::wanted(deployment) - sizes::limits(deployment).1;
    let (holds, reason, message) = if available >= minimum {
        let message = "Deployment has minimum availability.";
        ("True", "MinimumReplicasAvailable", message)
    } else {
        let message = "Deployment does not have minimum availability.";
        ("False", "MinimumReplicasUnavailable", message)
    };
    let known = status
        .conditions
        .iter()
        .position(|it| it.type_ == "Available");
    let unchanged = known.is_some_and(|index| {
        let known = &status.conditions[index];
        known.status == holds && known.reason == reason
    });
    if !unchanged {
        status.conditions.retain(|it| it.type_ != "Available");
        status.conditions.push(DeploymentCondition {
            type_: "Available".into(),
            status: holds.into(),
            reason: reason.into(),
            message: message.into(),
            ..DeploymentCondition::default()
        });
    }
    status
}

/// Updates the condition `Progressing` after `status` was counted.
pub(super) fn judge_progress(
    deployment: &Deployment,
    before: &DeploymentStatus,
    status: &mut DeploymentStatus,
    new: Option<&ReplicaSet>,
    now: Time,
) {
    if deadline(deployment).is_none() {
        status.conditions.retain(|it| it.type_ != PROGRESSING);
        return;
    }
    let condition = find(before, PROGRESSING);
    let ended = condition.is_some_and(|it| it.reason == "NewReplicaSetAvailable");
    if ended && status.replicas == status.updated_replicas {
        return;
    }
    let subject = new.map_or_else(
        || format!("Deployment {:?}", &*deployment.metadata.name),
        |set| format!("ReplicaSet {:?}", &*set.metadata.name),
    );
    if is_complete(deployment, status) {
        let message = format!("{subject} has successfully progressed.");
        set_progressing(status, "True", "NewReplicaSetAvailable", message, now);
    } else if has_moved(before, status) {
        // The update time restarts the deadline.
        status.conditions.retain(|it| it.type_ != PROGRESSING);
        let message = format!("{subject} is progressing.");
        set_progressing(status, "True", "ReplicaSetUpdated", message, now);
        let transition = condition.filter(|it| it.status == "True");
        let transition = transition.and_then(|it| it.last_transition_time);
        if let (Some(transition), Some(condition)) = (transition, status.conditions.last_mut()) {
            condition.last_transition_time = Some(transition);
        }
    } else if has_timed_out(deployment, condition, now) {
        let message = format!("{subject} has timed out progressing.");
        set_progressing(status, "False", "ProgressDeadlineExceeded", message, now);
    }
}

/// Adds or updates `Progressing`. A condition with the same status and reason stays as it is.
pub(super) fn set_progressing(
    status: &mut DeploymentStatus,
    holds: &str,
    reason: &str,
    message: String,
    now: Time,
) {
    let before = find(status, PROGRESSING);
    if before.is_some_and(|it| it.status == *holds && it.reason == *reason) {
        return;
    }
    let transition = before.filter(|it| it.status == *holds);
    let transition = transition.map_or(Some(now), |it| it.last_transition_time);
    status.conditions.retain(|it| it.type_ != PROGRESSING);
    status.conditions.push(DeploymentCondition {
        type_: PROGRESSING.into(),
        status: holds.into(),
        last_update_time: Some(now),
        last_transition_time: transition,
        reason: reason.into(),
        message: message.into(),
    });
}

/// Records that the Deployment was paused or resumed; the deadline does not run while it is paused.
pub(super) fn judge_pause(deployment: &Deployment, status: &mut DeploymentStatus, now: Time) {
    let before = find(status, PROGRESSING);
    let paused = before.is_some_and(|it| it.reason == "DeploymentPaused");
    let timed_out = before.is_some_and(|it| it.reason == "ProgressDeadlineExceeded");
    if deadline(deployment).is_none() || timed_out {
        return;
    }
    if deployment.spec.paused && !paused {
        let message = "Deployment is paused".to_owned();
        set_progressing(status, "Unknown", "DeploymentPaused", message, now);
    } else if !deployment.spec.paused && paused {
        let message = "Deployment is resumed".to_owned();
        set_progressing(status, "Unknown", "DeploymentResumed", message, now);
    }
}

/// Sets the times of new and changed conditions.
pub(super) fn stamp(status: &mut DeploymentStatus, before: &DeploymentStatus, now: Time) {
    for condition in &mut status.conditions {
        if condition.last_update_time.is_none() {
            condition.last_update_time = Some(now);
        }
        if condition.last_transition_time.is_none() {
            let same = find(before, &condition.type_).filter(|it| it.status == condition.status);
            let transition = same.and_then(|it| it.last_transition_time);
            condition.last_transition_time = transition.or(Some(now));
        }
    }
}

/// Returns after how long a Deployment without progress must be checked again.
pub(super) fn next_check(
    deployment: &Deployment,
    status: &DeploymentStatus,
    now: Time,
) -> Option<Duration> {
    let condition = find(status, PROGRESSING)?;
    let settled = is_complete(deployment, status) || condition.reason == "ProgressDeadlineExceeded";
    if settled || deployment.spec.paused {
        return None;
    }
    let left = until(condition.last_update_time?, deadline(deployment)?, now);
    Some(left.unwrap_or_default() + Duration::from_secs(1))
}

/// Reports whether all replicas are of the current template and available.
pub(super) fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let wanted = sizes::wanted(deployment);
    [
        status.updated_replicas,
        status.replicas,
        status.available_replicas,
    ] == [wanted; 3]
        && status.observed_generation >= deployment.metadata.generation
}

const PROGRESSING: &str = "Progressing";

fn deadline(deployment: &Deployment) -> Option<i32> {
    deployment
        .spec
        .progress_deadline_seconds
        .filter(|it| *it != NO_DEADLINE)
}

fn find<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().find(|it| it.type_ == *type_)
}

fn has_moved(before: &DeploymentStatus, now: &DeploymentStatus) -> bool {
    now.updated_replicas != before.updated_replicas
        || now.replicas - now.updated_replicas < before.replicas - before.updated_replicas
        || now.ready_replicas > before.ready_replicas
        || now.available_replicas > before.available_replicas
}

fn has_timed_out(
    deployment: &Deployment,
    condition: Option<&DeploymentCondition>,
    now: Time,
) -> bool {
    let Some(condition) = condition else {
        return false;
    };
    match condition.reason.as_str() {
        "NewReplicaSetAvailable" => false,
        "ProgressDeadlineExceeded" => true,
        _ => condition
            .last_update_time
            .zip(deadline(deployment))
            .is_some_and(|(from, seconds)| until(from, seconds, now).is_none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment() -> Deployment {
        let mut deployment = Deployment::default();
        deployment.metadata.name = "web".into();
        deployment.metadata.generation = 2;
        deployment.spec.replicas = Some(3);
        deployment.spec.progress_deadline_seconds = Some(600);
        deployment
    }

    fn set(size: i32, available: i32) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        set.metadata.name = "web-1".into();
        set.spec.replicas = Some(size);
        set.status.replicas = size;
        set.status.ready_replicas = available;
        set.status.available_replicas = available;
        set
    }

    /// Updates the status of the Deployment once; returns its conditions as text.
    fn look(deployment: &mut Deployment, new: &ReplicaSet, at: i64) -> Vec<String> {
        let now = Time::from_unix(at);
        let before = deployment.status.clone();
        let mut status = counted(deployment, &before, &[new], Some(new));
        judge_progress(deployment, &before, &mut status, Some(new), now);
        stamp(&mut status, &deployment.status, now);
        deployment.status = status;
        let text = |it: &DeploymentCondition| {
            let time = it.last_transition_time.map_or(0, Time::unix);
            format!("{}={} {} @{time}", it.type_, it.status, it.reason)
        };
        deployment.status.conditions.iter().map(text).collect()
    }

    #[test]
    fn a_rollout_progresses_and_completes() {
        let mut it = deployment();
        let seen = look(&mut it, &set(3, 0), 10);
        assert_eq!(
            seen,
            [
                "Available=False MinimumReplicasUnavailable @10",
                "Progressing=True ReplicaSetUpdated @10"
            ]
        );
        assert_eq!(it.status.unavailable_replicas, 3);
        assert_eq!(
            next_check(&it, &it.status, Time::from_unix(20)).map(|it| it.as_secs()),
            Some(591)
        );
        let seen = look(&mut it, &set(3, 3), 30);
        assert_eq!(
            seen,
            [
                "Available=True MinimumReplicasAvailable @30",
                "Progressing=True NewReplicaSetAvailable @10"
            ]
        );
        assert!(is_complete(&it, &it.status));
        let complete = it.status.clone();
        assert_eq!(look(&mut it, &set(3, 3), 99).len(), 2);
        assert_eq!(it.status, complete, "nothing changes any more");
        assert_eq!(next_check(&it, &it.status, Time::from_unix(99)), None);
    }

    #[test]
    fn a_rollout_that_does_not_move_times_out() {
        let mut it = deployment();
        look(&mut it, &set(3, 0), 10);
        let stuck = look(&mut it, &set(3, 0), 609);
        assert!(stuck.contains(&"Progressing=True ReplicaSetUpdated @10".to_owned()));
        let stuck = look(&mut it, &set(3, 0), 610);
        assert!(stuck.contains(&"Progressing=False ProgressDeadlineExceeded @610".to_owned()));
        let moved = look(&mut it, &set(3, 1), 700);
        assert!(moved.contains(&"Progressing=True ReplicaSetUpdated @700".to_owned()));
    }

    #[test]
    fn a_pause_stops_the_deadline() {
        let mut it = deployment();
        look(&mut it, &set(3, 0), 10);
        it.spec.paused = true;
        let mut status = it.status.clone();
        judge_pause(&it, &mut status, Time::from_unix(20));
        assert!(
            status
                .conditions
                .iter()
                .any(|it| it.reason == "DeploymentPaused")
        );
        assert_eq!(next_check(&it, &status, Time::from_unix(30)), None);
        it.spec.paused = false;
        judge_pause(&it, &mut status, Time::from_unix(40));
        assert!(
            status
                .conditions
                .iter()
                .any(|it| it.reason == "DeploymentResumed")
        );
    }

    #[test]
    fn without_a_deadline_progress_is_not_reported() {
        let mut it = deployment();
        it.spec.progress_deadline_seconds = Some(NO_DEADLINE);
        assert_eq!(look(&mut it, &set(3, 3), 10).len(), 1);
    }
}
