//! `Namespaces`: several namespaces as one source, so that they are one informer with one store.
//!
//! Its list is the concatenation of the namespaces' lists, and its watch merges their watches. It
//! records the version that each namespace has reached, so each resumes from there. An event of one
//! namespace says nothing about the others: only bookmarks carry the version up to which all are
//! complete ([`ListerWatcher::is_ordered`]).

use futures_core::Stream;
use futures_core::future::BoxFuture;
use kubist_apimachinery::{Object, ResourceVersion, Str};
use kubist_cache::{
    FetchError, ListBatch, ListEnd, ListRequest, ListStream, ListerWatcher, WatchItem,
    WatchRequest, WatchStream,
};
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

pub(crate) struct Namespaces<K> {
    sources: Vec<Arc<dyn ListerWatcher<K>>>,
    progress: Arc<Mutex<Progress>>,
}

struct Progress {
    /// The version that the current list was requested with.
    asked: ResourceVersion,
    /// The version that each namespace has reached.
    versions: Vec<ResourceVersion>,
}

impl Progress {
    /// Returns the version up to which all namespaces are complete; `None` if versions cannot be
    /// compared.
    fn least(&self) -> Option<ResourceVersion> {
        let mut least = self.versions.first()?;
        for version in &self.versions {
            if version.compare(least)? == Ordering::Less {
                least = version;
            }
        }
        Some(least.clone())
    }
}

impl<K: Object> Namespaces<K> {
    pub(crate) fn new(sources: Vec<Arc<dyn ListerWatcher<K>>>) -> Self {
        let progress = Progress {
            asked: ResourceVersion::default(),
            versions: vec![ResourceVersion::default(); sources.len()],
        };
        Self {
            sources,
            progress: Arc::new(Mutex::new(progress)),
        }
    }
}

impl<K: Object> ListerWatcher<K> for Namespaces<K> {
    fn list(&self, mut request: ListRequest) -> BoxFuture<'_, Result<ListStream<K>, FetchError>> {
        Box::pin(async move {
            // The token contains the namespace's position and the namespace's own token.
            let token = request.continue_token.clone();
            let (at, token) = token.split_once(':').unwrap_or(("0", ""));
            let at: usize = at.parse().unwrap_or(0);
            if request.continue_token.is_empty() {
                self.progress.lock().asked = request.resource_version.clone();
            } else if token.is_empty() {
                request.resource_version = self.progress.lock().asked.clone();
            }
            request.continue_token = token.into();
            let source = self.sources.get(at).ok_or_else(|| FetchError::Other {
                message: "a token of another list".into(),
                source: None,
            })?;
            let pages = Pages {
                list: source.list(request).await?,
                at,
                progress: Arc::clone(&self.progress),
            };
            Ok(Box::pin(pages) as ListStream<K>)
        })
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<K>, FetchError>> {
        Box::pin(async move {
            let mut watches = Vec::new();
            for (at, source) in self.sources.iter().enumerate() {
                let mut request = request.clone();
                let version = self.progress.lock().versions[at].clone();
                if !request.send_initial_events && !version.is_unset() {
                    request.resource_version = version;
                }
                watches.push(Watch {
                    events: source.watch(request).await?,
                    is_whole: false,
                });
            }
            for watch in &mut watches {
                watch.is_whole = !request.send_initial_events;
            }
            let merged = Merged {
                watches,
                next: 0,
                is_whole: !request.send_initial_events,
                reported: ResourceVersion::default(),
                progress: Arc::clone(&self.progress),
            };
            Ok(Box::pin(merged) as WatchStream<K>)
        })
    }

    fn supports_streaming_list(&self) -> bool {
        self.sources.iter().all(|it| it.supports_streaming_list())
    }

    fn streaming_list_refused(&self) {
        self.sources
            .iter()
            .for_each(|it| it.streaming_list_refused());
    }

    fn is_ordered(&self) -> bool {
        false
    }
}

/// A page of one namespace's list as a page of the combined list.
struct Pages<K> {
    list: ListStream<K>,
    at: usize,
    progress: Arc<Mutex<Progress>>,
}

impl<K> Pages<K> {
    fn end(&self, mut end: ListEnd) -> ListEnd {
        end.remaining = None;
        if !end.continue_token.is_empty() {
            end.continue_token = token(self.at, &end.continue_token);
            return end;
        }
        let mut progress = self.progress.lock();
        progress.versions[self.at] = end.resource_version.clone();
        if self.at + 1 < progress.versions.len() {
            end.continue_token = token(self.at + 1, "");
        } else {
            end.resource_version = progress.least().unwrap_or(end.resource_version);
        }
        end
    }
}

fn token(at: usize, token: &str) -> Str {
    format!("{at}:{token}").into()
}

impl<K> Stream for Pages<K> {
    type Item = Result<ListBatch<K>, FetchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = std::task::ready!(self.list.as_mut().poll_next(cx));
        Poll::Ready(item.map(|item| {
            item.map(|batch| match batch {
                ListBatch::End(end) => ListBatch::End(self.end(end)),
                items @ ListBatch::Items(_) => items,
            })
        }))
    }
}

/// The watches of all namespaces. It ends when one of them does, and the others resume with it.
struct Merged<K> {
    watches: Vec<Watch<K>>,
    /// The watch to poll first, so that a busy one does not starve the others.
    next: usize,
    /// Whether every watch has delivered its initial state.
    is_whole: bool,
    /// The version of the last bookmark.
    reported: ResourceVersion,
    progress: Arc<Mutex<Progress>>,
}

struct Watch<K> {
    events: WatchStream<K>,
    /// Whether it has delivered its initial state, so that its versions are in order.
    is_whole: bool,
}

/// No field is pinned.
impl<K> Unpin for Merged<K> {}

impl<K: Object> Merged<K> {
    fn took(&mut self, at: usize, items: Vec<WatchItem<K>>) -> Vec<WatchItem<K>> {
        let mut progress = self.progress.lock();
        let mut out = Vec::with_capacity(items.len() + 1);
        for item in items {
            let watch = &mut self.watches[at];
            let version = match &item {
                WatchItem::Added(object)
                | WatchItem::Modified(object)
                | WatchItem::Deleted(object) => object.resource_version().into(),
                WatchItem::Bookmark {
                    resource_version,
                    initial_events_end,
                } => {
                    watch.is_whole |= initial_events_end;
                    resource_version.clone()
                }
                WatchItem::Invalid(event) => event.resource_version.clone(),
            };
            if watch.is_whole && !version.is_unset() {
                progress.versions[at] = version;
            }
            if !matches!(item, WatchItem::Bookmark { .. }) {
                out.push(item);
            }
        }
        let initial_events_end = !self.is_whole && self.watches.iter().all(|it| it.is_whole);
        self.is_whole |= initial_events_end;
        let least = progress.least().filter(|_| self.is_whole);
        // The end of the initial state is reported even if versions cannot be compared.
        let least = least.or_else(|| initial_events_end.then(|| progress.versions[at].clone()));
        if let Some(resource_version) =
            least.filter(|it| initial_events_end || *it != self.reported)
        {
            self.reported = resource_version.clone();
            out.push(WatchItem::Bookmark {
                resource_version,
                initial_events_end,
            });
        }
        out
    }
}

impl<K: Object> Stream for Merged<K> {
    type Item = Result<Vec<WatchItem<K>>, FetchError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        for _ in 0..this.watches.len() {
            let at = this.next;
            this.next = (at + 1) % this.watches.len();
            // Each watch is polled until it is pending, so that each wakes this task.
            while let Poll::Ready(item) = this.watches[at].events.as_mut().poll_next(cx) {
                match item {
                    Some(Ok(items)) => {
                        let items = this.took(at, items);
                        if !items.is_empty() {
                            return Poll::Ready(Some(Ok(items)));
                        }
                    }
                    other => return Poll::Ready(other),
                }
            }
        }
        Poll::Pending
    }
}
