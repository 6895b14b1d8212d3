//! Managers of which one works.

use crate::cluster::{Cluster, named};
use crate::memory_lock::MemoryLock;
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Controller, Error, Manager, ManagerError};
use kubist_informers::SharedInformerFactory;
use kubist_leader_election::{
    InvalidConfig, LeaderElectionConfig, LeaderElectionError, LeaderWatch,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);

/// What happened, with the seconds since the start.
type Story = Arc<Mutex<Vec<(u64, String)>>>;

fn config(lock: &MemoryLock, identity: &str) -> LeaderElectionConfig {
    LeaderElectionConfig {
        identity: identity.into(),
        seed: Some(7),
        ..LeaderElectionConfig::new(lock.clone())
    }
}

/// A manager whose reconciles take `takes`, with the story of their beginnings and ends.
fn manager(
    cluster: &Cluster,
    lock: &MemoryLock,
    name: &str,
    takes: Duration,
) -> (Manager<Cluster>, Story) {
    let factory = SharedInformerFactory::new(cluster.clone());
    let deployments = factory.informer::<Deployment>();
    let lister = deployments.lister_unsynced();
    let (story, begin) = (Story::default(), Instant::now());
    let told = Arc::clone(&story);
    let reconcile = move |key: ObjectName| {
        let (told, is_cached) = (Arc::clone(&told), lister.get(&key).is_some());
        let tell = move |what: &str| {
            told.lock()
                .push((begin.elapsed().as_secs(), what.to_owned()));
        };
        async move {
            tell(if is_cached {
                "begins"
            } else {
                "begins without a cache"
            });
            sleep(takes).await;
            tell("ends");
            Ok::<_, Error>(Action::done())
        }
    };
    let manager =
        Manager::new(factory).with(Controller::new("deployment", &deployments), reconcile);
    let manager = manager.with_leader_election(config(lock, name));
    (manager.expect("the durations are the default ones"), story)
}

fn watch(manager: &Manager<Cluster>) -> LeaderWatch {
    manager
        .leader_watch()
        .expect("it takes part in an election")
}

fn told(story: &Story) -> Vec<(u64, String)> {
    story.lock().clone()
}

/// Contract LEAD-7.
#[tokio::test(start_paused = true)]
async fn only_the_leader_reconciles_and_the_next_one_has_its_cache_ready() {
    let (cluster, lock) = (Cluster::default(), MemoryLock::default());
    cluster.put(named::<Deployment>("web"));
    let (one, first) = manager(&cluster, &lock, "one", SECOND);
    let (two, second) = manager(&cluster, &lock, "two", SECOND);
    let cache = two.factory().informer::<Deployment>().lister_unsynced();
    let (stop_one, stop_two) = (CancellationToken::new(), CancellationToken::new());
    let script = async {
        sleep(10 * SECOND).await;
        assert_eq!(told(&first), [(0, "begins".into()), (1, "ends".into())]);
        assert_eq!(told(&second), []);
        assert_eq!(cache.list().len(), 1, "it is filled on standby");
        stop_one.cancel();
        sleep(10 * SECOND).await;
        stop_two.cancel();
    };
    let (one, two, ()) = tokio::join!(
        one.run(stop_one.clone()),
        async {
            sleep(SECOND / 2).await;
            two.run(stop_two.clone()).await
        },
        script
    );
    one.expect("it was stopped");
    two.expect("it was stopped");
    let second = told(&second);
    assert!((10..15).contains(&second[0].0), "{second:?}");
    assert_eq!(second[0].1, "begins");
}

/// Contract LEAD-7.
#[tokio::test(start_paused = true)]
async fn the_lease_is_given_up_after_the_last_reconcile() {
    let (cluster, lock) = (Cluster::default(), MemoryLock::default());
    cluster.put(named::<Deployment>("web"));
    let (manager, story) = manager(&cluster, &lock, "one", 25 * SECOND);
    let token = CancellationToken::new();
    let script = async {
        sleep(2 * SECOND).await;
        token.cancel();
        sleep(22 * SECOND).await;
        assert_eq!(lock.holder().as_deref(), Some("one"), "a reconcile runs");
    };
    let (ended, ()) = tokio::join!(manager.run(token.clone()), script);
    ended.expect("it was stopped");
    assert_eq!(told(&story), [(0, "begins".into()), (25, "ends".into())]);
    assert_eq!(lock.holder(), None);
}

/// Contract LEAD-7.
#[tokio::test(start_paused = true)]
async fn a_lost_term_ends_the_manager_after_a_grace_in_which_nobody_else_leads() {
    for (takes, ends) in [(15, true), (60, false)] {
        let (cluster, lock) = (Cluster::default(), MemoryLock::default());
        cluster.put(named::<Deployment>("web"));
        let (manager, story) = manager(&cluster, &lock, "one", takes * SECOND);
        let manager = manager.with_task("cleaner", |token| async move {
            token.cancelled().await;
            Ok(())
        });
        let leader = watch(&manager);
        let begin = Instant::now();
        let script = async {
            sleep(3 * SECOND).await; // it was renewed at 2 s
            lock.state().is_out_of_reach = true;
            cluster.put(named::<Deployment>("later"));
            sleep(8 * SECOND).await;
            assert!(leader.is_leader());
            sleep(2 * SECOND).await;
            assert!(!leader.is_leader());
        };
        let (ended, ()) = tokio::join!(manager.run(CancellationToken::new()), script);
        let error = ended.expect_err("the term is lost");
        let ManagerError::LeaderElection { source } = &error else {
            panic!("{error}");
        };
        let cause = source.downcast_ref::<LeaderElectionError>();
        assert!(matches!(cause, Some(LeaderElectionError::Lost { .. })));
        // The term ended at 12 s; another may lead from 17 s on.
        assert_eq!(begin.elapsed().as_secs(), if ends { 15 } else { 17 });
        let has_ended = told(&story).iter().any(|(_, what)| what == "ends");
        assert_eq!(has_ended, ends);
        assert_eq!(told(&story)[0], (0, "begins".into()));
        let begun = told(&story)
            .iter()
            .filter(|(_, what)| what == "begins")
            .count();
        assert_eq!(begun, 1, "none begins after the loss");
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_and_controllers_that_need_no_leader_run_at_once() {
    let (cluster, lock) = (Cluster::default(), MemoryLock::default());
    lock.state().is_out_of_reach = true; // nobody ever leads
    cluster.put(named::<Deployment>("web"));
    cluster.put(named::<ReplicaSet>("web-1"));
    let (manager, story) = manager(&cluster, &lock, "one", SECOND);
    let replica_sets = manager.factory().informer::<ReplicaSet>();
    let began = Arc::new(Mutex::new(0));
    let count = Arc::clone(&began);
    let manager = manager
        .with_task("metrics", move |token| async move {
            *count.lock() += 1;
            token.cancelled().await;
            Ok(())
        })
        .with(
            Controller::new("cache", &replica_sets).need_leader_election(false),
            async |_: ObjectName| Ok::<_, Error>(Action::done()),
        );
    let monitors = manager.monitors();
    let token = CancellationToken::new();
    let script = async {
        sleep(30 * SECOND).await;
        token.cancel();
    };
    let (ended, ()) = tokio::join!(manager.run(token.clone()), script);
    ended.expect("it was stopped");
    assert_eq!(*began.lock(), 1);
    assert_eq!(monitors[1].stats().reconciles, 1);
    assert_eq!(told(&story), []);
}

#[tokio::test(start_paused = true)]
async fn a_failing_task_of_a_leader_gives_the_lease_up() {
    let (cluster, lock) = (Cluster::default(), MemoryLock::default());
    let (manager, _) = manager(&cluster, &lock, "one", SECOND);
    let manager = manager.with_task("cleaner", |_| async {
        sleep(5 * SECOND).await;
        Err(Error::new("out of soap"))
    });
    let error = manager.run(CancellationToken::new()).await;
    assert!(matches!(error, Err(ManagerError::Task { .. })));
    assert_eq!(
        lock.state().requests,
        ["get", "create", "update", "update", "update"]
    );
    assert_eq!(lock.holder(), None);
}

#[test]
fn settings_that_cannot_work_are_refused_before_the_run() {
    let factory = SharedInformerFactory::new(Cluster::default());
    let config = LeaderElectionConfig {
        retry_period: 10 * SECOND,
        ..config(&MemoryLock::default(), "one")
    };
    let error = Manager::new(factory).with_leader_election(config);
    let error = error.expect_err("one failed renewal would end the term");
    assert!(matches!(error, InvalidConfig::RenewDeadlineTooShort { .. }));
}
