//! Handles of controllers, several factories, and signals.
#![expect(clippy::disallowed_methods, reason = "what a test spawns, it awaits")]

use crate::cluster::{Cluster, named};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Controller, Error, Manager};
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

type Seen = Arc<Mutex<Vec<String>>>;

fn note(seen: &Seen) -> impl Fn(ObjectName) -> std::future::Ready<Result<Action, Error>> + use<> {
    let seen = Arc::clone(seen);
    move |key: ObjectName| {
        seen.lock().push(key.name.to_string());
        std::future::ready(Ok(Action::done()))
    }
}

#[tokio::test(start_paused = true)]
async fn keys_from_elsewhere_are_reconciled_and_those_before_the_run_are_kept() {
    let factory = SharedInformerFactory::new(Cluster::default());
    let mut controller = Controller::new("pods", &factory.informer::<Pod>());
    let (handle, seen) = (controller.handle(), Seen::default());
    for _ in 0..3 {
        handle.enqueue(ObjectName::new("shop", "early"));
    }
    let token = CancellationToken::new();
    let manager = Manager::new(factory).with(controller, note(&seen));
    let running = tokio::spawn(manager.run(token.clone()));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(*seen.lock(), ["early"]);
    handle.enqueue(ObjectName::new("shop", "now"));
    handle.enqueue_after(ObjectName::new("shop", "later"), Duration::from_secs(10));
    sleep(Duration::from_secs(5)).await;
    assert_eq!(*seen.lock(), ["early", "now"]);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(*seen.lock(), ["early", "now", "later"]);
    token.cancel();
    running.await.expect("no panic").expect("no error");
    handle.enqueue(ObjectName::new("shop", "too late"));
}

#[tokio::test(start_paused = true)]
async fn a_paused_controller_takes_no_keys_and_loses_none() {
    let cluster = Cluster::default();
    cluster.put(named::<Pod>("first"));
    let factory = SharedInformerFactory::new(cluster.clone());
    let pods = factory.informer::<Pod>();
    let (mut controller, seen) = (Controller::new("pods", &pods), Seen::default());
    let handle = controller.handle();
    handle.pause();
    let token = CancellationToken::new();
    let manager = Manager::new(factory).with(controller, note(&seen));
    let running = tokio::spawn(manager.run(token.clone()));
    sleep(Duration::from_secs(60)).await;
    cluster.put(named::<Pod>("second"));
    sleep(Duration::from_secs(60)).await;
    assert!(seen.lock().is_empty() && handle.is_paused());
    assert_eq!(pods.lister_unsynced().len(), 2, "its cache is current");
    handle.resume();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(seen.lock().len(), 2);
    // The worker that waits takes the key that comes first after the pause, not during it.
    handle.pause();
    cluster.put(named::<Pod>("third"));
    sleep(Duration::from_secs(1)).await;
    let during = seen.lock().len();
    assert!(during <= 3, "at most the worker that had asked already");
    token.cancel();
    running.await.expect("no panic").expect("no error");
}

#[tokio::test(start_paused = true)]
async fn informers_of_several_clusters_run_and_stop_with_one_manager() {
    let seen = Seen::default();
    let mut manager = Manager::new(SharedInformerFactory::new(Cluster::default()));
    for name in ["here", "there"] {
        let cluster = Cluster::default();
        cluster.put(named::<Pod>(name));
        let factory = SharedInformerFactory::new(cluster);
        let controller = Controller::new(name, &factory.informer::<Pod>());
        manager = manager.with_factory(factory).with(controller, note(&seen));
    }
    let token = CancellationToken::new();
    let running = tokio::spawn(manager.run(token.clone()));
    sleep(Duration::from_secs(1)).await;
    token.cancel();
    let summary = running.await.expect("no panic").expect("no error");
    assert_eq!(summary.informers.len(), 2);
    seen.lock().sort();
    assert_eq!(*seen.lock(), ["here", "there"]);
}

#[cfg(all(unix, feature = "signal"))]
#[tokio::test]
async fn a_signal_cancels_the_token() {
    let token = kubist_controller::shutdown_on_signal().expect("handlers");
    let pid = std::process::id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status();
    assert!(killed.expect("kill runs").success());
    let cancelled = tokio::time::timeout(Duration::from_secs(10), token.cancelled());
    cancelled.await.expect("it is cancelled");
}
