//! An informer with a single reader, which sets the pace.

use crate::cluster::{Cluster, pod};
use crate::handlers::Log;
use crate::informer::settle;
use futures_core::Stream;
use futures_core::future::BoxFuture;
use kubist_api::core::v1::Pod;
use kubist_cache::{
    FetchError, Index, ListBatch, ListEnd, ListRequest, ListStream, ListerWatcher, Selection,
    Source as _, WatchItem, WatchRequest, WatchStream,
};
use kubist_informers::{
    HandlerState, Informer, InformerConfig, InformerEvent, InformerState, Problem, QueueKind,
    Report, Resync, SharedInformer,
};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

on_both_queues! {
    a_reader_receives_the_first_list_then_synced_then_each_change
    changes_during_an_expired_version_are_reported_deletions_included
    a_read_that_is_dropped_at_any_point_loses_nothing
}

fn informer_with(cluster: &Cluster, config: InformerConfig<Pod>) -> Informer<Pod> {
    Informer::new(cluster.lister_watcher(&Selection::all()), config)
}

fn informer(cluster: &Cluster, queue: QueueKind) -> Informer<Pod> {
    let config = InformerConfig {
        queue,
        ..InformerConfig::default()
    };
    informer_with(cluster, config)
}

/// Collects the events until none arrives for a while.
async fn observed(informer: &mut Informer<Pod>) -> Vec<String> {
    let mut observed = Vec::new();
    while let Ok(event) = tokio::time::timeout(Duration::from_secs(5), informer.next()).await {
        observed.push(format!("{event:?}"));
    }
    observed
}

/// Contract INF-18.
async fn a_reader_receives_the_first_list_then_synced_then_each_change(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b"]);
    let mut pods = informer(&cluster, queue);
    let by_node = pods.add_index(Index::field("spec.nodeName"));
    assert_eq!(cluster.requests().len(), 0, "nothing was requested yet");
    assert_eq!(pods.state(), InformerState::Syncing);
    let first = [
        "Added(shop/a@1, initial)",
        "Added(shop/b@2, initial)",
        "Synced",
    ];
    assert_eq!(observed(&mut pods).await, first);
    assert_eq!(pods.state(), InformerState::Synced);
    let lister = pods.lister();
    assert_eq!(lister.by_index(&by_node, "node-1").len(), 2);
    cluster.put(pod("b"));
    cluster.delete("a");
    cluster.put(pod("c"));
    let changes = ["Updated(shop/b@2->3)", "Known(shop/a)", "Added(shop/c@5)"];
    assert_eq!(observed(&mut pods).await, changes);
    assert_eq!(lister.len(), 2);
    drop(pods);
    settle().await;
    assert_eq!(cluster.watchers(), 0, "the watch ends with its reader");
}

async fn changes_during_an_expired_version_are_reported_deletions_included(queue: QueueKind) {
    let cluster = Cluster::with(&["a", "b", "c"]);
    let mut pods = informer(&cluster, queue);
    assert_eq!(observed(&mut pods).await.len(), 4);
    cluster.disconnect();
    cluster.put(pod("a"));
    cluster.delete("b");
    cluster.put(pod("d"));
    let message = "too old".into();
    cluster.cut(Some(FetchError::Expired { message }));
    let mut changes = observed(&mut pods).await;
    changes.sort();
    let expected = [
        "Added(shop/d@6)",
        "FinalStateUnknown(shop/b)",
        "Updated(shop/a@1->4)",
    ];
    assert_eq!(
        changes, expected,
        "unchanged objects are not delivered again"
    );
}

/// Contract INF-18.
async fn a_read_that_is_dropped_at_any_point_loses_nothing(queue: QueueKind) {
    let cluster = Cluster::with(&["a"]);
    let mut pods = informer(&cluster, queue);
    let mut received = Vec::new();
    for number in 0..200 {
        match number % 20 {
            7 => cluster.cut(None),
            13 => cluster.cut(Some(FetchError::Internal {
                message: "trouble".into(),
                retry_after: None,
            })),
            _ => cluster.put(pod("a")),
        }
        let patience = Duration::from_millis(number % 3);
        if let Ok(event) = tokio::time::timeout(patience, pods.next()).await {
            received.push(format!("{event:?}"));
        }
    }
    let rest = tokio::time::timeout(Duration::from_secs(10 * 60), async {
        while !received.last().is_some_and(|it| it.ends_with("->181)")) {
            received.push(format!("{:?}", pods.next().await));
        }
    });
    rest.await.expect("the last version is delivered");
    let updates = received.iter().filter(|it| it.starts_with("Updated"));
    let updates: Vec<_> = updates.collect();
    for (before, after) in updates.iter().zip(&updates[1..]) {
        let (_, from) = before
            .rsplit_once("->")
            .expect("an update has two versions");
        let from = from.trim_end_matches(')');
        assert!(after.contains(&format!("@{from}->")), "{before} {after}");
    }
}

/// A server whose watch always has another event ready, and which counts the events taken.
#[derive(Default)]
struct Torrent {
    taken: Arc<AtomicU64>,
}

impl ListerWatcher<Pod> for Torrent {
    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<Pod>, FetchError>> {
        Box::pin(async { Err(FetchError::Forbidden { message: "".into() }) })
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Pod>, FetchError>> {
        let torrent = Self {
            taken: Arc::clone(&self.taken),
        };
        Box::pin(async { Ok(Box::pin(torrent) as WatchStream<Pod>) })
    }
}

impl Stream for Torrent {
    type Item = Result<Vec<WatchItem<Pod>>, FetchError>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let mut object = pod(&format!("p{}", number % 100));
        object.metadata.resource_version = number.to_string().into();
        let end = WatchItem::Bookmark {
            resource_version: number.into(),
            initial_events_end: true,
        };
        let item = if number == 1 {
            end
        } else {
            WatchItem::Added(object)
        };
        Poll::Ready(Some(Ok(vec![item])))
    }
}

/// Contract INF-18.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_slows_the_reading_of_the_watch_down_and_nothing_piles_up() {
    let torrent = Torrent::default();
    let taken = Arc::clone(&torrent.taken);
    let mut pods = Informer::new(Arc::new(torrent), InformerConfig::default());
    assert!(matches!(pods.next().await, InformerEvent::Synced));
    for read in 1..500 {
        tokio::time::sleep(Duration::from_secs(3)).await;
        pods.next().await;
        // One watch event per event read, and the bookmark.
        assert_eq!(taken.load(Ordering::Relaxed), read + 1);
    }
}

/// The reader polls the stream only when woken, and keeps no future of it.
#[tokio::test(start_paused = true)]
async fn a_reader_of_the_stream_is_woken_after_pauses_too() {
    let cluster = Cluster::with(&["a"]);
    let mut pods = informer(&cluster, QueueKind::RealFifo);
    let mut next = async || {
        let event = std::future::poll_fn(|cx| Pin::new(&mut pods).poll_next(cx));
        let event = tokio::time::timeout(Duration::from_secs(2 * 60), event).await;
        format!("{:?}", event.expect("it is woken").expect("it never ends"))
    };
    assert_eq!(next().await, "Added(shop/a@1, initial)");
    assert_eq!(next().await, "Synced");
    cluster.disconnect();
    cluster.put(pod("a"));
    cluster.cut(Some(FetchError::Internal {
        message: "trouble".into(),
        retry_after: Some(Duration::from_secs(20)),
    }));
    assert_eq!(next().await, "Updated(shop/a@1->2)");
}

#[tokio::test(start_paused = true)]
async fn resyncs_come_at_the_period_and_once_however_long_the_reader_was_away() {
    let cluster = Cluster::with(&["a"]);
    let config = InformerConfig {
        resync: Resync::Checked(Duration::from_secs(30)),
        ..InformerConfig::default()
    };
    let mut pods = informer_with(&cluster, config);
    assert_eq!(observed(&mut pods).await.len(), 2);
    let started = tokio::time::Instant::now();
    for expected in [25, 55, 85] {
        assert_eq!(format!("{:?}", pods.next().await), "Resynced(shop/a@1)");
        assert_eq!(started.elapsed().as_secs(), expected);
    }
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!(observed(&mut pods).await, ["Resynced(shop/a@1)"]);
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_is_seen_and_a_kind_that_is_not_served_is_a_state() {
    let cluster = Cluster::with(&["a"]);
    cluster.serve(false);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let config = InformerConfig {
        on_problem: Some(Arc::new(move |problem: &Problem| {
            log.lock().push(problem.clone());
        })),
        ..InformerConfig::default()
    };
    let mut pods = informer_with(&cluster, config);
    assert!(observed(&mut pods).await.is_empty());
    assert_eq!(pods.state(), InformerState::NotServed);
    assert!(matches!(
        seen.lock()[..],
        [Problem::Fetch(Report::NotServed(_))]
    ));
    cluster.serve(true);
    cluster.corrupt("b");
    let first = tokio::time::timeout(Duration::from_secs(2 * 60), pods.next()).await;
    assert_eq!(format!("{:?}", first.unwrap()), "Added(shop/a@1, initial)");
    assert!(matches!(
        seen.lock()[..],
        [_, Problem::Fetch(Report::Invalid(_))]
    ));
}

/// A list with an undecodable object, whose second part takes a minute.
struct Halting;

impl ListerWatcher<Pod> for Halting {
    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<Pod>, FetchError>> {
        let invalid = kubist_cache::InvalidItem {
            name: None,
            error: kubist_apimachinery::wire::WireErrorKind::Truncated.into(),
        };
        let first = ListBatch::Items(vec![kubist_cache::ListItem::Invalid(invalid)]);
        let rest = ListBatch::End(ListEnd::default());
        let parts = vec![first, rest].into_iter();
        let wait = None;
        Box::pin(async { Ok(Box::pin(Parts { parts, wait }) as ListStream<Pod>) })
    }

    fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<Pod>, FetchError>> {
        Box::pin(std::future::pending())
    }

    fn supports_streaming_list(&self) -> bool {
        false
    }
}

struct Parts {
    parts: std::vec::IntoIter<ListBatch<Pod>>,
    wait: Option<Pin<Box<tokio::time::Sleep>>>,
}

/// No field is pinned.
impl Unpin for Parts {}

impl Stream for Parts {
    type Item = Result<ListBatch<Pod>, FetchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(wait) = &mut self.wait {
            std::task::ready!(wait.as_mut().poll(cx));
        }
        self.wait = Some(Box::pin(tokio::time::sleep(Duration::from_secs(60))));
        Poll::Ready(self.parts.next().map(Ok))
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_reported_though_a_handler_comes_while_the_list_halts() {
    let seen = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&seen);
    let config = InformerConfig {
        on_problem: Some(Arc::new(move |_: &Problem| {
            count.fetch_add(1, Ordering::Relaxed);
        })),
        ..InformerConfig::default()
    };
    let pods = SharedInformer::new(Arc::new(Halting), config);
    let token = CancellationToken::new();
    let mut tasks = tokio::task::JoinSet::new();
    let (running, stop) = (pods.clone(), token.clone());
    tasks.spawn(async move { running.run(stop).await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    let late = pods.add_handler(Log::default().handler());
    assert_eq!(late.synced().await, HandlerState::Synced);
    assert_eq!(pods.stats().reflector.invalid, 1);
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    token.cancel();
    tasks.join_all().await;
}
