//! One informer: sync, indexes, forms, recovery and stop.

use crate::cluster::{Cluster, pod};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{Object as _, ObjectName};
use kubist_cache::{Encoded, FetchError, FieldLookup, Index, Metadata, Selection, Source as _};
use kubist_informers::{
    InformerConfig, InformerState, Problem, Report, RunError, SharedInformer, SyncError,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn informer<F: Ingest>(cluster: &Cluster) -> SharedInformer<F> {
    let source = cluster.lister_watcher(&Selection::all());
    SharedInformer::new(
        source,
        InformerConfig {
            seed: Some(1),
            ..InformerConfig::default()
        },
    )
}

/// Runs the informer in the background until the token is cancelled.
fn run<F: Ingest>(informer: &SharedInformer<F>) -> CancellationToken {
    let token = CancellationToken::new();
    let (informer, child) = (informer.clone(), token.clone());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { informer.run(child).await });
    tasks.detach_all();
    token
}

/// Lets every task become idle.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn one_corrupt_among_a_thousand<F: Ingest + FieldLookup>(node_path: Option<&str>) {
    let cluster = Cluster::default();
    for number in 0..999 {
        cluster.put(pod(&format!("web-{number}")));
    }
    cluster.corrupt("broken");
    let problems = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&problems);
    let config = InformerConfig {
        on_problem: Some(Arc::new(move |problem: &Problem| {
            seen.lock().push(problem.clone());
        })),
        ..InformerConfig::default()
    };
    let informer = SharedInformer::<F>::new(cluster.lister_watcher(&Selection::all()), config);
    let by_namespace = informer.add_index(Index::namespace());
    let by_node = node_path.map(|path| informer.add_index(Index::field(path)));
    let token = run(&informer);
    let lister = informer.synced().await.expect("it runs");
    assert_eq!(lister.len(), 999);
    assert_eq!(lister.by_index(&by_namespace, "shop").len(), 999);
    if let Some(by_node) = &by_node {
        assert_eq!(lister.snapshot().index_values(by_node).len(), 3);
    }
    cluster.corrupt("web-7");
    cluster.put(pod("web-8"));
    settle().await;
    assert_eq!(lister.len(), 999, "what cannot be read stays as it was");
    assert_eq!(lister.resource_version(), "1002", "the watch went on");
    let names: Vec<_> = problems
        .lock()
        .iter()
        .filter_map(|problem| match problem {
            Problem::Fetch(Report::Invalid(item)) => item.name.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(
        names,
        ["broken", "web-7"].map(|name| ObjectName::new("shop", name))
    );
    let stats = informer.stats();
    assert_eq!(
        (stats.reflector.invalid, stats.full_decodes, stats.objects),
        (2, 0, 999)
    );
    token.cancel();
}

#[tokio::test(start_paused = true)]
async fn one_corrupt_object_costs_only_itself_decoded() {
    one_corrupt_among_a_thousand::<Pod>(Some("spec.nodeName")).await;
}

#[tokio::test(start_paused = true)]
async fn one_corrupt_object_costs_only_itself_encoded_and_nothing_is_decoded() {
    one_corrupt_among_a_thousand::<Encoded<Pod>>(Some("spec.nodeName")).await;
}

#[tokio::test(start_paused = true)]
async fn one_corrupt_object_costs_only_itself_as_metadata() {
    one_corrupt_among_a_thousand::<Metadata<Pod>>(None).await;
}

#[tokio::test(start_paused = true)]
async fn an_index_added_while_running_is_usable_at_once_and_built_soon() {
    let cluster = Cluster::with(&["a", "bb", "ccc", "dddd"]);
    let informer = informer::<Pod>(&cluster);
    let token = run(&informer);
    let lister = informer.synced().await.expect("it runs");
    let by_node = informer.add_index(Index::field("spec.nodeName"));
    assert_eq!(lister.by_index(&by_node, "node-1").len(), 2);
    assert!(lister.by_index_named("spec.nodeName", "node-1").is_err());
    settle().await;
    assert_eq!(
        lister
            .by_index_named("spec.nodeName", "node-1")
            .expect("it is built")
            .len(),
        2
    );
    token.cancel();
}

#[tokio::test(start_paused = true)]
async fn a_cut_watch_resumes_and_an_expired_one_lists_again() {
    let cluster = Cluster::with(&["a", "b"]);
    let informer = informer::<Pod>(&cluster);
    let token = run(&informer);
    let lister = informer.synced().await.expect("it runs");
    tokio::time::sleep(Duration::from_secs(60)).await;
    cluster.cut(None);
    settle().await;
    cluster.put(pod("c"));
    settle().await;
    assert_eq!(lister.len(), 3);
    tokio::time::sleep(Duration::from_secs(60)).await;
    cluster.cut(Some(FetchError::Expired {
        message: "compacted".into(),
    }));
    cluster.delete("a");
    cluster.put(pod("b"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(lister.find("shop", "a").is_none());
    assert_eq!(
        lister
            .find("shop", "b")
            .expect("it is there")
            .resource_version(),
        "5"
    );
    assert_eq!(cluster.requests(), ["stream", "watch@2", "stream"]);
    let stats = informer.stats().reflector;
    assert_eq!((stats.lists, stats.unchanged, stats.failures), (2, 1, 1));
    token.cancel();
}

/// Contract INF-13.
#[tokio::test(start_paused = true)]
async fn an_informer_runs_once_and_says_that_it_stopped() {
    let cluster = Cluster::with(&["a"]);
    let informer = informer::<Pod>(&cluster);
    assert_eq!(informer.state(), InformerState::Created);
    assert!(informer.lister_unsynced().is_empty());
    let token = CancellationToken::new();
    token.cancel();
    assert_eq!(informer.run(token.clone()).await, Ok(()));
    assert_eq!(informer.state(), InformerState::Stopped);
    assert_eq!(informer.run(token).await, Err(RunError::StartedBefore));
    assert_eq!(
        informer.synced().await.err(),
        Some(SyncError::Stopped { problem: None })
    );
}

/// Contract INF-16.
#[tokio::test(start_paused = true)]
async fn dropping_the_future_stops_the_informer() {
    let cluster = Cluster::with(&["a"]);
    let informer = informer::<Pod>(&cluster);
    let token = CancellationToken::new();
    let run = informer.run(token);
    let limit = Duration::from_secs(5);
    assert!(tokio::time::timeout(limit, run).await.is_err());
    assert_eq!(informer.state(), InformerState::Stopped);
    assert_eq!(
        informer.synced().await.err(),
        Some(SyncError::Stopped { problem: None })
    );
}
