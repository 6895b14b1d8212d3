//! Kinds that the server does not serve yet, or no longer.

use crate::cluster::{Cluster, pod};
use crate::handlers::Log;
use crate::informer::settle;
use kubist_api::core::v1::Pod;
use kubist_informers::{
    FactoryConfig, HandlerState, InformerState, Problem, QueueKind, Report, SharedInformerFactory,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

on_both_queues! {
    a_kind_that_is_not_served_is_a_state_and_not_an_error_loop
}

/// Contract INF-15.
async fn a_kind_that_is_not_served_is_a_state_and_not_an_error_loop(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    cluster.serve(false);
    let problems = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&problems);
    let config = FactoryConfig {
        queue,
        on_problem: Some(Arc::new(move |problem: &Problem| {
            seen.lock().push(problem.clone());
        })),
        ..FactoryConfig::default()
    };
    let factory = SharedInformerFactory::with_config(cluster.clone(), config);
    let pods = factory.informer::<Pod>();
    let log = Log::default();
    let registration = pods.add_handler(log.handler());
    factory.start();

    // Waiting for sync soon returns a result for it.
    let results = factory.sync_results().await;
    assert_eq!(results[0].state, InformerState::NotServed);
    assert_eq!(pods.settled().await, InformerState::NotServed);
    tokio::time::sleep(Duration::from_secs(10 * 60)).await;
    assert_eq!(
        (pods.state(), registration.state()),
        (InformerState::NotServed, HandlerState::Syncing)
    );
    let requests = cluster.requests().len();
    assert!((10..=21).contains(&requests), "{requests} in ten minutes");
    assert!(matches!(
        &problems.lock()[..],
        [Problem::Fetch(Report::NotServed(_))]
    ));
    let stats = pods.stats().reflector;
    assert_eq!((stats.failures, stats.not_served), (0, requests as u64));

    // It is listed once it is served.
    cluster.serve(true);
    let lister = pods.synced().await.expect("it runs");
    assert_eq!((pods.state(), lister.len()), (InformerState::Synced, 1));
    registration.synced().await;
    assert_eq!(log.taken(), ["Added(shop/a@1, initial)"]);
    assert_eq!(factory.sync_results().await[0].state, InformerState::Synced);

    // It is no longer served: the store keeps its contents for readers.
    cluster.serve(false);
    settle().await;
    assert_eq!((pods.state(), lister.len()), (InformerState::NotServed, 1));
    assert_eq!(pods.synced().await.expect("it was synced once").len(), 1);
    cluster.delete("a");
    cluster.put(pod("b"));
    cluster.serve(true);
    tokio::time::sleep(Duration::from_secs(2 * 60)).await;
    assert_eq!(pods.state(), InformerState::Synced);
    let mut received = log.taken();
    received.sort();
    assert_eq!(received, ["Added(shop/b@3)", "FinalStateUnknown(shop/a)"]);
    assert_eq!(problems.lock().len(), 2);
    factory.shutdown().await;
    assert_eq!(
        factory.sync_results().await[0].state,
        InformerState::Stopped
    );
}
