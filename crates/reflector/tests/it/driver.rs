//! The driver against a scripted source, on a paused clock.

use futures_core::future::BoxFuture;
use kubist_apimachinery::wire::WireErrorKind;
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{
    EventType, FetchError, Indexer, InvalidEvent, InvalidItem, ListBatch, ListEnd, ListItem,
    ListRequest, ListStream, ListerWatcher, Queue as _, RealFifo, WatchItem, WatchRequest,
    WatchStream,
};
use kubist_reflector::{Config, InitialSync, Reflector, Report};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

type Answer<T> = Result<Vec<Result<T, FetchError>>, FetchError>;

/// Answers requests in the order of a script. A watch stays open after its events, unless the
/// script says `cut`.
#[derive(Default)]
struct Script {
    lists: Mutex<VecDeque<Answer<ListBatch<ObjectMeta>>>>,
    watches: Mutex<VecDeque<Answer<Vec<WatchItem<ObjectMeta>>>>>,
    log: Mutex<String>,
    refused: Mutex<bool>,
}

struct Items<T> {
    items: VecDeque<T>,
    stays_open: bool,
}

impl<T: Unpin> futures_core::Stream for Items<T> {
    type Item = T;
    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<T>> {
        match self.items.pop_front() {
            None if self.stays_open => std::task::Poll::Pending,
            item => std::task::Poll::Ready(item),
        }
    }
}

impl ListerWatcher<ObjectMeta> for Script {
    fn list(
        &self,
        request: ListRequest,
    ) -> BoxFuture<'_, Result<ListStream<ObjectMeta>, FetchError>> {
        write!(
            self.log.lock().expect("no panic"),
            "list@{} ",
            request.resource_version
        )
        .expect("memory");
        let answer = self
            .lists
            .lock()
            .expect("no panic")
            .pop_front()
            .expect("scripted");
        Box::pin(async move {
            Ok(Box::pin(Items {
                items: answer?.into(),
                stays_open: false,
            }) as ListStream<_>)
        })
    }

    fn watch(
        &self,
        request: WatchRequest,
    ) -> BoxFuture<'_, Result<WatchStream<ObjectMeta>, FetchError>> {
        let kind = if request.send_initial_events {
            "stream"
        } else {
            "watch"
        };
        write!(
            self.log.lock().expect("no panic"),
            "{kind}@{} ",
            request.resource_version
        )
        .expect("memory");
        let answer = self.watches.lock().expect("no panic").pop_front();
        Box::pin(async move {
            let (items, stays_open) = match answer {
                Some(answer) => (answer?, false),
                None => (Vec::new(), true),
            };
            Ok(Box::pin(Items {
                items: items.into(),
                stays_open,
            }) as WatchStream<_>)
        })
    }

    fn streaming_list_refused(&self) {
        *self.refused.lock().expect("no panic") = true;
    }
}

fn object(name: &str, version: u64) -> ObjectMeta {
    let resource_version = version.to_string().into();
    ObjectMeta {
        name: name.into(),
        uid: name.into(),
        resource_version,
        ..ObjectMeta::default()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "an answer may be an error too")]
fn page(version: &str, token: &str, objects: &[(&str, u64)]) -> Answer<ListBatch<ObjectMeta>> {
    let items = objects
        .iter()
        .map(|(name, version)| ListItem::Object(object(name, *version)));
    let end = ListEnd {
        resource_version: version.into(),
        continue_token: token.into(),
        remaining: None,
    };
    Ok(vec![
        Ok(ListBatch::Items(items.collect())),
        Ok(ListBatch::End(end)),
    ])
}

fn unread(name: &str) -> WatchItem<ObjectMeta> {
    WatchItem::Invalid(InvalidEvent {
        event: Some(EventType::Modified),
        resource_version: kubist_apimachinery::ResourceVersion::default(),
        item: invalid(name),
    })
}

fn invalid(name: &str) -> InvalidItem {
    InvalidItem {
        name: Some(ObjectName::cluster(name)),
        error: WireErrorKind::Truncated.into(),
    }
}

fn end(version: &str) -> WatchItem<ObjectMeta> {
    WatchItem::Bookmark {
        resource_version: version.into(),
        initial_events_end: true,
    }
}

/// Steps until nothing arrives for an hour; returns the events and the reports.
async fn settle(
    reflector: &mut Reflector<ObjectMeta>,
    indexer: &mut Indexer<ObjectMeta>,
) -> (String, Vec<Report>) {
    let (mut queue, mut changes, mut reports) = (RealFifo::new(), Vec::new(), Vec::new());
    let limit = std::time::Duration::from_secs(100);
    loop {
        let mut report = |report| reports.push(report);
        let step = reflector.step(&mut queue, &mut report);
        if tokio::time::timeout(limit, step).await.is_err() {
            return (format!("{changes:?}"), reports);
        }
        while let Some(batch) = queue.pop_batch() {
            batch
                .deltas
                .into_iter()
                .for_each(|delta| indexer.apply(delta, &mut changes));
            indexer.publish();
        }
    }
}

fn reflector(
    script: &Arc<Script>,
    initial_sync: InitialSync,
) -> (Reflector<ObjectMeta>, Indexer<ObjectMeta>) {
    let indexer = Indexer::new();
    let source = Arc::clone(script) as Arc<dyn ListerWatcher<ObjectMeta>>;
    let config = Config {
        initial_sync,
        ..Config::default()
    };
    (
        Reflector::new(source, config, 1).with_known(indexer.lister()),
        indexer,
    )
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_is_applied_at_its_bookmark_and_the_watch_goes_on() {
    let script = Arc::new(Script::default());
    script.watches.lock().expect("no panic").push_back(Ok(vec![
        Ok(vec![
            WatchItem::Added(object("a", 1)),
            WatchItem::Added(object("b", 2)),
        ]),
        Ok(vec![
            WatchItem::Modified(object("a", 3)),
            WatchItem::Deleted(object("b", 4)),
        ]),
        Ok(vec![
            unread("x"),
            end("4"),
            WatchItem::Added(object("c", 5)),
        ]),
    ]));
    let (mut reflector, mut indexer) = reflector(&script, InitialSync::StreamingList);
    let (changes, reports) = settle(&mut reflector, &mut indexer).await;
    assert_eq!(changes, "[Added(a@3, initial), Added(c@5)]");
    assert!(matches!(&reports[..], [Report::Invalid(_)]));
    assert_eq!(*script.log.lock().expect("no panic"), "stream@ watch@5 ");
    assert_eq!((reflector.stats().lists, reflector.stats().invalid), (1, 1));
}

/// Contract REFL-1.
#[tokio::test(start_paused = true)]
async fn pages_are_one_replacement_and_an_unreadable_item_costs_only_itself() {
    let script = Arc::new(Script::default());
    {
        let mut lists = script.lists.lock().expect("no panic");
        lists.push_back(page("9", "more", &[("a", 1), ("b", 2)]));
        let mut second = page("9", "", &[("c", 3)]).expect("it is one");
        second.insert(
            0,
            Ok(ListBatch::Items(vec![ListItem::Invalid(invalid("x"))])),
        );
        lists.push_back(Ok(second));
    }
    let (mut reflector, mut indexer) = reflector(&script, InitialSync::ListThenWatch);
    let (changes, reports) = settle(&mut reflector, &mut indexer).await;
    assert_eq!(
        changes,
        "[Added(a@1, initial), Added(b@2, initial), Added(c@3, initial)]"
    );
    assert!(
        matches!(&reports[..], [Report::Invalid(item)] if item.name == Some(ObjectName::cluster("x")))
    );
    assert_eq!(
        *script.log.lock().expect("no panic"),
        "list@0 list@ watch@9 "
    );
}

/// Contract CACHE-5.
#[tokio::test(start_paused = true)]
async fn a_relist_keeps_known_objects_and_those_it_cannot_read() {
    let script = Arc::new(Script::default());
    {
        let mut lists = script.lists.lock().expect("no panic");
        lists.push_back(page("9", "", &[("a", 1), ("b", 2), ("c", 3)]));
        let mut again = page("20", "", &[("a", 1), ("d", 15)]).expect("it is one");
        again.insert(
            0,
            Ok(ListBatch::Items(vec![ListItem::Invalid(invalid("b"))])),
        );
        lists.push_back(Ok(again));
        let expired = FetchError::Expired {
            message: "gone".into(),
        };
        script
            .watches
            .lock()
            .expect("no panic")
            .push_back(Ok(vec![Err(expired)]));
    }
    let (mut reflector, mut indexer) = reflector(&script, InitialSync::ListThenWatch);
    let (changes, reports) = settle(&mut reflector, &mut indexer).await;
    let first = "Added(a@1, initial), Added(b@2, initial), Added(c@3, initial)";
    assert_eq!(
        changes,
        format!("[{first}, FinalStateUnknown(c), Added(d@15)]")
    );
    assert!(matches!(
        &reports[..],
        [Report::WatchFailed(..), Report::Invalid(_)]
    ));
    assert_eq!(reflector.stats().unchanged, 1);
    let known = indexer.get(&ObjectName::cluster("b"));
    assert_eq!(
        known.map(|it| it.resource_version.clone()).as_deref(),
        Some("2")
    );
    assert_eq!(
        *script.log.lock().expect("no panic"),
        "list@0 watch@9 list@9 watch@20 "
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_without_streaming_lists_is_remembered() {
    let script = Arc::new(Script::default());
    let refusal = FetchError::Invalid {
        message: "no".into(),
    };
    script
        .watches
        .lock()
        .expect("no panic")
        .push_back(Err(refusal));
    script
        .lists
        .lock()
        .expect("no panic")
        .push_back(page("9", "", &[("a", 1)]));
    let (mut reflector, mut indexer) = reflector(&script, InitialSync::StreamingList);
    let (changes, reports) = settle(&mut reflector, &mut indexer).await;
    assert_eq!(changes, "[Added(a@1, initial)]");
    assert!(matches!(&reports[..], [Report::WatchFailed(..)]));
    assert!(*script.refused.lock().expect("no panic"));
}

/// Contract REFL-8.
#[tokio::test(start_paused = true)]
async fn a_dropped_step_loses_nothing() {
    let script = Arc::new(Script::default());
    script
        .lists
        .lock()
        .expect("no panic")
        .push_back(page("9", "more", &[("a", 1)]));
    script
        .lists
        .lock()
        .expect("no panic")
        .push_back(page("9", "", &[("b", 2)]));
    let (mut reflector, mut indexer) = reflector(&script, InitialSync::ListThenWatch);
    let mut queue = RealFifo::new();
    for _ in 0..20 {
        // Each turn polls once and drops.
        let mut ignore = |_| {};
        let step = reflector.step(&mut queue, &mut ignore);
        drop(tokio::time::timeout(std::time::Duration::ZERO, step).await);
    }
    let (changes, _) = settle(&mut reflector, &mut indexer).await;
    let popped = format!("{:?}", queue.pop_batch());
    assert_eq!(
        (popped.as_str(), changes.as_str()),
        ("Some(initial [ReplacedAll(2 objects @9)])", "[]")
    );
}

#[tokio::test(start_paused = true)]
async fn what_comes_at_once_is_queued_together_within_a_limit() {
    let changed = |version| Ok(vec![WatchItem::Modified(object("a", version))]);
    let script = Arc::new(Script::default());
    let mut chunks: Answer<_> = Ok(vec![Ok(vec![WatchItem::Added(object("a", 1)), end("1")])]);
    chunks.as_mut().unwrap().extend((2..=200).map(changed));
    script.watches.lock().unwrap().push_back(chunks);
    let (mut reflector, _indexer) = reflector(&script, InitialSync::StreamingList);
    let (mut queue, mut sizes) = (RealFifo::new(), Vec::new());
    while sizes.iter().sum::<usize>() < 200 {
        reflector.step(&mut queue, &mut |_| {}).await;
        reflector.step_while_ready(&mut queue, &mut |_| {}).await;
        let batches = std::iter::from_fn(|| queue.pop_batch());
        sizes.push(batches.map(|it| it.deltas.len()).sum());
    }
    assert_eq!(sizes, [64, 64, 64, 8]);
}
