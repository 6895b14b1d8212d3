//! Verification of the state through the API.

use super::availability::{APP_LABEL, is_live, is_ready};
use super::error::{DemoError, Doing as _, check};
use super::stage::Stage;
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::{ListOptions, ObjectMeta};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long the status of a Deployment may lag behind its Pods, because its informer may lag behind
/// that of Pods.
const STATUS_LAG_MAX: Duration = Duration::from_secs(2);
/// Polling interval.
const PAUSE: Duration = Duration::from_millis(20);

/// Checks that the status of a Deployment has `replicas`, and that as many ready Pods belong to it
/// through a `ReplicaSet`. Returns the Pods.
pub(super) async fn rolled_out(
    stage: &Stage,
    app: &str,
    replicas: u64,
) -> Result<Vec<Pod>, DemoError> {
    let deadline = Instant::now() + STATUS_LAG_MAX;
    loop {
        match is_rolled_out(stage, app, replicas).await {
            Err(DemoError::Check { .. }) if Instant::now() < deadline => sleep(PAUSE).await,
            answer => return answer,
        }
    }
}

async fn is_rolled_out(stage: &Stage, app: &str, replicas: u64) -> Result<Vec<Pod>, DemoError> {
    let deployment = stage.api::<Deployment>().get(app).await;
    let deployment = deployment.doing(|| format!("get Deployment {app}"))?;
    let status = &deployment.status;
    let wanted = i32::try_from(replicas).unwrap_or(i32::MAX);
    let says = |what: &str| format!("Deployment {app} {what}");
    check(
        &says("wants as many replicas"),
        deployment.spec.replicas,
        Some(wanted),
    )?;
    let counts = [
        ("has as many replicas", status.replicas),
        ("has updated all replicas", status.updated_replicas),
        ("has all replicas available", status.available_replicas),
    ];
    for (what, found) in counts {
        check(&says(what), found, wanted)?;
    }
    let (seen, is) = (status.observed_generation, deployment.metadata.generation);
    check(&says("has seen its newest generation"), seen, is)?;

    let sets = replica_sets(stage, app).await?;
    let owned = |set: &&ReplicaSet| controller(&set.metadata) == Some(uid(&deployment.metadata));
    let own: Vec<&str> = sets
        .iter()
        .filter(owned)
        .map(|set| uid(&set.metadata))
        .collect();
    let pods = pods(stage, app).await?;
    let counts = pods
        .iter()
        .filter(|pod| is_live(pod) && is_ready(pod))
        .filter(|pod| controller(&pod.metadata).is_some_and(|owner| own.contains(&owner)))
        .count();
    check(&says("owns as many ready Pods"), counts as u64, replicas)?;
    check(&says("has no other Pods"), pods.len() as u64, replicas)?;
    Ok(pods)
}

/// Checks that nothing of the application is left.
pub(super) async fn removed(stage: &Stage, app: &str) -> Result<(), DemoError> {
    let deployment = stage.api::<Deployment>().get_opt(app).await;
    let deployment = deployment.doing(|| format!("get Deployment {app}"))?;
    check(
        &format!("Deployment {app} is gone"),
        deployment.is_none(),
        true,
    )?;
    let sets = replica_sets(stage, app).await?.len();
    check(&format!("no ReplicaSet of {app} is left"), sets, 0)?;
    check(
        &format!("no Pod of {app} is left"),
        pods(stage, app).await?.len(),
        0,
    )
}

/// Returns the Pods of an application.
pub(super) async fn pods(stage: &Stage, app: &str) -> Result<Vec<Pod>, DemoError> {
    let list = stage.api::<Pod>().list(&of(app)?).await;
    Ok(list.doing(|| format!("list the Pods of {app}"))?.items)
}

/// Returns the `ReplicaSets` of an application.
pub(super) async fn replica_sets(stage: &Stage, app: &str) -> Result<Vec<ReplicaSet>, DemoError> {
    let list = stage.api::<ReplicaSet>().list(&of(app)?).await;
    Ok(list
        .doing(|| format!("list the ReplicaSets of {app}"))?
        .items)
}

fn of(app: &str) -> Result<ListOptions, DemoError> {
    let selector = format!("{APP_LABEL}={app}").parse();
    let label_selector = selector.map_err(|error| DemoError::Manifest {
        reason: format!("{app:?} is no label value: {error}"),
    })?;
    Ok(ListOptions {
        label_selector,
        ..ListOptions::default()
    })
}

fn uid(metadata: &ObjectMeta) -> &str {
    &metadata.uid
}

/// Returns the uid of the controlling owner.
fn controller(metadata: &ObjectMeta) -> Option<&str> {
    let mut owners = metadata.owner_references.iter();
    owners
        .find(|owner| owner.controller == Some(true))
        .map(|owner| owner.uid.as_str())
}
