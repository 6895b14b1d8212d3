//! `Troubled`: the real client as a source of informers, with faults on its way.
//!
//! What comes through is written into an [`Expectation`], at the moment at which the reflector
//! gets it.

use crate::dice::Dice;
use crate::expectation::Expectation;
use crate::ledger::Stamp;
use crate::network::{Network, Speaks};
use crate::plan::{Defect, Trouble};
use crate::trace::Trace;
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
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A source with faults. Clones share nothing but what they stand on.
///
/// Each informer has a connection of its own: the order in which the streams of one fail together
/// depends on real time (HTTP/2 remembers streams that were reset for a second).
#[derive(Clone, Debug)]
pub(crate) struct Troubled {
    pub(crate) network: Network,
    pub(crate) faults: Arc<Faults>,
    pub(crate) dice: Dice,
}

impl Source for Troubled {
    fn lister_watcher<F: Ingest>(&self, selection: &Selection) -> Arc<dyn ListerWatcher<F>> {
        let inner = self
            .network
            .client(Speaks::Http2)
            .lister_watcher::<F>(selection);
        Arc::new(TroubledLister {
            inner,
            shared: Arc::new(Shared {
                name: std::any::type_name::<F::Kind>().to_owned(),
                faults: Arc::clone(&self.faults),
                dice: Mutex::new(self.dice.fork(std::any::type_name::<F>())),
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
        // Nothing in the simulation is dynamic: no faults needed.
        let client = self.network.client(Speaks::Http2);
        client.dynamic_lister_watcher(resource, selection)
    }
}

/// Lists and watches with faults.
pub(crate) struct TroubledLister<K> {
    pub(crate) inner: Arc<dyn ListerWatcher<K>>,
    pub(crate) shared: Arc<Shared<K>>,
}

pub(crate) struct Shared<K> {
    pub(crate) name: String,
    pub(crate) faults: Arc<Faults>,
    pub(crate) dice: Mutex<Dice>,
    pub(crate) expectation: Arc<Mutex<Expectation>>,
    pub(crate) defect: Option<Defect>,
    /// How to make an event come twice; none if it never shall.
    pub(crate) copy: Option<fn(&K) -> K>,
}

/// How a stream goes on.
enum Fate {
    Flows,
    Ends,
    Breaks(FetchError),
}

impl<K: Object> Shared<K> {
    fn strike(&self, percent: u32) -> bool {
        self.faults.strike(&mut self.dice.lock(), percent)
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
            let time = self.dice.lock().time(Duration::ZERO, trouble.delay_max);
            self.note(format_args!("late by {time:?}"));
            tokio::time::sleep(time).await;
        }
    }

    /// Whether a request fails before it is sent.
    fn refusal(&self) -> Option<FetchError> {
        if self.strike(self.faults.trouble.expiries) {
            self.note(format_args!("410"));
            return Some(expired());
        }
        if !self.strike(self.faults.trouble.refusals) {
            return None;
        }
        let mut dice = self.dice.lock();
        let message = "by the dice".into();
        let pause = Duration::from_secs(dice.between(1, 5));
        let retry_after = dice.chance(50).then_some(pause);
        let refused: std::io::Error = std::io::ErrorKind::ConnectionRefused.into();
        let source = Arc::new(refused);
        let error = match dice.below(6) {
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
        drop(dice);
        self.note(format_args!("request refused: {error}"));
        Some(error)
    }

    /// What becomes of a stream before its next batch.
    fn fate(&self) -> Fate {
        let trouble = &self.faults.trouble;
        // A stream has many batches.
        if self.strike(trouble.expiries / 4) {
            self.note(format_args!("410 in mid-stream"));
            return Fate::Breaks(expired());
        }
        if !self.strike(trouble.cuts) {
            return Fate::Flows;
        }
        self.note(format_args!("stream cut"));
        let reset: std::io::Error = std::io::ErrorKind::ConnectionReset.into();
        let source = Arc::new(reset);
        match self.dice.lock().below(3) {
            0 => Fate::Ends,
            1 => Fate::Breaks(FetchError::Connection { source }),
            _ => Fate::Breaks(FetchError::Internal {
                message: "in mid-stream, by the dice".into(),
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

    /// What a source passes on that knows less of what it cannot read.
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
        message: "by the dice".into(),
    }
}

type Batches<B> = BoxStream<'static, Result<B, FetchError>>;

/// A stream that may be late, end or break before each of its batches; what comes through goes
/// through `pass`.
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
        match shared.fate() {
            Fate::Ends => return None,
            Fate::Breaks(error) => return Some((Err(error), None)),
            Fate::Flows => {}
        }
        let batch = batch.map(|batch| pass(&shared, batch));
        Some((batch, Some((stream, shared))))
    });
    troubled.boxed()
}

impl<K: Object> ListerWatcher<K> for TroubledLister<K> {
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
