//! Keys that are not names of objects of one kind.

use crate::cluster::{Cluster, named};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_apimachinery::ObjectName;
use kubist_controller::{
    Action, ClusterKey, Controller, Error, EventSource, Manager, ManagerError, RunError,
};
use kubist_informers::SharedInformerFactory;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Runs a manager for a second.
async fn run(manager: Manager<Cluster>) -> Result<(), ManagerError> {
    let token = CancellationToken::new();
    let stop = token.clone();
    let (ended, ()) = tokio::join!(manager.run(token), async move {
        sleep(Duration::from_secs(1)).await;
        stop.cancel();
    });
    ended.map(drop)
}

#[tokio::test(start_paused = true)]
async fn one_controller_reconciles_objects_of_several_clusters() {
    let home = Cluster::default();
    let mut manager = Manager::new(SharedInformerFactory::new(home));
    let mut controller = Controller::keyed("deployment");
    let handle = controller.handle();
    for name in ["east", "west"] {
        let cluster = Cluster::default();
        cluster.put(named::<Deployment>("web"));
        cluster.put(named::<Deployment>(name));
        let factory = SharedInformerFactory::new(cluster);
        let source = EventSource::for_object(&factory.informer::<Deployment>());
        controller = controller.source(source.keyed(move |it| ClusterKey::new(name, it)));
        manager = manager.with_factory(factory);
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let reconcile = move |key: ClusterKey| {
        log.lock().push(key.to_string());
        async { Ok::<_, Error>(Action::done()) }
    };
    handle.enqueue(ClusterKey::new("north", ObjectName::new("shop", "late")));
    let manager = manager.with(controller, reconcile);
    let monitor = manager.monitors().remove(0);
    run(manager).await.expect("no error");
    let mut seen = seen.lock().clone();
    seen.sort();
    let names = ["east/shop/east", "east/shop/web", "north/shop/late"];
    let names = names.into_iter().chain(["west/shop/web", "west/shop/west"]);
    assert_eq!(seen, names.collect::<Vec<_>>());
    assert_eq!(monitor.stats().reconciles, 5);
}

#[tokio::test(start_paused = true)]
async fn a_key_may_be_any_type() {
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum Task {
        Deploy(ObjectName),
        Count,
    }
    impl fmt::Display for Task {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Debug::fmt(self, f)
        }
    }
    let cluster = Cluster::default();
    for name in ["a", "b"] {
        cluster.put(named::<Deployment>(name));
        cluster.put(named::<ReplicaSet>(name));
    }
    let factory = SharedInformerFactory::new(cluster.clone());
    let deployments = EventSource::for_object(&factory.informer::<Deployment>());
    let controller = Controller::keyed("tasks")
        .source(deployments.keyed(Task::Deploy))
        .watches(&factory.informer::<ReplicaSet>(), |_| vec![Task::Count]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let reconcile = move |key: Task| {
        log.lock().push(key);
        async { Ok::<_, Error>(Action::done()) }
    };
    run(Manager::new(factory).with(controller, reconcile))
        .await
        .expect("no error");
    let seen = seen.lock();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(
        seen.contains(&Task::Count) && seen.contains(&Task::Deploy(ObjectName::new("shop", "a")))
    );
}

#[tokio::test(start_paused = true)]
async fn a_controller_without_a_kind_cannot_own_and_says_so() {
    let factory = SharedInformerFactory::new(Cluster::default());
    let controller = Controller::keyed("tasks").owns(&factory.informer::<ReplicaSet>());
    let reconcile = |_: ObjectName| async { Ok::<_, Error>(Action::done()) };
    let error = run(Manager::new(factory).with(controller, reconcile)).await;
    let Err(ManagerError::Controller(error)) = error else {
        panic!("it ran");
    };
    assert_eq!(
        error,
        RunError::NoKind {
            controller: "tasks".into()
        }
    );
    assert!(
        error
            .to_string()
            .contains("use watches or a source in place of owns")
    );
}
