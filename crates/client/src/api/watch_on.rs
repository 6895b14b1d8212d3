//! A resumable watch: when the server ends it, it continues from the last resource version.
//!
//! It does less than a reflector: it does not list, so it ends with an error when the resource
//! version has expired. It suits programs that follow events and keep no copy of the objects.
//! Upstream's `RetryWatcher`.

use super::Api;
use crate::error::{ApiError, RequestError};
use crate::passing::Passing;
use futures_core::Stream;
use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use kubist_apimachinery::{ListOptions, Object, ResourceVersion, Retry, Str};
use kubist_cache::WatchItem;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// The shortest time between the starts of two watches; the same as in client-go.
const RESTART_MIN: Duration = Duration::from_secs(1);

type Events<K> = BoxStream<'static, Result<WatchItem<K>, ApiError>>;

/// A resumable watch: a stream of events that also reports why none arrive. See [`Api::watch_on`].
pub struct WatchOn<K> {
    events: Events<K>,
    passing: Arc<Passing>,
}

impl<K> WatchOn<K> {
    /// Returns the current problem in one line with cause and advice; none if there is none.
    pub fn last_problem(&self) -> Option<Str> {
        self.passing.last()
    }
}

impl<K> Stream for WatchOn<K> {
    type Item = Result<WatchItem<K>, ApiError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().events.poll_next_unpin(cx)
    }
}

impl<K> fmt::Debug for WatchOn<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchOn")
            .field("last_problem", &self.last_problem())
            .finish_non_exhaustive()
    }
}

impl<K: Object> Api<K> {
    /// Watches from the resource version in the options, and resumes after the server ends the
    /// watch, after lost connections and after transient errors, with at most one request a second.
    /// Bookmarks are requested and used, but not delivered.
    ///
    /// A permanent error is the last item: 410 when the resource version has expired, 401, 403, and
    /// any other error with [`Retry::Never`]. An object without a resource version is a
    /// [`RequestError::NoVersion`].
    ///
    /// While it cannot watch, it keeps trying and logs a warning at most once in ten seconds.
    /// [`WatchOn::last_problem`] returns the most recent problem.
    ///
    /// Cancel safety: dropping the stream ends it.
    ///
    /// # Errors
    /// The options have no resource version, or `0`: events could be missed or repeated.
    pub fn watch_on(&self, options: &ListOptions) -> Result<WatchOn<K>, ApiError> {
        let kind = &self.resource().kind;
        let what = match self.namespace() {
            Some(namespace) => format!("the watch of {kind} in {namespace}"),
            None => format!("the watch of {kind}"),
        };
        let passing = Arc::new(Passing::new(what));
        let events = self.follow(options, Arc::clone(&passing))?;
        Ok(WatchOn { events, passing })
    }

    /// Same as [`Self::watch_on`], reporting problems to `passing`.
    pub(super) fn follow(
        &self,
        options: &ListOptions,
        passing: Arc<Passing>,
    ) -> Result<Events<K>, ApiError> {
        let version = &options.resource_version;
        if version.is_unset() || version.is_any() {
            return Err(RequestError::NoVersion.into());
        }
        let options = ListOptions {
            allow_watch_bookmarks: true,
            ..options.clone()
        };
        let follower = Follower {
            api: self.clone(),
            options,
            events: None,
            next_start: Instant::now(),
            done: false,
            passing,
        };
        let items = futures_util::stream::unfold(follower, |mut follower| async move {
            let item = follower.next().await?;
            Some((item, follower))
        });
        Ok(items.boxed())
    }
}

struct Follower<K> {
    api: Api<K>,
    /// The options, with the resource version to resume from.
    options: ListOptions,
    events: Option<Events<K>>,
    /// The earliest time of the next request.
    next_start: Instant,
    done: bool,
    passing: Arc<Passing>,
}

impl<K: Object> Follower<K> {
    async fn next(&mut self) -> Option<Result<WatchItem<K>, ApiError>> {
        while !self.done {
            let Some(events) = &mut self.events else {
                if let Err(error) = self.start().await {
                    return Some(Err(error));
                }
                continue;
            };
            match events.next().await {
                None => self.events = None,
                Some(Err(error)) => {
                    self.events = None;
                    if let Err(error) = self.pause(error) {
                        return Some(Err(error));
                    }
                }
                Some(Ok(item)) => {
                    if let Some(item) = self.see(item).transpose() {
                        return Some(item);
                    }
                }
            }
        }
        None
    }

    async fn start(&mut self) -> Result<(), ApiError> {
        tokio::time::sleep_until(self.next_start).await;
        self.next_start = Instant::now() + RESTART_MIN;
        match self.api.watch(&self.options).await {
            Ok(events) => {
                self.events = Some(events);
                self.passing.answered();
            }
            Err(error) => self.pause(error)?,
        }
        Ok(())
    }

    /// Delays the next request according to the error; a permanent error ends the stream.
    fn pause(&mut self, error: ApiError) -> Result<(), ApiError> {
        match error.retry() {
            Retry::Backoff => {
                self.passing.failed(&error);
                Ok(())
            }
            Retry::After(wait) => {
                self.passing.failed(&error);
                self.next_start = self.next_start.max(Instant::now() + wait);
                Ok(())
            }
            Retry::Never | Retry::Relist => {
                self.done = true;
                Err(error)
            }
        }
    }

    /// Notes the resource version of an event; bookmarks carry only that.
    fn see(&mut self, item: WatchItem<K>) -> Result<Option<WatchItem<K>>, ApiError> {
        let version = match &item {
            WatchItem::Added(object) | WatchItem::Modified(object) | WatchItem::Deleted(object) => {
                object.resource_version().into()
            }
            WatchItem::Bookmark {
                resource_version, ..
            } => resource_version.clone(),
            // If the resource version cannot be read, the next event provides one.
            WatchItem::Invalid(event) if event.resource_version.is_unset() => {
                return Ok(Some(item));
            }
            WatchItem::Invalid(event) => event.resource_version.clone(),
        };
        if ResourceVersion::is_unset(&version) {
            self.done = true;
            return Err(RequestError::NoVersion.into());
        }
        self.options.resource_version = version;
        Ok((!matches!(item, WatchItem::Bookmark { .. })).then_some(item))
    }
}
