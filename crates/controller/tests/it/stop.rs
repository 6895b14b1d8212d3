//! How a controller starts and stops.

use crate::cluster::{Cluster, named};
use crate::running::{Calls, deployments, recorder, settle, start};
use kubist_api::apps::v1::{Deployment, ReplicaSet};
use kubist_controller::{Action, Config, Error, RunError};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Contract CTRL-1.
#[tokio::test(start_paused = true)]
async fn nothing_runs_before_every_informer_is_synced() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    cluster.set_down::<ReplicaSet>(true);
    let (factory, controller) = deployments(&cluster);
    let controller = controller.owns(&factory.informer::<ReplicaSet>());
    let calls = Calls::default();
    let running = start(controller, &factory, recorder(&calls));
    sleep(Duration::from_secs(60)).await;
    assert!(calls.take().is_empty());
    let error = running
        .run
        .await
        .expect("no panic")
        .expect_err("not synced");
    assert_eq!(
        error,
        RunError::SyncTimeout {
            controller: "deployment".into(),
            informer: "ReplicaSet".into(),
            waited: Duration::from_secs(2 * 60),
            problem: Some("the server has sent nothing for too long; retrying".into()),
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_start_is_an_error_that_says_so() {
    let cluster = Cluster::default();
    let (factory, controller) = deployments(&cluster);
    let calls = Calls::default();
    let begin = Instant::now();
    let token = CancellationToken::new();
    let error = controller.run(recorder(&calls), token).await;
    let error = error.expect_err("the informer is not running");
    assert!(matches!(error, RunError::InformerNotStarted { .. }));
    let text = error.to_string();
    assert!(
        text.contains("Deployment") && text.contains("SharedInformerFactory::start"),
        "{text}"
    );
    assert!(begin.elapsed() < Duration::from_secs(20));
    drop(factory);
}

/// Contract CTRL-5.
#[tokio::test(start_paused = true)]
async fn the_stop_waits_for_running_reconciles_and_begins_no_more() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("a"));
    cluster.put(named::<Deployment>("b"));
    let (factory, mut controller) = deployments(&cluster);
    let monitor = controller.monitor();
    let finished = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&finished);
    let reconcile = move |_| {
        let count = Arc::clone(&count);
        async move {
            sleep(Duration::from_secs(20)).await;
            count.fetch_add(1, Ordering::SeqCst);
            Ok::<_, Error>(Action::done())
        }
    };
    let running = start(controller, &factory, reconcile);
    settle().await;
    let stats = running.stop().await;
    assert_eq!(finished.load(Ordering::SeqCst), 1);
    assert_eq!((stats.reconciles, stats.abandoned, stats.active), (1, 0, 0));
    cluster.put(named::<Deployment>("c"));
    settle().await;
    assert_eq!(monitor.stats().events, 2, "its handler is gone");
}

/// Contract CTRL-5.
#[tokio::test(start_paused = true)]
async fn the_stop_has_a_deadline() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (factory, controller) = deployments(&cluster);
    let controller = controller.config(Config {
        stop_timeout: Duration::from_secs(3),
        ..Config::default()
    });
    let reconcile = |_| std::future::pending::<Result<Action, Error>>();
    let running = start(controller, &factory, reconcile);
    settle().await;
    let begin = Instant::now();
    let stats = running.stop().await;
    assert_eq!(begin.elapsed().as_secs(), 3);
    assert_eq!((stats.reconciles, stats.abandoned, stats.active), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_controller_ends_when_its_informer_does() {
    let cluster = Cluster::default();
    let (factory, controller) = deployments(&cluster);
    let calls = Calls::default();
    let running = start(controller, &factory, recorder(&calls));
    settle().await;
    factory.shutdown().await;
    let error = running
        .run
        .await
        .expect("no panic")
        .expect_err("no informer");
    let (controller, informer) = ("deployment".into(), "Deployment".into());
    assert_eq!(
        error,
        RunError::InformerStopped {
            controller,
            informer,
            problem: None,
        }
    );
}

/// Contract CTRL-5.
#[tokio::test(start_paused = true)]
async fn dropping_the_run_drops_the_reconcile() {
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (factory, mut controller) = deployments(&cluster);
    let monitor = controller.monitor();
    let begun = Arc::new(Notify::new());
    let tell = Arc::clone(&begun);
    let reconcile = move |_| {
        tell.notify_one();
        std::future::pending::<Result<Action, Error>>()
    };
    factory.start();
    let run = controller.run(reconcile, CancellationToken::new());
    let until_begun = async {
        tokio::select! {
            result = run => drop(result),
            () = begun.notified() => {}
        }
    };
    timeout(Duration::from_secs(1), until_begun)
        .await
        .expect("it began");
    settle().await;
    assert_eq!((monitor.stats().active, monitor.stats().abandoned), (0, 1));
}
