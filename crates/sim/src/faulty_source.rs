//! `FaultySource`: the real client as a source of informers, with injected faults.
//!
//! Whatever it delivers is recorded in an [`Expectation`] at the moment at which the reflector
//! receives it.

use crate::expectation::Expectation;
use crate::faults::Faults;
use crate::ledger::Stamp;
use crate::network::{Network, Protocol};
use crate::plan::Defect;
use crate::rng::SimRng;
use crate::unreadable;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Object};
use kubist_cache::{
    EventType, FetchError, IngestAny, ListBatch, ListItem, ListRequest, ListStream, ListerWatcher,
    Selection, Source, WatchItem, WatchRequest, WatchStream,
};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A source with faults. Clones share only what they are built on.
///
/// Each informer has a connection of its own: the order in which the streams of one connection fail
/// depends on real time (HTTP/2 remembers reset streams for a second).
#[derive(Clone, Debug)]
pub(crate) struct FaultySource {
    pub(crate) network: Network,
    pub(crate) faults: Arc<Faults>,
    pub(crate) rng: SimRng,
}

impl Source for FaultySource {
    fn lister_watcher<F: Ingest>(&self, selection: &Selection) -> Arc<dyn ListerWatcher<F>> {
        let inner = self
            .network
            .client(Protocol::Http2)
            .lister_watcher::<F>(selection);
        Arc::new(FaultyListerWatcher {
            inner,
            shared: Arc::new(Shared {
                name: std::any::type_name::<F::Kind>().to_owned(),
                faults: Arc::clone(&self.faults),
                rng: Mutex::new(self.rng.fork(std::any::type_name::<F>())),
                expectation: Arc::default(),
                defect: None,
                copy: None,
            }),
        })
    }

    fn dynamic_lister_watcher<F: IngestAny>(
        &self,
        resource: &ApiResource,
        selection: &Selection,
    ) -> Arc<dyn ListerWatcher<F>> {
        // The simulation has no dynamic informers, so no faults are needed.
        let client = self.network.client(Protocol::Http2);
        client.dynamic_lister_watcher(resource, selection)
    }
}

/// Lists and watches with faults.
pub(crate) struct FaultyListerWatcher<K> {
    pub(crate) inner: Arc<dyn ListerWatcher<K>>,
    pub(crate) shared: Arc<Shared<K>>,
}

pub(crate) struct Shared<K> {
    pub(crate) name: String,
    pub(crate) faults: Arc<Faults>,
    pub(crate) rng: Mutex<SimRng>,
    pub(crate) expectation: Arc<Mutex<Expectation>>,
    pub(crate) defect: Option<Defect>,
    /// How to duplicate an event; `None` if events are never duplicated.
    pub(crate) copy: Option<fn(&K) -> K>,
}

/// What happens to a stream.
enum StreamFault {
    Flows,
    Ends,
    Breaks(FetchError),
}

impl<K: Object> Shared<K> {
    fn strike(&self, percent: u32) -> bool {
        self.faults.strike(&mut self.rng.lock(), percent)
    }

    fn note(&self, what: fmt::Arguments<'_>) {
        let name = &self.name;
        self.faults
            .trace
            .note("fault", format_args!("{name}: {what}"));
    }

    async fn delay(&self) {
        let trouble = &self.faults.trouble;
        if self.strike(trouble.delays) {
            let time = self.rng.lock().time(Duration::ZERO, trouble.delay_max);
            self.note(format_args!("late by {time:?}"));
            tokio::time::sleep(time).await;
        }
    }

    /// Decides whether a request fails before it is sent.
    fn refusal(&self) -> Option<FetchError> {
        if self.strike(self.faults.trouble.expiries) {
            self.note(format_args!("410"));
            return Some(expired());
        }
        if !self.strike(self.faults.trouble.refusals) {
            return None;
        }
        let mut rng = self.rng.lock();
        let message = "injected".into();
        let pause = Duration::from_secs(rng.between(1, 5));
        let retry_after = rng.chance(50).then_some(pause);
        let refused: std::io::Error = std::io::ErrorKind::ConnectionRefused.into();
        let source = Arc::new(refused);
        let error = match rng.below(6) {
            0 => FetchError::Throttled { retry_after },
            1 => FetchError::Internal {
                message,
                retry_after,
            },
            2 => FetchError::Unavailable {
                message,
                retry_after,
            },
            3 => FetchError::ConnectionRefused { source },
            4 => FetchError::Connection { source },
            _ => FetchError::TooLargeResourceVersion { retry_after },
        };
        drop(rng);
        self.note(format_args!("request refused: {error}"));
        Some(error)
    }

    /// Decides what happens to a stream before its next batch.
    fn stream_fault(&self) -> StreamFault {
        let trouble = &self.faults.trouble;
        // A stream has many batches.
        if self.strike(trouble.expiries / 4) {
            self.note(format_args!("410 in mid-stream"));
            return StreamFault::Breaks(expired());
        }
        if !self.strike(trouble.cuts) {
            return StreamFault::Flows;
        }
        self.note(format_args!("stream cut"));
        let reset: std::io::Error = std::io::ErrorKind::ConnectionReset.into();
        let source = Arc::new(reset);
        match self.rng.lock().below(3) {
            0 => StreamFault::Ends,
            1 => StreamFault::Breaks(FetchError::Connection { source }),
            _ => StreamFault::Breaks(FetchError::Internal {
                message: "in mid-stream, injected".into(),
                retry_after: None,
            }),
        }
    }

    fn doubled(&self, item: WatchItem<K>) -> Vec<WatchItem<K>> {
        let lost = matches!(item, WatchItem::Deleted(_));
        if lost && self.defect == Some(Defect::LosesDeletions) {
            return Vec::new();
        }
        let again = match (&item, self.copy) {
            (WatchItem::Added(object), Some(copy)) => WatchItem::Added(copy(object)),
            (WatchItem::Modified(object), Some(copy)) => WatchItem::Modified(copy(object)),
            (WatchItem::Deleted(object), Some(copy)) => WatchItem::Deleted(copy(object)),
            _ => return vec![item],
        };
        if !self.strike(self.faults.trouble.duplicates) {
            return vec![item];
        }
        self.note(format_args!("event twice"));
        vec![item, again]
    }

    fn note_unread(&self, item: &WatchItem<K>) {
        if let WatchItem::Invalid(event) = item {
            let name = event.item.name.as_ref().map(ToString::to_string);
            let (kind, version) = (event.event, &event.resource_version);
            self.note(format_args!("cannot be read: {kind:?} {name:?} @{version}"));
        }
    }

    /// Removes information about undecodable events, for a defect.
    fn without_word(&self, mut items: Vec<WatchItem<K>>) -> Vec<WatchItem<K>> {
        match self.defect {
            Some(Defect::ForgetsTypes) => {
                for item in &mut items {
                    if let WatchItem::Invalid(event) = item {
                        event.event = event.event.map(|_| EventType::Bookmark);
                    }
                }
            }
            Some(Defect::HidesUnread) => items.retain(|it| !matches!(it, WatchItem::Invalid(_))),
            _ => {}
        }
        items
    }

    fn expect_events(&self, items: &[WatchItem<K>]) {
        let mut expectation = self.expectation.lock();
        for item in items {
            match item {
                WatchItem::Added(object) | WatchItem::Modified(object) => {
                    expectation.put(object.object_name(), Stamp::of(object));
                }
                WatchItem::Deleted(object) => {
                    expectation.delete(&object.object_name(), Stamp::of(object));
                }
                WatchItem::Bookmark {
                    initial_events_end: true,
                    ..
                } => expectation.list_ends(),
                WatchItem::Invalid(event) => expectation.unread(event),
                WatchItem::Bookmark { .. } => {}
            }
        }
    }

    fn expect_page(&self, batch: &ListBatch<K>) {
        let mut expectation = self.expectation.lock();
        match batch {
            ListBatch::Items(items) => {
                for item in items {
                    match item {
                        ListItem::Object(object) => {
                            expectation.put(object.object_name(), Stamp::of(object));
                        }
                        ListItem::Invalid(item) => expectation.unread_item(item),
                    }
                }
            }
            ListBatch::End(end) if end.continue_token.is_empty() => expectation.list_ends(),
            ListBatch::End(_) => {}
        }
    }
}

fn expired() -> FetchError {
    FetchError::Expired {
        message: "injected".into(),
    }
}

type Batches<B> = BoxStream<'static, Result<B, FetchError>>;

/// Wraps a stream that may be delayed, end or break before each of its batches; batches are passed
/// to `pass`.
fn troubled<K: Object, B: Send + 'static>(
    stream: Batches<B>,
    shared: &Arc<Shared<K>>,
    pass: fn(&Shared<K>, B) -> B,
) -> Batches<B> {
    let state = Some((stream, Arc::clone(shared)));
    let troubled = futures_util::stream::unfold(state, move |state| async move {
        let (mut stream, shared) = state?;
        let batch = stream.next().await?;
        shared.delay().await;
        match shared.stream_fault() {
            StreamFault::Ends => return None,
            StreamFault::Breaks(error) => return Some((Err(error), None)),
            StreamFault::Flows => {}
        }
        let batch = batch.map(|batch| pass(&shared, batch));
        Some((batch, Some((stream, shared))))
    });
    troubled.boxed()
}

impl<K: Object> ListerWatcher<K> for FaultyListerWatcher<K> {
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<K>, FetchError>> {
        Box::pin(async move {
            if request.continue_token.is_empty() {
                self.shared.expectation.lock().list_begins();
            }
            self.shared.delay().await;
            if let Some(error) = self.shared.refusal() {
                return Err(error);
            }
            let stream = self.inner.list(request).await?;
            Ok(troubled(stream, &self.shared, |shared, batch| {
                let batch = match batch {
                    ListBatch::Items(items) => {
                        let items = items.into_iter();
                        let items = items.map(|it| unreadable::listed(&shared.faults, it));
                        ListBatch::Items(items.collect())
                    }
                    end @ ListBatch::End(_) => end,
                };
                shared.expect_page(&batch);
                batch
            }))
        })
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<K>, FetchError>> {
        Box::pin(async move {
            if request.send_initial_events {
                self.shared.expectation.lock().list_begins();
            } else {
                self.shared.expectation.lock().watch_resumes();
            }
            self.shared.delay().await;
            if let Some(error) = self.shared.refusal() {
                return Err(error);
            }
            let stream = self.inner.watch(request).await?;
            Ok(troubled(stream, &self.shared, |shared, items| {
                let doubled = items.into_iter().flat_map(|item| shared.doubled(item));
                let items = doubled.map(|it| unreadable::watched(&shared.faults, it));
                let items: Vec<_> = items.inspect(|it| shared.note_unread(it)).collect();
                shared.expect_events(&items);
                shared.without_word(items)
            }))
        })
    }

    fn supports_streaming_list(&self) -> bool {
        self.inner.supports_streaming_list()
    }

    fn streaming_list_refused(&self) {
        self.inner.streaming_list_refused();
    }
}
