//! A key waits until the cache shows its own writes, with a limit.

use crate::cluster::{Cluster, named, owned};
use crate::running::{Calls, Running, settle, start};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_apimachinery::{Object as _, ObjectName};
use kubist_cache::WriteLog;
use kubist_controller::{Action, Config, Controller, Error, EventSource, Predicate};
use kubist_informers::SharedInformerFactory;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// What a reconciler writes, given the cluster, the log, and the number of the call.
type Write = fn(&Cluster, &WriteLog<ReplicaSet>, usize) -> Result<Action, Error>;

/// A controller of Deployments that writes `ReplicaSet`s without watching them: a key is requeued
/// only when its wait ends.
fn run(cluster: &Cluster, write: Write) -> (Running, Calls) {
    let factory = SharedInformerFactory::new(cluster.clone());
    let replica_sets = factory.informer::<ReplicaSet>();
    let log = WriteLog::new();
    let unmoved = EventSource::for_owner::<Deployment>(&replica_sets)
        .with_predicate(Predicate::new(|_| false));
    let controller = Controller::new("deployment", &factory.informer::<Deployment>())
        .source(unmoved)
        .reads_own_writes(&replica_sets, &log)
        .config(Config {
            own_writes_timeout: Duration::from_secs(5),
            ..Config::default()
        });
    let (calls, begin) = (Calls::default(), Instant::now());
    let (record, cluster) = (calls.clone(), cluster.clone());
    let reconcile = move |key: ObjectName| {
        record.push(&key, begin);
        let log = log.for_key(&key);
        let number = record
            .0
            .lock()
            .iter()
            .filter(|it| it.0 == *key.name)
            .count();
        let written = write(&cluster, &log, number);
        async move { written }
    };
    (start(controller, &factory, reconcile), calls)
}

/// Writes at the first call.
#[expect(
    clippy::unnecessary_wraps,
    reason = "it is a `Write` as the others are"
)]
fn create(cluster: &Cluster, log: &WriteLog<ReplicaSet>, number: usize) -> Result<Action, Error> {
    if number == 1 {
        log.saved(&cluster.put(owned::<ReplicaSet>("web-1", "Deployment", "web")));
    }
    Ok(Action::done())
}

/// Contract CTRL-6.
#[tokio::test(start_paused = true)]
async fn a_name_waits_for_its_own_writes_and_others_do_not_wait_for_it() {
    let cluster = Cluster::default();
    cluster.hold::<ReplicaSet>();
    cluster.put(named::<Deployment>("web"));
    let (running, calls) = run(&cluster, create);
    settle().await;
    cluster.put(named::<Deployment>("web"));
    cluster.put(named::<Deployment>("db"));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(calls.take(), ["web", "db"], "with one worker");
    cluster.put(named::<Deployment>("web"));
    sleep(Duration::from_secs(1)).await;
    assert!(calls.take().is_empty());
    cluster.release::<ReplicaSet>();
    settle().await;
    assert_eq!(calls.take(), ["web"], "once, whatever else happened");
    let stats = running.stop().await;
    assert_eq!((stats.own_writes_waits, stats.own_writes_overdue), (1, 0));
    assert_eq!((stats.reconciles, stats.errors, stats.retries), (3, 0, 0));
}

/// Contract CTRL-6.
#[tokio::test(start_paused = true)]
async fn past_the_deadline_it_runs_and_does_not_wait_for_the_same_write_again() {
    let cluster = Cluster::default();
    cluster.hold::<ReplicaSet>();
    cluster.put(named::<Deployment>("web"));
    let (running, calls) = run(&cluster, create);
    settle().await;
    cluster.put(named::<Deployment>("web"));
    sleep(Duration::from_secs(6)).await;
    cluster.put(named::<Deployment>("web"));
    settle().await;
    assert_eq!(calls.times(), [0, 5_001, 6_001]);
    let stats = running.stop().await;
    assert_eq!((stats.own_writes_waits, stats.own_writes_overdue), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_is_waited_for_too() {
    let cluster = Cluster::default();
    let old = cluster.put(owned::<ReplicaSet>("web-0", "Deployment", "web"));
    assert_eq!(old.uid(), "uid-web-0");
    cluster.put(named::<Deployment>("web"));
    let (running, calls) = run(&cluster, |cluster, log, number| {
        if number == 1 {
            cluster.hold::<ReplicaSet>();
            cluster.delete::<ReplicaSet>("shop", "web-0");
            log.deleted(ObjectName::new("shop", "web-0"), "uid-web-0");
        }
        Ok(Action::done())
    });
    settle().await;
    cluster.put(named::<Deployment>("web"));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(calls.times(), [0]);
    cluster.release::<ReplicaSet>();
    settle().await;
    assert_eq!(calls.times(), [0, 1_001]);
    assert_eq!(running.stop().await.own_writes_overdue, 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_selector_keeps_out_is_seen_by_a_bookmark_also_on_an_idle_kind() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (running, calls) = run(&cluster, |cluster, log, number| {
        if number == 1 {
            log.saved(&cluster.put_unselected(named::<ReplicaSet>("elsewhere")));
        }
        Ok(Action::done())
    });
    settle().await;
    cluster.put(named::<Deployment>("web"));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(calls.times(), [0]);
    cluster.bookmark::<ReplicaSet>();
    settle().await;
    assert_eq!(calls.times(), [0, 1_001]);
    assert_eq!(running.stop().await.own_writes_overdue, 0);
}

#[tokio::test(start_paused = true)]
async fn waiting_does_not_count_as_a_failure_and_does_not_forget_any() {
    let cluster = Cluster::default();
    cluster.hold::<ReplicaSet>();
    cluster.put(named::<Deployment>("web"));
    let (running, calls) = run(&cluster, |cluster, log, number| {
        if number == 1 {
            log.saved(&cluster.put(owned::<ReplicaSet>("web-1", "Deployment", "web")));
        }
        if number < 4 {
            return Err(Error::new("not yet"));
        }
        Ok(Action::done())
    });
    sleep(Duration::from_secs(1)).await;
    assert_eq!(calls.times(), [0], "it failed, and its retry waits");
    cluster.release::<ReplicaSet>();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        calls.times(),
        [0, 1_000, 1_010, 1_030],
        "10 ms after the second failure"
    );
    assert_eq!(running.stop().await.retries, 3);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_writes_to_be_seen() {
    let cluster = Cluster::default();
    cluster.hold::<ReplicaSet>();
    cluster.put(named::<Deployment>("web"));
    let (running, calls) = run(&cluster, create);
    settle().await;
    cluster.put(named::<Deployment>("web"));
    settle().await;
    let begin = Instant::now();
    let stats = running.stop().await;
    assert!(begin.elapsed() < Duration::from_secs(1));
    assert_eq!((calls.times().len(), stats.own_writes_waits), (1, 1));
}
