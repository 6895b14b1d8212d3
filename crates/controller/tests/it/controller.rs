//! What causes a reconcile, and what follows one.

use crate::cluster::{Cluster, named, owned};
use crate::running::{Calls, deployments, recorder, settle, start};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Config, Controller, Error, EventSource, Predicate};
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn changes_of_objects_and_of_what_they_own_lead_to_their_names() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (factory, controller) = deployments(&cluster);
    let controller = controller
        .owns(&factory.informer::<ReplicaSet>())
        .watches(&factory.informer::<Pod>(), |pod: &Pod| {
            vec![ObjectName::new("shop", format!("of-{}", pod.metadata.name))]
        });
    let calls = Calls::default();
    let running = start(controller, &factory, recorder(&calls));
    settle().await;
    assert_eq!(calls.take(), ["web"]);

    cluster.put(owned::<ReplicaSet>("web-1", "Deployment", "web"));
    settle().await;
    assert_eq!(calls.take(), ["web"]);
    cluster.put(owned::<ReplicaSet>("web-1", "Deployment", "db"));
    settle().await;
    let mut both = calls.take();
    both.sort();
    assert_eq!(both, ["db", "web"], "the former owner is enqueued too");
    cluster.put(owned::<ReplicaSet>("other", "StatefulSet", "db"));
    cluster.put(named::<ReplicaSet>("orphan"));
    settle().await;
    assert!(calls.take().is_empty(), "owners of another kind, or none");
    cluster.put(named::<Pod>("web-1-a"));
    cluster.delete::<Deployment>("shop", "web");
    settle().await;
    let mut both = calls.take();
    both.sort();
    assert_eq!(both, ["of-web-1-a", "web"]);

    let stats = running.stop().await;
    assert_eq!((stats.events, stats.reconciles, stats.errors), (7, 6, 0));
    assert_eq!(stats.latency.count(), 5, "the first list does not count");
}

/// Contract CTRL-3.
#[tokio::test(start_paused = true)]
async fn failures_come_back_ever_later_and_success_forgets_them() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (factory, controller) = deployments(&cluster);
    let (calls, begin) = (Calls::default(), Instant::now());
    let record = calls.clone();
    let reconcile = move |key: ObjectName| {
        record.push(&key, begin);
        let number = record.0.lock().len();
        async move {
            match number {
                1..=3 => Err(Error::new("not yet")),
                4 => panic!("on purpose"),
                5 => Err(Error::after(Duration::from_secs(9), "the server is busy")),
                6 => Err(Error::terminal("never")),
                _ => Ok(Action::done()),
            }
        }
    };
    let running = start(controller, &factory, reconcile);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(
        calls.times(),
        [0, 5, 15, 35, 75, 9075],
        "5 ms doubling, then what was asked"
    );
    cluster.put(named::<Deployment>("web"));
    settle().await;
    assert_eq!(
        calls.times().len(),
        7,
        "after a terminal error a change brings it back"
    );
    let stats = running.stop().await;
    let counts = (stats.reconciles, stats.errors, stats.panics, stats.retries);
    assert_eq!((counts, stats.terminal_errors), ((7, 6, 1, 5), 1));
    assert_eq!(stats.active, 0);
}

#[tokio::test(start_paused = true)]
async fn a_reconciler_asks_to_be_called_again_and_changes_come_earlier() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (factory, controller) = deployments(&cluster);
    let (calls, begin) = (Calls::default(), Instant::now());
    let record = calls.clone();
    let reconcile = move |key: ObjectName| {
        record.push(&key, begin);
        async { Ok::<_, Error>(Action::requeue_after(Duration::from_secs(10))) }
    };
    let running = start(controller, &factory, reconcile);
    sleep(Duration::from_secs(15)).await;
    cluster.put(named::<Deployment>("web"));
    sleep(Duration::from_millis(1)).await;
    assert_eq!(calls.times(), [0, 10_000, 15_000]);
    assert_eq!(running.stop().await.requeues, 3);
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_takes_too_long_is_dropped_and_comes_back() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (factory, controller) = deployments(&cluster);
    let controller = controller.config(Config {
        reconcile_timeout: Some(Duration::from_secs(1)),
        ..Config::default()
    });
    let (calls, begin) = (Calls::default(), Instant::now());
    let record = calls.clone();
    let reconcile = move |key: ObjectName| {
        record.push(&key, begin);
        async {
            sleep(Duration::from_secs(5)).await;
            Ok::<_, Error>(Action::done())
        }
    };
    let running = start(controller, &factory, reconcile);
    sleep(Duration::from_millis(2_100)).await;
    assert_eq!(calls.times(), [0, 1_005, 2_015]);
    let stats = running.stop().await;
    assert!(stats.timeouts >= 2 && stats.errors == stats.timeouts);
}

/// Contract CTRL-2.
#[tokio::test(start_paused = true)]
async fn as_many_names_run_at_once_as_there_are_workers_and_none_twice() {
    let cluster = Cluster::default();
    for name in ["a", "b", "c", "d", "e"] {
        cluster.put(named::<Deployment>(name));
    }
    let (factory, controller) = deployments(&cluster);
    let mut controller = controller.workers(3);
    let monitor = controller.monitor();
    let most = Arc::new(AtomicUsize::new(0));
    let names: Arc<Mutex<Vec<ObjectName>>> = Arc::default();
    let (peak, now) = (Arc::clone(&most), Arc::clone(&names));
    let reconcile = move |key: ObjectName| {
        let (peak, now) = (Arc::clone(&peak), Arc::clone(&now));
        async move {
            assert!(!now.lock().contains(&key), "one worker per name");
            now.lock().push(key.clone());
            peak.fetch_max(now.lock().len(), Ordering::SeqCst);
            sleep(Duration::from_secs(1)).await;
            now.lock().retain(|it| *it != key);
            Ok::<_, Error>(Action::done())
        }
    };
    let running = start(controller, &factory, reconcile);
    sleep(Duration::from_millis(500)).await;
    assert_eq!(monitor.stats().active, 3);
    cluster.put(named::<Deployment>("a")); // runs again, after this run
    sleep(Duration::from_secs(5)).await;
    let stats = running.stop().await;
    assert_eq!(
        (most.load(Ordering::SeqCst), stats.reconciles, stats.panics),
        (3, 6, 0)
    );
    let waited = stats.latency.max();
    assert!(waited >= Duration::from_millis(499) && waited <= Duration::from_millis(1_501));
}

/// Contract CTRL-4.
#[tokio::test(start_paused = true)]
async fn changes_go_before_the_first_list_and_resyncs() {
    let cluster = Cluster::default();
    for number in 0..20 {
        cluster.put(named::<Deployment>(&format!("old-{number}")));
    }
    let factory = SharedInformerFactory::new(cluster.clone());
    let informer = factory.informer::<Deployment>();
    let trigger = EventSource::for_object(&informer).resync(Duration::from_secs(60));
    let controller = Controller::with_source::<Deployment, _>("deployment", trigger);
    let (calls, begin) = (Calls::default(), Instant::now());
    let record = calls.clone();
    let reconcile = move |key: ObjectName| {
        record.push(&key, begin);
        async {
            sleep(Duration::from_millis(100)).await;
            Ok::<_, Error>(Action::done())
        }
    };
    let running = start(controller, &factory, reconcile);
    sleep(Duration::from_millis(150)).await;
    cluster.put(named::<Deployment>("new"));
    sleep(Duration::from_secs(10)).await;
    assert_eq!(calls.take().iter().position(|it| it == "new"), Some(2));
    sleep(Duration::from_secs(60)).await;
    assert_eq!(calls.take().len(), 21, "the resync brings all of them");
    drop(running.stop().await);
}

#[tokio::test(start_paused = true)]
async fn predicates_keep_changes_out_but_not_the_first_list() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let factory = SharedInformerFactory::new(cluster.clone());
    let trigger = EventSource::for_object(&factory.informer::<Deployment>())
        .with_predicate(Predicate::generation_changed())
        .with_predicate(Predicate::new(|change| {
            change.object_name().name != "noise"
        }));
    let controller = Controller::with_source::<Deployment, _>("deployment", trigger);
    let calls = Calls::default();
    let running = start(controller, &factory, recorder(&calls));
    settle().await;
    let mut web: Deployment = named("web");
    web.status.replicas = 3;
    cluster.put(web.clone());
    cluster.put(named::<Deployment>("noise"));
    settle().await;
    assert_eq!(calls.take(), ["web"]);
    web.metadata.generation = 2;
    cluster.put(web);
    settle().await;
    assert_eq!(calls.take(), ["web"]);
    assert_eq!(running.stop().await.events, 4);
}

#[tokio::test(start_paused = true)]
async fn settings_hold_in_whichever_order_they_are_given() {
    let cluster = Cluster::default();
    for name in ["a", "b", "c"] {
        cluster.put(named::<Deployment>(name));
    }
    let (factory, controller) = deployments(&cluster);
    let mut controller = controller.workers(3);
    let monitor = controller.monitor();
    let limiter = kubist_workqueue::rate_limiter::Exponential {
        base: Duration::from_secs(7),
        max: Duration::from_secs(7),
    };
    let queue = kubist_workqueue::Config {
        limiter: Box::new(limiter),
        ..kubist_workqueue::Config::default()
    };
    let controller = controller.config(Config {
        queue,
        ..Config::default()
    });
    let (calls, begin) = (Calls::default(), Instant::now());
    let record = calls.clone();
    let reconcile = move |key: ObjectName| {
        record.push(&key, begin);
        async {
            sleep(Duration::from_secs(1)).await;
            Err::<Action, _>(Error::new("not yet"))
        }
    };
    let running = start(controller, &factory, reconcile);
    sleep(Duration::from_millis(500)).await;
    assert_eq!(monitor.stats().active, 3, "three workers");
    sleep(Duration::from_secs(9)).await;
    assert_eq!(
        calls.times(),
        [0, 0, 0, 8_000, 8_000, 8_000],
        "its own limiter"
    );
    running.stop().await;
}
