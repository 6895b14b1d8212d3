//! No failure is silent: what is logged by default, and which errors waits return.

use crate::cluster::{Cluster, pod};
use crate::handlers::{factory, started};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ObjectName;
use kubist_cache::{FetchError, ResourceEvent, Selection, Source as _, Written};
use kubist_informers::{
    HandlerConfig, InformerConfig, InformerState, LOGGED_EVERY, NOT_STARTED_AFTER, Problem,
    QueueKind, SharedInformer, SyncError,
};
use parking_lot::Mutex;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Warnings, and the names of spans.
#[derive(Clone, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{field}={value:?} ").expect("a String takes it");
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = Line(format!("span {} ", span.metadata().name()));
        span.record(&mut line);
        self.lines.lock().push(line.0);
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.lines.lock().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn unauthorized() -> FetchError {
    FetchError::Unauthorized {
        message: "who are you".into(),
    }
}

/// Runs an informer whose watch fails, so that `tracing` knows the places that log. The first use
/// of a place, in another test, can miss a subscriber that is installed at the same time.
async fn register_callsites() {
    let cluster = Cluster::with(&["a"]);
    let config = InformerConfig {
        name: "Pod".into(),
        ..InformerConfig::default()
    };
    let pods = SharedInformer::new(cluster.lister_watcher::<Pod>(&Selection::all()), config);
    let token = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let (informer, child) = (pods.clone(), token.clone());
    tasks.spawn(async move { informer.run(child).await });
    pods.synced().await.expect("it runs");
    cluster.cut(Some(unauthorized()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    token.cancel();
    tasks.join_all().await;
}

/// Contract INF-21.
#[tokio::test(start_paused = true)]
async fn problems_are_logged_in_a_line_that_says_why_and_what_to_do_and_not_too_often() {
    register_callsites().await;
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let cluster = Cluster::with(&["a"]);
    let source = cluster.lister_watcher::<Pod>(&Selection::all());
    let config = InformerConfig {
        name: "Pod".into(),
        ..InformerConfig::default()
    };
    let pods = SharedInformer::new(source, config);
    let token = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let (informer, child) = (pods.clone(), token.clone());
    tasks.spawn(async move { informer.run(child).await });
    let lister = pods.synced().await.expect("it runs");
    for _ in 0..30 {
        cluster.cut(Some(unauthorized()));
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    let lines = log.lines.lock().clone();
    let warnings: Vec<_> = lines.iter().filter(|it| it.starts_with("WARN")).collect();
    assert!(!warnings.is_empty(), "{lines:?}");
    let most = Duration::from_secs(60).as_secs() / LOGGED_EVERY.as_secs() + 1;
    assert!(warnings.len() as u64 <= most, "{warnings:?}");
    let said = ["informer=Pod", "who are you", "check the credentials"];
    assert!(
        said.iter().all(|it| warnings[0].contains(it)) && !warnings[0].contains('\n'),
        "{warnings:?}"
    );
    assert!(
        warnings.iter().any(|it| it.contains("left_out")),
        "{warnings:?}"
    );
    let has_span = lines
        .iter()
        .any(|it| it.starts_with("span informer informer=Pod"));
    assert!(has_span, "{lines:?}");

    let problem = pods.last_problem().expect("the watch fails");
    assert!(problem.contains("who are you"), "{problem}");
    let never = Written::deleted(ObjectName::new("shop", "a"), "");
    let late = lister.wait_for(&never, tokio::time::sleep(Duration::from_secs(1)));
    let late = late.await.expect_err("it is there").to_string();
    assert!(late.contains("who are you"), "{late}");
    cluster.put(pod("b"));
    tokio::time::sleep(Duration::from_secs(2 * 60)).await;
    assert_eq!(pods.last_problem(), None, "it works again");
    token.cancel();
    tasks.join_all().await;
}

/// Contract INF-21.
#[tokio::test(start_paused = true)]
async fn a_forgotten_start_is_an_error_and_not_a_wait_for_ever() {
    let factory = factory(&Cluster::with(&["a"]), QueueKind::RealFifo);
    let pods = factory.informer::<Pod>();
    assert_eq!(pods.synced().await.err(), Some(SyncError::NotStarted));
    assert_eq!(pods.settled().await, InformerState::Created);
    assert_eq!(
        factory.sync_results().await[0].state,
        InformerState::Created
    );
    let error = factory
        .wait_for_sync()
        .await
        .expect_err("it is not running");
    let text = error.to_string();
    assert!(
        text.contains("Pod") && text.contains("SharedInformerFactory::start"),
        "{text}"
    );
    // A little later is early enough.
    let wait = pods.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { wait.synced().await.map(|it| it.len()) });
    tokio::time::sleep(Duration::from_secs(5)).await;
    factory.start();
    assert_eq!(
        tasks.join_next().await.expect("a task").expect("no panic"),
        Ok(1)
    );
    factory.shutdown().await;
    assert_eq!(
        pods.synced().await.err(),
        Some(SyncError::Stopped { problem: None })
    );
}

/// Contract INF-21.
#[tokio::test(start_paused = true)]
async fn a_forgotten_start_is_logged_if_there_are_only_handlers_and_subscriptions() {
    for subscribes in [true, false] {
        let (log, _second) = (Log::default(), Dispatch::new(NoSubscriber::default()));
        let _guard = tracing::subscriber::set_default(log.clone());
        let factory = factory(&Cluster::with(&["a"]), QueueKind::RealFifo);
        let pods = factory.informer::<Pod>();
        if subscribes {
            let mut changes = pods.subscribe(HandlerConfig::default());
            let nothing = tokio::time::timeout(Duration::from_secs(60), changes.next());
            assert!(nothing.await.is_err());
        } else {
            pods.add_handler(|_: ResourceEvent<Pod>| {});
            pods.add_handler(|_: ResourceEvent<Pod>| {});
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        let lines = log.lines.lock().clone();
        let warnings: Vec<_> = lines.iter().filter(|it| it.starts_with("WARN")).collect();
        assert_eq!(warnings.len(), 1, "once: {warnings:?}");
        assert!(
            warnings[0].contains("SharedInformerFactory::start"),
            "{warnings:?}"
        );
    }
}

/// Contract INF-21.
#[tokio::test(start_paused = true)]
async fn a_start_that_comes_in_time_or_an_informer_that_is_dropped_is_no_problem() {
    let problems = Arc::new(AtomicU64::new(0));
    for starts in [true, false] {
        let cluster = Cluster::with(&["a"]);
        let count = Arc::clone(&problems);
        let config = InformerConfig {
            on_problem: Some(Arc::new(move |_: &Problem| {
                count.fetch_add(1, Ordering::Relaxed);
            })),
            ..InformerConfig::default()
        };
        let pods = SharedInformer::new(cluster.lister_watcher::<Pod>(&Selection::all()), config);
        pods.add_handler(|_: ResourceEvent<Pod>| {});
        tokio::time::sleep(NOT_STARTED_AFTER / 2).await;
        let mut tasks = JoinSet::new();
        if starts {
            tasks.spawn(async move { pods.run(CancellationToken::new()).await });
        } else {
            drop(pods);
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    assert_eq!(problems.load(Ordering::Relaxed), 0);
}

/// Contract INF-21.
#[tokio::test(start_paused = true)]
async fn results_of_a_sync_carry_the_problem() {
    let cluster = Cluster::with(&["a"]);
    cluster.serve(false);
    let (factory, _pods) = started(&cluster, QueueKind::RealFifo);
    let results = factory.sync_results().await;
    assert_eq!(results[0].state, InformerState::NotServed);
    let problem = results[0].problem.clone().expect("it is not served");
    assert!(problem.contains("install the definition"), "{problem}");
    factory.shutdown().await;
}
