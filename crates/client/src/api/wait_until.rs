//! Waiting until an object is as somebody wants it.
//!
//! For programs that wait once: scripts, tests, commands. A controller reads its informer's lister
//! and is called again when something changes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use kubist_apimachinery::{FieldSelector, ListOptions, Object, ResourceVersion, Retry, Str};
use kubist_cache::{InvalidItem, ListItem, WatchItem};
use tokio::time::Instant;

use super::Api;
use crate::error::ApiError;
use crate::item_stream::Piece;
use crate::passing::Passing;

/// From one list to the next, where the list and its watch brought nothing.
const AGAIN_MIN: Duration = Duration::from_secs(1);
/// That time doubles with each, up to this.
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// Why a wait with a limit ended without the object.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitUntilError {
    /// The time was over first.
    #[error("{what} was not over after {limit:?}{}", because(.problem.as_ref()))]
    Timeout {
        /// What was waited for: kind and name.
        what: Str,
        /// The limit.
        limit: Duration,
        /// What kept it waiting last, in one line with the cause and what to do; none if the server
        /// answered, and the object was not as wanted.
        problem: Option<Str>,
    },
    /// The server refused, and would again.
    #[error(transparent)]
    Failed(#[from] ApiError),
}

fn because(problem: Option<&Str>) -> String {
    problem.map_or_else(String::new, |problem| format!(": {problem}"))
}

impl<K: Object> Api<K> {
    /// Waits until `condition` holds for the object of this name, and gives the object in the
    /// state in which it held; `None`, to the condition and as the result, means that there is no
    /// object. The condition sees the present state first, then every later one.
    ///
    /// It waits as long as it takes: [`Self::wait_until_within`] has a limit. What cannot be read
    /// counts as unchanged, and at the beginning as there but unknown: the condition is not asked.
    /// That it is gone is told in any case.
    ///
    /// While the server cannot be reached, fails in a way that passes, or sends what cannot be
    /// read, the wait goes on and the log says why: a warning, once in ten seconds at most.
    ///
    /// ```
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::Api;
    /// # async fn example(pods: Api<Pod>) -> Result<(), Box<dyn std::error::Error>> {
    /// let runs = |pod: Option<&Pod>| pod.is_some_and(|it| it.status.phase == "Running");
    /// let pod = pods.wait_until("web-0", runs).await?;
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
        condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<K>, ApiError> {
        let passing = Arc::new(Passing::new(self.wait_for(name)));
        self.wait(name, condition, &passing).await
    }

    /// As [`Self::wait_until`], for no longer than `limit`. It differs from a
    /// `tokio::time::timeout` around it in its error, which says what kept it waiting.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::{Api, WaitUntilError};
    /// # async fn example(pods: Api<Pod>) -> Result<(), WaitUntilError> {
    /// let minute = Duration::from_mins(1);
    /// pods.wait_until_within("web-1", minute, |pod| pod.is_none()).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// Cancel safety: dropping the future ends it; nothing is left behind.
    ///
    /// # Errors
    /// The limit came first, or what [`Self::wait_until`] says.
    pub async fn wait_until_within(
        &self,
        name: &str,
        limit: Duration,
        condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<K>, WaitUntilError> {
        let what = self.wait_for(name);
        let passing = Arc::new(Passing::new(what.clone()));
        let wait = self.wait(name, condition, &passing);
        match tokio::time::timeout(limit, wait).await {
            Ok(found) => Ok(found?),
            Err(_) => Err(WaitUntilError::Timeout {
                what,
                limit,
                problem: passing.last(),
            }),
        }
    }

    fn wait_for(&self, name: &str) -> Str {
        let kind = &self.resource().kind;
        match self.namespace() {
            Some(namespace) => format!("the wait for {kind} {namespace}/{name}").into(),
            None => format!("the wait for {kind} {name}").into(),
        }
    }

    async fn wait(
        &self,
        name: &str,
        mut condition: impl FnMut(Option<&K>) -> bool,
        passing: &Arc<Passing>,
    ) -> Result<Option<K>, ApiError> {
        let options = ListOptions {
            field_selector: FieldSelector::equals("metadata.name", name),
            ..ListOptions::default()
        };
        let mut lists = Lists::default();
        loop {
            tokio::time::sleep_until(lists.next()).await;
            let result = self.wait_once(&options, &mut lists, &mut condition, passing);
            let error = match result.await {
                Ok(Some(found)) => return Ok(found.0),
                // The watch cannot go on: list again.
                Ok(None) => continue,
                Err(error) => error,
            };
            let retry = error.retry();
            if retry == Retry::Never {
                return Err(error);
            }
            passing.failed(&error);
            if let Retry::After(wait) = retry {
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// One list, and the watch that follows it.
    async fn wait_once(
        &self,
        options: &ListOptions,
        lists: &mut Lists,
        condition: &mut impl FnMut(Option<&K>) -> bool,
        passing: &Arc<Passing>,
    ) -> Result<Option<Found<K>>, ApiError> {
        let (present, resource_version) = self.present(options).await?;
        passing.answered();
        let known = match present {
            Present::Object(object) => Some(Some(*object)),
            Present::Nothing => Some(None),
            Present::Unread(item) => {
                passing.unread(&item);
                None
            }
        };
        if let Some(object) = known {
            passing.read();
            if condition(object.as_ref()) {
                return Ok(Some(Found(object)));
            }
        }
        let options = ListOptions {
            resource_version,
            ..options.clone()
        };
        let mut events = self.follow(&options, Arc::clone(passing))?;
        while let Some(event) = events.next().await {
            let object = match event? {
                WatchItem::Added(object) | WatchItem::Modified(object) => Some(object),
                WatchItem::Deleted(_) => None,
                WatchItem::Invalid(event) if event.deleted().is_some() => None,
                // What happened cannot be read at all: the list tells.
                WatchItem::Invalid(event) if event.event.is_none() => {
                    passing.unread(&event.item);
                    return Ok(None);
                }
                WatchItem::Invalid(event) => {
                    passing.unread(&event.item);
                    continue;
                }
                WatchItem::Bookmark { .. } => continue,
            };
            passing.read();
            lists.in_vain = 0;
            if condition(object.as_ref()) {
                return Ok(Some(Found(object)));
            }
        }
        Ok(None)
    }

    /// What is there now, and at which version of the list.
    async fn present(
        &self,
        options: &ListOptions,
    ) -> Result<(Present<K>, ResourceVersion), ApiError> {
        let mut page = self.page(options).await?;
        let (mut present, mut version) = (Present::Nothing, ResourceVersion::default());
        while let Some(piece) = page.next().await {
            match piece? {
                Piece::Items(items) => {
                    if let Some(last) = items.into_iter().next_back() {
                        present = match last {
                            ListItem::Object(object) => Present::Object(Box::new(object)),
                            ListItem::Invalid(item) => Present::Unread(item),
                        };
                    }
                }
                Piece::End(metadata) => version = metadata.resource_version.into(),
            }
        }
        Ok((present, version))
    }
}

/// What a list says of one name.
enum Present<K> {
    Object(Box<K>),
    Unread(InvalidItem),
    Nothing,
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
