//! The metadata that a status update may change, and how often it is validated.

use crate::fixture::{Fixture, typed};
use crate::subresources::pod;
use kubist_api::apps::v1::DaemonSet;
use kubist_api::batch::v1::CronJob;
use kubist_api::core::v1::Pod;
use kubist_api::resource::v1::ResourceClaim;
use kubist_apimachinery::wire::{DecodeContext, Wire};
use kubist_apimachinery::{ObjectMeta, Status, Time};
use serde_json::json;

fn read<K: Wire>(tree: &serde_json::Value) -> K {
    let text = tree.to_string();
    K::from_json(text.as_bytes(), &mut DecodeContext::new()).expect("it is JSON")
}

/// Returns the fields with errors.
fn fields(status: &Status) -> Vec<&str> {
    status.causes().iter().map(|it| it.field.as_str()).collect()
}

/// Sets the metadata of an object whose deletion has begun.
fn begin_deletion(meta: &mut ObjectMeta) {
    meta.deletion_timestamp = Some(Time::from_unix(1));
    meta.deletion_grace_period_seconds = Some(5);
}

#[tokio::test]
async fn the_status_of_a_daemon_set_keeps_the_generation_of_its_template() {
    let fixture = Fixture::new().await;
    let template = json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "a", "image": "b"}]}});
    let set: DaemonSet = read(&json!({"metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}));
    let mut set: DaemonSet = fixture.create(set).await;
    set.metadata.annotations.clear();
    set.metadata.annotations.insert("x".into(), "y".into());
    let updated = fixture.put_subresource("status", set).await.expect("fine");
    let names = typed::<DaemonSet>(&updated.object).metadata.annotations;
    let names: Vec<&str> = names.keys().map(kubist_apimachinery::Str::as_str).collect();
    assert_eq!(names, ["deprecated.daemonset.template.generation", "x"]);
}

#[tokio::test]
async fn the_metadata_of_a_cron_job_is_checked_once_with_its_status() {
    let fixture = Fixture::new().await;
    let spec = json!({"containers": [{"name": "a", "image": "b"}], "restartPolicy": "Never"});
    let template = json!({"spec": {"template": {"spec": spec}}});
    let job: CronJob = read(&json!({"metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "jobTemplate": template}}));
    let mut job: CronJob = fixture.create(job).await;
    job.metadata.finalizers.push("nodomain".into());
    let updated = fixture.put_subresource("status", job).await.expect("fine");
    let mut job: CronJob = typed(&updated.object);
    assert_eq!(job.metadata.finalizers, ["nodomain"]);
    begin_deletion(&mut job.metadata);
    let status = fixture
        .put_subresource("status", job)
        .await
        .expect_err("it lives");
    let expected = ["deletionTimestamp", "deletionGracePeriodSeconds"];
    assert_eq!(fields(&status), expected.map(|it| format!("metadata.{it}")));
}

#[tokio::test]
async fn a_subresource_cannot_mark_its_object_as_being_deleted() {
    let fixture = Fixture::new().await;
    let mut pod: Pod = fixture.create(pod("p")).await;
    begin_deletion(&mut pod.metadata);
    for subresource in ["status", "resize", "ephemeralcontainers"] {
        let status = fixture.put_subresource(subresource, pod.clone()).await;
        let status = status.expect_err("it lives");
        let at = "metadata.deletionGracePeriodSeconds";
        assert_eq!(fields(&status), [at, at], "{subresource}");
    }
}

#[tokio::test]
async fn the_status_of_a_resource_claim_keeps_its_metadata() {
    let fixture = Fixture::new().await;
    let claim: ResourceClaim = read(&json!({"metadata": {"name": "c"}, "spec": {}}));
    let created: ResourceClaim = fixture.create(claim).await;
    let mut claim = created.clone();
    claim.metadata.labels.insert("a".into(), "b".into());
    claim.metadata.annotations.insert("-odd".into(), "b".into());
    claim.metadata.finalizers.push("nodomain".into());
    let updated = fixture
        .put_subresource("status", claim)
        .await
        .expect("fine");
    let updated: ResourceClaim = typed(&updated.object);
    assert_eq!(updated.metadata, created.metadata);
}
