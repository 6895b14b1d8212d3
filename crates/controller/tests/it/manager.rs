//! Several controllers as one future.

use crate::cluster::{Cluster, named};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Controller, Error, Manager, ManagerError};
use kubist_informers::SharedInformerFactory;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

async fn done(_: ObjectName) -> Result<Action, Error> {
    Ok(Action::done())
}

fn manager(cluster: &Cluster) -> Manager<Cluster> {
    let factory = SharedInformerFactory::new(cluster.clone());
    let deployments = factory.informer::<Deployment>();
    let replica_sets = factory.informer::<ReplicaSet>();
    Manager::new(factory)
        .with(
            Controller::new("deployment", &deployments).owns(&replica_sets),
            done,
        )
        .with(Controller::new("replica-set", &replica_sets), done)
}

async fn stop_after(token: &CancellationToken, wait: Duration) {
    sleep(wait).await;
    token.cancel();
}

#[tokio::test(start_paused = true)]
async fn controllers_share_informers_and_stop_together() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    cluster.put(named::<ReplicaSet>("web-1"));
    cluster.put(named::<ReplicaSet>("web-2"));
    let token = CancellationToken::new();
    let stop = token.clone();
    let manager = manager(&cluster).with_task("cleaner", |token| async move {
        token.cancelled().await;
        Ok(())
    });
    let monitors = manager.monitors();
    let (summary, ()) = tokio::join!(
        manager.run(token),
        stop_after(&stop, Duration::from_secs(1))
    );
    let summary = summary.expect("no error");
    let runs: Vec<_> = summary
        .controllers
        .iter()
        .map(|(name, stats)| (name.as_str(), stats.reconciles))
        .collect();
    assert_eq!(runs, [("deployment", 1), ("replica-set", 2)]);
    assert_eq!(monitors[1].stats().reconciles, 2);
    assert_eq!(summary.informers.len(), 2, "one informer a kind");
}

#[tokio::test(start_paused = true)]
async fn one_failure_stops_all() {
    let cluster = Cluster::default();
    let token = CancellationToken::new();
    let manager = manager(&cluster).with_task("cleaner", |_| async {
        sleep(Duration::from_secs(1)).await;
        Err(Error::new("out of soap"))
    });
    let run = timeout(Duration::from_secs(2), manager.run(token.clone()));
    let error = run.await.expect("it ends").expect_err("it failed");
    assert!(matches!(error, ManagerError::Task { ref name, .. } if *name == "cleaner"));
    assert!(!token.is_cancelled(), "the caller's token is the caller's");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_task_is_reported() {
    let cluster = Cluster::default();
    let manager = manager(&cluster).with_task("cleaner", |_| async { panic!("on purpose") });
    let error = manager
        .run(CancellationToken::new())
        .await
        .expect_err("it panicked");
    assert!(matches!(error, ManagerError::Panicked { ref name } if *name == "cleaner"));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_does_not_stop_is_dropped() {
    let cluster = Cluster::default();
    let token = CancellationToken::new();
    let manager = manager(&cluster).with_task("cleaner", |_| std::future::pending());
    token.cancel();
    let run = timeout(Duration::from_secs(31), manager.run(token));
    run.await.expect("it ends after 30 s").expect("no error");
}
