//! `Reflector`: the driver that carries out what the [`Machine`] decides.
//!
//! It owns the requests and streams, turns items into [`Queue`] entries, and reports what went
//! wrong. It spawns nothing: its owner calls [`Reflector::step`] again and again.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use kubist_apimachinery::{Object, ObjectName};
use kubist_cache::{
    FetchError, InvalidItem, ListBatch, ListItem, ListStream, Lister, ListerWatcher, Queue,
    Replacement, WatchItem, WatchStream,
};
use tokio::time::Instant;

use crate::machine::{Action, Config, Consequence, End, Event, Machine, Verdict};

/// A change of each object as it arrives, before anybody sees it.
pub type Transform<K> = Arc<dyn Fn(&mut K) + Send + Sync>;

/// Something that went wrong, or was not as it should be. The reflector goes on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Report {
    /// A list failed.
    ListFailed(FetchError),
    /// A watch could not be opened, or ended with an error; and what is done about it.
    WatchFailed(FetchError, Consequence),
    /// A watch ended at once, without an error and without an event.
    WatchTooShort,
    /// Nothing came for longer than the server should be silent.
    WatchSilent(Consequence),
    /// An object could not be read. Whatever was known of it stays.
    Invalid(InvalidItem),
}

/// What a reflector has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Lists completed, by pages or streaming.
    pub lists: u64,
    /// Watches opened, streaming lists included.
    pub watches: u64,
    /// Objects received through lists.
    pub listed: u64,
    /// Events received through watches, bookmarks not counted.
    pub events: u64,
    /// Bookmarks received.
    pub bookmarks: u64,
    /// Objects that could not be read.
    pub invalid: u64,
    /// Listed objects that the store had already in the same version.
    pub unchanged: u64,
    /// Lists and watches that failed.
    pub failures: u64,
}

/// Keeps a queue in step with a server.
pub struct Reflector<K> {
    source: Arc<dyn ListerWatcher<K>>,
    machine: Machine,
    known: Option<Lister<K>>,
    transform: Option<Transform<K>>,
    io: Io<K>,
    gathered: Vec<Arc<K>>,
    unreadable: Vec<ObjectName>,
    started: Instant,
    stats: Stats,
}

/// The request or stream at hand.
enum Io<K> {
    None,
    OpeningList(BoxFuture<'static, Result<ListStream<K>, FetchError>>),
    List(ListStream<K>),
    OpeningWatch(BoxFuture<'static, Result<WatchStream<K>, FetchError>>),
    Watch(WatchStream<K>),
}

impl<K: Object> Reflector<K> {
    /// A reflector that has done nothing yet. `seed` varies pauses and watch timeouts.
    pub fn new(source: Arc<dyn ListerWatcher<K>>, config: Config, seed: u64) -> Self {
        let mut machine = Machine::new(config, seed);
        if !source.supports_streaming_list() {
            machine.refuse_streaming();
        }
        Self {
            source,
            machine,
            known: None,
            transform: None,
            io: Io::None,
            gathered: Vec::new(),
            unreadable: Vec::new(),
            started: Instant::now(),
            stats: Stats::default(),
        }
    }

    /// Listed objects that this store has in the same version are taken from it, so that a relist
    /// needs hardly more memory than the store.
    #[must_use]
    pub fn with_known(mut self, lister: Lister<K>) -> Self {
        self.known = Some(lister);
        self
    }

    /// Changes each object as it arrives, once.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<K>) -> Self {
        self.transform = Some(transform);
        self
    }

    /// What was done so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The last version seen.
    pub fn version(&self) -> &kubist_apimachinery::ResourceVersion {
        self.machine.version()
    }

    /// Waits until something was put into the queue, or is to be reported; reports go to `report`.
    ///
    /// # Cancel safety
    /// Safe: a dropped future loses nothing, the next call goes on where it was.
    pub async fn step(
        &mut self,
        queue: &mut dyn Queue<K>,
        report: &mut (dyn FnMut(Report) + Send),
    ) {
        loop {
            let progress = match &mut self.io {
                Io::None => {
                    self.begin().await;
                    false
                }
                Io::OpeningList(opening) => {
                    let opened = opening.await;
                    self.list_opened(opened, report)
                }
                Io::List(stream) => {
                    let item = next(stream).await;
                    self.list_item(item, queue, report)
                }
                Io::OpeningWatch(opening) => {
                    let deadline = deadline(&mut self.machine, self.started);
                    match tokio::time::timeout_at(deadline, opening).await {
                        Ok(opened) => self.watch_opened(opened, report),
                        Err(_) => self.watch_end(&End::Silent, report),
                    }
                }
                Io::Watch(stream) => {
                    let deadline = deadline(&mut self.machine, self.started);
                    match tokio::time::timeout_at(deadline, next(stream)).await {
                        Ok(item) => self.watch_item(item, queue, report),
                        Err(_) => self.watch_end(&End::Silent, report),
                    }
                }
            };
            if progress {
                return;
            }
        }
    }

    /// Time since the reflector was made, which is the machine's clock.
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    async fn begin(&mut self) {
        let source = Arc::clone(&self.source);
        match self.machine.action(self.now()) {
            Action::List(request) => {
                self.io = Io::OpeningList(Box::pin(async move { source.list(request).await }));
            }
            Action::Watch(request) => {
                self.stats.watches += 1;
                self.io = Io::OpeningWatch(Box::pin(async move { source.watch(request).await }));
            }
            Action::Pause { until } => tokio::time::sleep_until(self.started + until).await,
            Action::Read { .. } => {
                // There is nothing to read from: the watch must be opened anew.
                self.machine.watch_ended(self.now(), &End::Clean);
            }
        }
    }

    fn list_opened(
        &mut self,
        opened: Result<ListStream<K>, FetchError>,
        report: &mut (dyn FnMut(Report) + Send),
    ) -> bool {
        match opened {
            Ok(stream) => {
                self.io = Io::List(stream);
                false
            }
            Err(error) => self.list_end(error, report),
        }
    }

    fn list_end(&mut self, error: FetchError, report: &mut (dyn FnMut(Report) + Send)) -> bool {
        self.io = Io::None;
        self.forget();
        self.stats.failures += 1;
        self.machine.list_failed(self.now(), &error);
        report(Report::ListFailed(error));
        true
    }

    fn list_item(
        &mut self,
        item: Option<Result<ListBatch<K>, FetchError>>,
        queue: &mut dyn Queue<K>,
        report: &mut (dyn FnMut(Report) + Send),
    ) -> bool {
        match item {
            Some(Ok(ListBatch::Items(items))) => {
                for item in items {
                    match item {
                        ListItem::Object(object) => self.gather(object),
                        ListItem::Invalid(item) => {
                            self.unreadable.extend(item.name.clone());
                            self.invalid(item, report);
                        }
                    }
                }
                false
            }
            Some(Ok(ListBatch::End(end))) => {
                self.io = Io::None;
                let complete = self.machine.page_complete(&end);
                if complete {
                    self.complete(queue);
                }
                complete
            }
            Some(Err(error)) => self.list_end(error, report),
            None => {
                let message = "the list ended early".into();
                self.list_end(
                    FetchError::Other {
                        message,
                        source: None,
                    },
                    report,
                )
            }
        }
    }

    fn watch_opened(
        &mut self,
        opened: Result<WatchStream<K>, FetchError>,
        report: &mut (dyn FnMut(Report) + Send),
    ) -> bool {
        match opened {
            Ok(stream) => {
                self.machine.watch_opened(self.now());
                self.io = Io::Watch(stream);
                false
            }
            Err(error) => self.watch_end(&End::Failed(&error), report),
        }
    }

    fn watch_item(
        &mut self,
        item: Option<Result<Vec<WatchItem<K>>, FetchError>>,
        queue: &mut dyn Queue<K>,
        report: &mut (dyn FnMut(Report) + Send),
    ) -> bool {
        match item {
            Some(Ok(items)) => {
                let before = queue.len();
                for item in items {
                    self.event(item, queue, report);
                }
                queue.len() > before
            }
            Some(Err(error)) => self.watch_end(&End::Failed(&error), report),
            None => self.watch_end(&End::Clean, report),
        }
    }

    fn watch_end(&mut self, end: &End<'_>, report: &mut (dyn FnMut(Report) + Send)) -> bool {
        self.io = Io::None;
        self.forget();
        let now = self.now();
        let was_refused = self.machine.is_streaming_refused();
        let consequence = self.machine.watch_ended(now, end);
        if self.machine.is_streaming_refused() && !was_refused {
            self.source.streaming_list_refused();
        }
        let told = match end {
            End::Clean => {
                // A clean end is a failure only where a pause follows.
                if !self.machine.is_pausing(now) {
                    return false;
                }
                Report::WatchTooShort
            }
            End::Failed(error) => Report::WatchFailed((*error).clone(), consequence),
            End::Silent => Report::WatchSilent(consequence),
        };
        self.stats.failures += 1;
        report(told);
        true
    }

    fn event(
        &mut self,
        item: WatchItem<K>,
        queue: &mut dyn Queue<K>,
        report: &mut (dyn FnMut(Report) + Send),
    ) {
        let now = self.now();
        let event = match &item {
            WatchItem::Added(object) => Event::Added(object.resource_version()),
            WatchItem::Modified(object) => Event::Modified(object.resource_version()),
            WatchItem::Deleted(object) => Event::Deleted(object.resource_version()),
            WatchItem::Bookmark {
                resource_version,
                initial_events_end,
            } => Event::Bookmark {
                version: resource_version.as_str(),
                initial_events_end: *initial_events_end,
            },
            WatchItem::Invalid(_) => Event::Invalid,
        };
        let verdict = self.machine.event(now, event);
        match (verdict, item) {
            (verdict, WatchItem::Invalid(item)) => {
                if verdict == Verdict::Gather {
                    self.unreadable.extend(item.name.clone());
                }
                self.invalid(item, report);
            }
            (Verdict::Complete, _) => self.complete(queue),
            (Verdict::Gather, WatchItem::Added(object) | WatchItem::Modified(object)) => {
                self.gather(object);
            }
            (Verdict::Gather, WatchItem::Deleted(object)) => {
                let (namespace, name) = (object.namespace(), object.name());
                self.gathered
                    .retain(|it| it.name() != name || it.namespace() != namespace);
            }
            (Verdict::Deliver, item) => self.deliver(item, queue),
            (Verdict::Ignore | Verdict::Gather, _) => {}
        }
    }

    fn deliver(&mut self, item: WatchItem<K>, queue: &mut dyn Queue<K>) {
        self.stats.events += 1;
        match item {
            WatchItem::Added(object) => queue.add(self.made(object)),
            WatchItem::Modified(object) => queue.update(self.made(object)),
            WatchItem::Deleted(object) => queue.delete(self.made(object)),
            WatchItem::Bookmark {
                resource_version, ..
            } => {
                self.stats.events -= 1;
                self.stats.bookmarks += 1;
                queue.bookmark(resource_version);
            }
            WatchItem::Invalid(_) => {}
        }
    }

    fn made(&self, mut object: K) -> Arc<K> {
        if let Some(transform) = &self.transform {
            transform(&mut object);
        }
        Arc::new(object)
    }

    /// Keeps a listed object, in the form in which the store has it already if that is the same.
    fn gather(&mut self, object: K) {
        self.stats.listed += 1;
        let known = self.known.as_ref().and_then(|known| {
            known
                .find(object.namespace(), object.name())
                .filter(|held| {
                    !object.resource_version().is_empty()
                        && held.resource_version() == object.resource_version()
                        && held.uid() == object.uid()
                })
        });
        self.stats.unchanged += u64::from(known.is_some());
        let object = known.unwrap_or_else(|| self.made(object));
        self.gathered.push(object);
    }

    fn invalid(&mut self, item: InvalidItem, report: &mut (dyn FnMut(Report) + Send)) {
        self.stats.invalid += 1;
        report(Report::Invalid(item));
    }

    fn complete(&mut self, queue: &mut dyn Queue<K>) {
        self.stats.lists += 1;
        queue.replace(Replacement {
            resource_version: self.machine.version().clone(),
            objects: std::mem::take(&mut self.gathered),
            unreadable: std::mem::take(&mut self.unreadable),
        });
    }

    fn forget(&mut self) {
        self.gathered = Vec::new();
        self.unreadable = Vec::new();
    }
}

/// Until when the watch at hand may be silent.
fn deadline(machine: &mut Machine, started: Instant) -> Instant {
    match machine.action(started.elapsed()) {
        Action::Read { deadline } => started + deadline,
        _ => started,
    }
}

async fn next<S: futures_core::Stream + ?Sized>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await
}

impl<K> fmt::Debug for Reflector<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector")
            .field("machine", &self.machine)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}
