//! A watch on one resource: initial events, rewriting under selectors, bookmarks, 410.
//!
//! A version that cannot be decoded is held back, and the watch goes on: the client keeps its last
//! state of the object until a decodable version arrives or the object is removed.
//!
//! Over an engine, a watch holds a position in the history and at most one page of initial objects,
//! however slowly it is read; over a watch cache, a bounded buffer. It ends with one error event,
//! or on drop. The caller enforces its timeout, and passes it in so that a bookmark is sent in
//! time.

mod held;
mod rewrite;
mod start;
mod views;

use self::held::{ClientState, HeldBack};
use self::views::{Views, convert};
use crate::storage::StorageWatchRequest;
use crate::storage::list::{narrow, no_keys};
use crate::storage::reader::{Interest, Snapshot, WatchSource};
use crate::storage::upstream_form::kind_lacks_watch_cache_upstream;
use crate::storage::watch_event::{INITIAL_EVENTS_END, WatchEvent};
use crate::storage::work_budget::{OBJECT, WorkBudget};
use crate::stored::Stored;
use crate::stored::codec::StoredCodec;
use crate::stored::scheme::StoredKind;
use bytes::Bytes;
use kubist_api::Kind;
use kubist_apimachinery::Status;
use kubist_storage::{KeyRange, Watch, WatchBatch, WatchError};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// A running watch. Dropping it ends it.
pub struct EventStream {
    codec: StoredCodec,
    source: Arc<dyn WatchSource>,
    kind: &'static Kind,
    interest: Interest,
    /// Whether everything in the range is selected.
    everything: bool,
    /// Whether the initial events omit objects that cannot be decoded.
    skip_unreadable: bool,
    held: HeldBack,
    /// The received events that are not delivered yet.
    pending: Option<WatchBatch>,
    /// The objects of these events, if they are converted.
    views: Views,
    state: State,
    bookmarks: Option<Bookmarks>,
    budget: WorkBudget,
    /// An external signal that ends the watch.
    ends: Option<watch::Receiver<()>>,
}

/// The next step of a watch.
enum State {
    /// Existing objects, read page by page from one snapshot.
    Initial(Initial),
    /// Events of the engine.
    Live(Watch),
    /// A final error event.
    Failed(Box<Status>),
    /// The watch has ended.
    Over,
}

struct Initial {
    snapshot: Snapshot,
    /// The remaining keys.
    rest: KeyRange,
    /// Whether a bookmark marks the end of the initial events.
    end_bookmark: bool,
}

/// When bookmarks are due.
#[derive(Clone, Copy, Debug)]
struct Bookmarks {
    due: Instant,
    /// The one before the timeout of the watch; `None` once it was sent.
    last: Option<Instant>,
    /// Whether one is due and progress was requested.
    asked: bool,
    /// The revision up to which everything was delivered.
    delivered: u64,
}

/// The page size of initial objects.
const INITIAL_PAGE: usize = 500;
/// The interval of bookmarks for clients that request them, as upstream.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The time between the last bookmark and the end of a watch, as upstream.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);
/// The wait for a progress notification before another request.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(1);

impl EventStream {
    /// Starts a watch of `range`. Errors that upstream reports within a stream arrive as its only
    /// event. `timeout`: when the caller will end it.
    pub(crate) async fn start(
        codec: StoredCodec,
        source: Arc<dyn WatchSource>,
        request: StorageWatchRequest<'_>,
    ) -> Result<Self, Status> {
        let range = narrow(codec.keys(), request.scope, request.predicate);
        let interest = Interest {
            // A selector that contradicts the scope never selects anything: an empty range.
            range: range.unwrap_or_else(|| no_keys(codec.keys())),
            predicate: request.predicate.clone(),
        };
        let begin = start::begin(&*source, &interest, request.options, request.kind).await?;
        let now = Instant::now();
        let wanted = request.options.allow_watch_bookmarks;
        let bookmarks = wanted.then(|| Bookmarks {
            due: now + BOOKMARK_EVERY,
            last: request
                .timeout
                .map(|it| now + it.saturating_sub(BOOKMARK_BEFORE_END)),
            asked: false,
            delivered: begin.revision,
        });
        let predicate = request.predicate;
        let one_key = interest.range.as_key().is_some();
        let everything = predicate.is_everything() || (one_key && predicate.is_a_name());
        Ok(Self {
            codec,
            source,
            kind: request.kind,
            interest,
            everything,
            skip_unreadable: request.skip_unreadable,
            held: HeldBack::default(),
            pending: None,
            views: Views::default(),
            state: begin.state,
            bookmarks,
            budget: WorkBudget::new(),
            ends: None,
        })
    }

    /// Adds a signal: the watch ends when `ends` changes or is closed, after the pending events.
    pub(crate) fn ending_with(mut self, ends: watch::Receiver<()>) -> Self {
        self.ends = Some(ends);
        self
    }

    /// Returns the next events, never an empty batch. `None` after the watch has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<Vec<WatchEvent>> {
        let Some(mut ends) = self.ends.clone() else {
            return self.next_event().await;
        };
        tokio::select! {
            biased;
            events = self.next_event() => events,
            _ = ends.changed() => {
                self.state = State::Over;
                None
            }
        }
    }

    async fn next_event(&mut self) -> Option<Vec<WatchEvent>> {
        loop {
            // Yields before taking events that would be lost if this future is dropped.
            self.budget.rest().await;
            let events = match &mut self.state {
                State::Over => return None,
                State::Failed(status) => {
                    let event = WatchEvent::Error(status.clone());
                    self.state = State::Over;
                    return Some(vec![event]);
                }
                State::Initial(_) => self.initial().await,
                State::Live(_) => self.live().await,
            };
            match events {
                Ok(events) if events.is_empty() => {}
                Ok(events) => return Some(events),
                Err(status) => self.state = State::Failed(Box::new(status)),
            }
        }
    }

    /// Returns a bookmark with which the watch can end now, so that its client can resume from its
    /// position. `None` if the client requested no bookmarks, or has not received all initial
    /// objects.
    pub fn final_bookmark(&self) -> Option<WatchEvent> {
        let bookmarks = self.bookmarks.as_ref()?;
        matches!(self.state, State::Live(_)).then(|| self.bookmark(bookmarks.delivered, false))
    }

    async fn initial(&mut self) -> Result<Vec<WatchEvent>, Status> {
        let State::Initial(initial) = &self.state else {
            return Ok(Vec::new());
        };
        let (snapshot, end_bookmark) = (initial.snapshot.clone(), initial.end_bookmark);
        let predicate = &self.interest.predicate;
        let page = start::page(&snapshot, predicate, initial.rest.clone()).await?;
        if self.source.is_cache() {
            let cache = &self.codec.metrics().cache;
            cache.init_events.add(page.kvs.len());
        }
        let (mut keys, mut found) = (Vec::new(), Vec::with_capacity(page.kvs.len()));
        for kv in &page.kvs {
            let match_cost = OBJECT + self.interest.predicate.cost();
            self.budget.spend(match_cost + kv.value.len()).await;
            let stored = self.codec.stored(kv);
            if let Err(failure) = self.check(&stored) {
                // A client treats the initial events as the complete list.
                if !self.skip_unreadable || !self.held.hold(&kv.key, ClientState::Absent) {
                    return Err(failure);
                }
                self.log_held_back(kv, &failure);
                continue;
            }
            keys.push(&kv.key);
            found.push(stored);
        }
        let found = convert(self.conversion(), found).await?;
        let mut events = Vec::with_capacity(found.len() + 1);
        for (key, stored) in keys.into_iter().zip(found) {
            let (namespace, name) = self.codec.keys().names(key);
            if self.interest.predicate.matches(&stored, namespace, name) {
                events.push(WatchEvent::Added(stored.in_version(self.kind)?));
            }
        }
        if let (true, Some(last)) = (page.more, page.kvs.last()) {
            let mut after = last.key.to_vec();
            after.push(0);
            let rest = self.interest.range.resumed_at(Bytes::from(after));
            self.state = State::Initial(Initial {
                snapshot,
                rest,
                end_bookmark,
            });
        } else {
            if end_bookmark {
                events.push(self.bookmark(snapshot.revision, true));
            }
            let (after, generation) = (snapshot.revision, Some(snapshot.generation));
            let watch = self.source.follow(&self.interest, after, generation).await;
            self.state = State::Live(watch.map_err(|error| failure(&error, self.kind))?);
        }
        Ok(events)
    }

    async fn live(&mut self) -> Result<Vec<WatchEvent>, Status> {
        if self.pending.is_some() {
            return self.deliver_pending().await;
        }
        let State::Live(watch) = &mut self.state else {
            return Ok(Vec::new());
        };
        let batch = match &self.bookmarks {
            None => watch.next().await,
            Some(bookmarks) => {
                let Ok(batch) = timeout_at(bookmarks.next_due(), watch.next()).await else {
                    watch.request_progress();
                    if let Some(bookmarks) = &mut self.bookmarks {
                        bookmarks.record_request(Instant::now());
                    }
                    return Ok(Vec::new());
                };
                batch
            }
        };
        match batch {
            // The engine was closed.
            None => {
                self.state = State::Over;
                Ok(Vec::new())
            }
            Some(Err(error)) => Err(failure(&error, self.kind)),
            Some(Ok(batch)) => {
                self.pending = Some(batch);
                self.deliver_pending().await
            }
        }
    }

    /// Delivers the received events. They are kept until their objects are converted, so that
    /// dropping the future loses none.
    async fn deliver_pending(&mut self) -> Result<Vec<WatchEvent>, Status> {
        let conversion = self.conversion();
        self.views = self.unconverted().convert(conversion).await?;
        let Some(batch) = self.pending.take() else {
            return Ok(Vec::new());
        };
        let delivered = self.deliver(&batch);
        self.views = Views::default();
        delivered
    }

    fn deliver(&mut self, batch: &WatchBatch) -> Result<Vec<WatchEvent>, Status> {
        if !self.source.is_cache() {
            self.codec.metrics().delivered(batch.events.len());
        }
        let mut events = Vec::with_capacity(batch.events.len());
        for event in &batch.events {
            let written = event.current().map_or(0, |kv| kv.value.len());
            let match_cost = OBJECT + self.interest.predicate.cost();
            self.budget.note(match_cost + written);
            events.extend(self.rewrite(event)?);
        }
        let is_due = self
            .bookmarks
            .as_mut()
            .is_some_and(|it| it.advance(batch.revision.0));
        if is_due {
            events.push(self.bookmark(batch.revision.0, false));
        }
        Ok(events)
    }

    fn bookmark(&self, revision: u64, ends_initial: bool) -> WatchEvent {
        let mut object = self
            .kind
            .new_object()
            .expect("only kinds with metadata are watched");
        let strategy = self.interest.predicate.strategy();
        (strategy.facts().complete_bookmark)(&mut *object);
        if ends_initial {
            let annotations = &mut object.meta_mut().annotations;
            annotations.insert(INITIAL_EVENTS_END.into(), "true".into());
        }
        // A bookmark is an empty object: no rule of a scheme applies.
        let kind = StoredKind::plain(self.kind);
        WatchEvent::Bookmark(Stored::from_object(kind, revision, object))
    }
}

impl Bookmarks {
    fn next_due(&self) -> Instant {
        self.last.map_or(self.due, |last| last.min(self.due))
    }

    /// Records a progress request, and when to repeat it without an answer.
    fn record_request(&mut self, now: Instant) {
        self.asked = true;
        if self.last.is_some_and(|last| last <= now) {
            self.last = None;
        }
        self.due = now + PROGRESS_TIMEOUT;
    }

    /// Records the progress of the watch. Returns whether a bookmark is due.
    fn advance(&mut self, revision: u64) -> bool {
        self.delivered = self.delivered.max(revision);
        if !self.asked {
            return false;
        }
        self.asked = false;
        self.due = Instant::now() + BOOKMARK_EVERY;
        true
    }
}

/// Returns the error event for a watch that the engine ended.
fn failure(error: &WatchError, kind: &Kind) -> Status {
    match error {
        WatchError::Compacted { .. } if kind_lacks_watch_cache_upstream(kind) => {
            Status::expired("The resourceVersion for the provided watch is too old.")
        }
        WatchError::Compacted {
            requested,
            compacted,
        } => Status::too_old_resource_version(requested.previous().0, compacted.0),
        other => Status::internal_error(other),
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("range", &self.interest.range)
            .field("bookmarks", &self.bookmarks)
            .finish_non_exhaustive()
    }
}
