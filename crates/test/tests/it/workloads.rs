//! The simulated workloads, on the paused clock: hours of schedules and backoffs take no time.

use kubist::api::apps::v1::{DaemonSet, StatefulSet};
use kubist::api::batch::v1::{CronJob, Job, JobCondition};
use kubist::api::core::v1::{Node, PersistentVolumeClaim, Pod, ReplicationController};
use kubist::apimachinery::Time;
use kubist::client::{Api, Patch};
use kubist_test::{ServerController, TestError, TestServer};
use serde_json::json;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

async fn server(yaml: &str) -> Result<TestServer, TestError> {
    let mut controllers = ServerController::USUAL.to_vec();
    controllers.push(ServerController::Workloads);
    let server = TestServer::builder()
        .controllers(controllers)
        .yaml(yaml)
        .start();
    server.await
}

fn conditions(job: &Job) -> Vec<String> {
    let shown = |it: &JobCondition| format!("{} {}", it.type_, it.reason);
    job.status.conditions.iter().map(shown).collect()
}

fn is_over(job: &Job) -> bool {
    let mut conditions = job.status.conditions.iter();
    conditions.any(|it| matches!(it.type_.as_str(), "Complete" | "Failed"))
}

#[tokio::test(start_paused = true)]
async fn an_indexed_job_completes_index_by_index() -> kubist_test::Result {
    let server = server(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: sum}, spec: {completions: 5, \
         parallelism: 2, completionMode: Indexed, template: {spec: {restartPolicy: Never, \
         containers: [{name: main, image: busybox}]}}}}",
    )
    .await?;
    let pods = server.objects::<Pod>("default");
    pods.never(MINUTE, |pods| {
        let running = pods.iter().filter(|it| it.status.phase == "Running");
        running.count() > 2
    })
    .await?;
    let job = server.object::<Job>("default", "sum");
    let job = job.eventually(is_over).await?;
    let expected = [
        "SuccessCriteriaMet CompletionsReached",
        "Complete CompletionsReached",
    ];
    assert_eq!(conditions(&job), expected);
    let status = &job.status;
    assert_eq!(
        (status.succeeded, status.failed, &*status.completed_indexes),
        (5, 0, "0-4")
    );
    assert!(status.completion_time >= status.start_time);
    let pods = server.objects::<Pod>("default");
    let pods = pods.eventually(|pods| pods.iter().all(|it| it.metadata.finalizers.is_empty()));
    let mut hostnames: Vec<_> = pods
        .await?
        .iter()
        .map(|it| it.spec.hostname.clone())
        .collect();
    hostnames.sort();
    assert_eq!(hostnames, ["sum-0", "sum-1", "sum-2", "sum-3", "sum-4"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_is_tried_again_with_delays_and_then_collected() -> kubist_test::Result {
    let server = server(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: bad}, spec: {backoffLimit: 2, \
         ttlSecondsAfterFinished: 30, template: {metadata: {annotations: \
         {kubist.dev/exit-code: '3'}}, spec: {restartPolicy: Never, containers: [{name: main, \
         image: busybox}]}}}}",
    )
    .await?;
    let job = server.object::<Job>("default", "bad").within(5 * MINUTE);
    let job = job.eventually(is_over).await?;
    let expected = [
        "FailureTarget BackoffLimitExceeded",
        "Failed BackoffLimitExceeded",
    ];
    assert_eq!(conditions(&job), expected);
    assert_eq!((job.status.failed, job.status.active), (3, 0));
    let start = job.status.start_time.map_or(0, Time::unix);
    let end = job.status.conditions[1]
        .last_transition_time
        .map_or(0, Time::unix);
    assert!(
        (30..40).contains(&(end - start)),
        "10 s and 20 s, and the runs"
    );
    let job = server.object::<Job>("default", "bad").within(2 * MINUTE);
    job.eventually_gone().await?;
    let pods = server.objects::<Pod>("default");
    pods.eventually(<[Pod]>::is_empty).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_somebody_deletes_is_replaced_and_the_job_still_completes() -> kubist_test::Result
{
    let server = server(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: long}, spec: {template: {metadata: \
         {annotations: {kubist.dev/run-for: 1m}}, spec: {restartPolicy: Never, containers: \
         [{name: main, image: busybox}]}}}}",
    )
    .await?;
    let running = |pods: &[Pod]| pods.iter().any(|it| it.status.phase == "Running");
    let pods = server.objects::<Pod>("default").eventually(running).await?;
    let api: Api<Pod> = Api::namespaced(server.client(), "default");
    api.delete(&pods[0].metadata.name).await?;
    let job = server.object::<Job>("default", "long").within(5 * MINUTE);
    let job = job.eventually(is_over).await?;
    assert_eq!((job.status.succeeded, job.status.failed), (1, 1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_keeps_its_times_and_its_history() -> kubist_test::Result {
    let server = server(
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: report}, spec: {schedule: \
         '*/10 * * * *', successfulJobsHistoryLimit: 2, jobTemplate: {spec: {template: {spec: \
         {restartPolicy: OnFailure, containers: [{name: main, image: busybox}]}}}}}}",
    )
    .await?;
    server.advance(100 * MINUTE).await?;
    let jobs = server.objects::<Job>("default");
    let jobs = jobs.eventually(|jobs| jobs.len() == 2 && jobs.iter().all(is_over));
    let jobs = jobs.await?;
    let cron = server.object::<CronJob>("default", "report");
    let cron = cron.eventually(|it| it.status.active.is_empty()).await?;
    let last = cron.status.last_schedule_time.expect("it was scheduled");
    assert_eq!(last.unix() % 600, 0);
    assert!(cron.status.last_successful_time >= Some(last));
    let mut names: Vec<_> = jobs.iter().map(|it| it.metadata.name.to_string()).collect();
    names.sort();
    let minute = last.unix() / 60;
    let expected = [minute - 10, minute].map(|it| format!("report-{it}"));
    assert_eq!(names, expected);
    Ok(())
}

const DB: &str = "\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  minReadySeconds: 30
  selector: {matchLabels: {app: db}}
  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: 'db:1'}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";

#[tokio::test(start_paused = true)]
async fn a_stateful_set_begins_changes_and_shrinks_one_by_one() -> kubist_test::Result {
    let server = server(DB).await?;
    let sets: Api<StatefulSet> = Api::namespaced(server.client(), "default");
    let set = || {
        server
            .object::<StatefulSet>("default", "db")
            .within(10 * MINUTE)
    };
    let begun = set()
        .eventually(|it| it.status.available_replicas == 3)
        .await?;
    assert_eq!(begun.status.current_revision, begun.status.update_revision);
    let pods = server
        .objects::<Pod>("default")
        .eventually(|it| it.len() == 3)
        .await?;
    let mut created: Vec<_> = pods
        .iter()
        .map(|it| (it.metadata.name.to_string(), it.metadata.creation_timestamp))
        .collect();
    created.sort();
    let times: Vec<_> = created
        .iter()
        .map(|(_, at)| at.map_or(0, Time::unix))
        .collect();
    assert!(
        times[1] - times[0] >= 30 && times[2] - times[1] >= 30,
        "{created:?}"
    );

    let image = json!([{"name": "main", "image": "db:2"}]);
    let patch = Patch::Strategic(json!({"spec": {"template": {"spec": {"containers": image}}}}));
    sets.patch("db", &patch).await?;
    let updated = |it: &StatefulSet| {
        let status = &it.status;
        status.observed_generation == it.metadata.generation
            && status.updated_replicas == 3
            && status.current_revision == status.update_revision
    };
    let updated = set().eventually(updated).await?;
    assert_ne!(
        updated.status.current_revision,
        begun.status.current_revision
    );

    sets.patch("db", &Patch::Merge(json!({"spec": {"replicas": 1}})))
        .await?;
    let pods = server.objects::<Pod>("default").within(10 * MINUTE);
    let pods = pods.eventually(|it| it.len() == 1).await?;
    assert_eq!(pods[0].spec.containers[0].image, "db:2");
    let claims = server
        .objects::<PersistentVolumeClaim>("default")
        .within(10 * MINUTE);
    let claims = claims.eventually(|it| it.len() == 1).await?;
    assert_eq!(claims[0].metadata.name, "data-db-0");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_follows_the_nodes() -> kubist_test::Result {
    let server = server(
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log}, spec: {selector: \
         {matchLabels: {app: log}}, template: {metadata: {labels: {app: log}}, spec: \
         {containers: [{name: main, image: 'log:1'}]}}}}",
    )
    .await?;
    let set = || server.object::<DaemonSet>("default", "log");
    set()
        .eventually(|it| it.status.number_available == 3)
        .await?;
    let nodes: Api<Node> = Api::all(server.client());
    let taint = json!([{"key": "gpu", "effect": "NoExecute"}]);
    let patch = Patch::Merge(json!({"spec": {"taints": taint}}));
    nodes.patch("node-2", &patch).await?;
    let cordon = Patch::Merge(json!({"spec": {"unschedulable": true}}));
    nodes.patch("node-3", &cordon).await?;
    let fewer = |it: &DaemonSet| {
        let status = &it.status;
        (status.desired_number_scheduled, status.number_misscheduled) == (2, 0)
    };
    set().eventually(fewer).await?;
    let sets: Api<DaemonSet> = Api::namespaced(server.client(), "default");
    let image = json!([{"name": "main", "image": "log:2"}]);
    let patch = Patch::Strategic(json!({"spec": {"template": {"spec": {"containers": image}}}}));
    sets.patch("log", &patch).await?;
    let updated = |it: &DaemonSet| {
        let status = &it.status;
        status.observed_generation == it.metadata.generation
            && (status.updated_number_scheduled, status.number_available) == (2, 2)
    };
    set().eventually(updated).await?;
    let pods = server
        .objects::<Pod>("default")
        .eventually(|it| it.len() == 2)
        .await?;
    let mut on: Vec<_> = pods
        .iter()
        .map(|it| it.spec.node_name.to_string())
        .collect();
    on.sort();
    assert_eq!(on, ["node-1", "node-3"], "a cordon keeps only others away");
    assert!(pods.iter().all(|it| it.spec.containers[0].image == "log:2"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_fits_nowhere_waits_for_its_node() -> kubist_test::Result {
    let server = server(
        "{apiVersion: v1, kind: ReplicationController, metadata: {name: old}, spec: {replicas: \
         1, selector: {app: old}, template: {metadata: {labels: {app: old}}, spec: \
         {nodeSelector: {disk: fast}, containers: [{name: main, image: old}]}}}}",
    )
    .await?;
    let refused = |pods: &[Pod]| {
        let mut conditions = pods.iter().flat_map(|it| &it.status.conditions);
        conditions.any(|it| it.reason == "Unschedulable" && it.message.starts_with("0/3 nodes"))
    };
    server.objects::<Pod>("default").eventually(refused).await?;
    let nodes: Api<Node> = Api::all(server.client());
    let label = Patch::Merge(json!({"metadata": {"labels": {"disk": "fast"}}}));
    nodes.patch("node-2", &label).await?;
    let old = server.object::<ReplicationController>("default", "old");
    old.eventually(|it| it.status.ready_replicas == 1).await?;
    let pods = server
        .objects::<Pod>("default")
        .eventually(|it| it.len() == 1)
        .await?;
    assert_eq!(pods[0].spec.node_name, "node-2");
    Ok(())
}
