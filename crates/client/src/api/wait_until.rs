//! Waiting until an object is as somebody wants it.
//!
//! For programs that wait once: scripts, tests, commands. A controller reads its informer's lister
//! and is called again when something changes.

use std::time::Duration;

use futures_util::StreamExt as _;
use kubist_apimachinery::{FieldSelector, ListOptions, Object, Retry};
use kubist_cache::WatchItem;
use tokio::time::Instant;

use super::Api;
use crate::error::ApiError;

/// From one list to the next, where the list and its watch brought nothing.
const AGAIN_MIN: Duration = Duration::from_secs(1);
/// That time doubles with each, up to this.
const AGAIN_MAX: Duration = Duration::from_secs(30);

impl<K: Object> Api<K> {
    /// Waits until `condition` holds for the object of this name, and gives the object in the
    /// state in which it held; `None`, to the condition and as the result, means that there is no
    /// object. The condition sees the present state first, then every later one.
    ///
    /// It waits as long as it takes: put it into a `tokio::time::timeout`. What cannot be read
    /// counts as unchanged; that it is gone is told in any case.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::Api;
    /// # async fn example(pods: Api<Pod>) -> Result<(), Box<dyn std::error::Error>> {
    /// let runs = |pod: Option<&Pod>| pod.is_some_and(|it| it.status.phase == "Running");
    /// let running = pods.wait_until("web-0", runs);
    /// let pod = tokio::time::timeout(Duration::from_mins(1), running).await??;
    /// pods.wait_until("web-1", |pod| pod.is_none()).await?; // it is gone
    /// # drop(pod); Ok(()) }
    /// ```
    ///
    /// Cancel safety: dropping the future ends it; nothing is left behind.
    ///
    /// # Errors
    /// What the server says about the list or the watch, unless it passes.
    pub async fn wait_until(
        &self,
        name: &str,
        mut condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<K>, ApiError> {
        let options = ListOptions {
            field_selector: FieldSelector::equals("metadata.name", name),
            ..ListOptions::default()
        };
        let mut lists = Lists::default();
        loop {
            tokio::time::sleep_until(lists.next()).await;
            let result = self.wait_once(&options, &mut lists, &mut condition).await;
            match result.map_err(|error| (error.retry(), error)) {
                Ok(Some(found)) => return Ok(found.0),
                // The watch cannot go on: list again.
                Ok(None) | Err((Retry::Relist | Retry::Backoff, _)) => {}
                Err((Retry::After(wait), _)) => tokio::time::sleep(wait).await,
                Err((Retry::Never, error)) => return Err(error),
            }
        }
    }

    /// One list, and the watch that follows it.
    async fn wait_once(
        &self,
        options: &ListOptions,
        lists: &mut Lists,
        condition: &mut impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<Found<K>>, ApiError> {
        let mut list = self.list(options).await?;
        let object = list.items.pop();
        if condition(object.as_ref()) {
            return Ok(Some(Found(object)));
        }
        let options = ListOptions {
            resource_version: list.metadata.resource_version.into(),
            ..options.clone()
        };
        let mut events = self.watch_on(&options)?;
        while let Some(event) = events.next().await {
            let object = match event? {
                WatchItem::Added(object) | WatchItem::Modified(object) => Some(object),
                WatchItem::Deleted(_) => None,
                WatchItem::Invalid(event) if event.deleted().is_some() => None,
                // What happened cannot be read at all: the list tells.
                WatchItem::Invalid(event) if event.event.is_none() => return Ok(None),
                WatchItem::Bookmark { .. } | WatchItem::Invalid(_) => continue,
            };
            lists.in_vain = 0;
            if condition(object.as_ref()) {
                return Ok(Some(Found(object)));
            }
        }
        Ok(None)
    }
}

/// How often it had to list again.
#[derive(Debug, Default)]
struct Lists {
    /// Lists since the last event of a watch.
    in_vain: u32,
    /// When it listed last.
    last: Option<Instant>,
}

impl Lists {
    /// When the next list may be: the first at once, others ever later as long as nothing comes
    /// of them.
    fn next(&mut self) -> Instant {
        let now = Instant::now();
        let doublings = self.in_vain.saturating_sub(1).min(16);
        let pause = AGAIN_MAX.min(AGAIN_MIN * (1 << doublings));
        let next = self.last.map_or(now, |last| now.max(last + pause));
        self.in_vain = self.in_vain.saturating_add(1);
        self.last = Some(next);
        next
    }
}

/// The object for which the condition held, or its absence.
struct Found<K>(Option<K>);
