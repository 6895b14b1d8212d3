//! Waiting until an object meets a condition.
//!
//! For programs that wait once, such as scripts, tests and commands. A controller reads its
//! informer's lister instead and runs again when something changes.

use super::Api;
use crate::error::ApiError;
use crate::item_stream::Piece;
use crate::passing::Passing;
use futures_util::StreamExt as _;
use kubist_apimachinery::{FieldSelector, ListOptions, Object, ResourceVersion, Retry, Str};
use kubist_cache::{InvalidItem, ListItem, WatchItem};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The time between two lists when neither the list nor its watch brought anything.
const RELIST_PAUSE_MIN: Duration = Duration::from_secs(1);
/// The limit up to which that time doubles.
const RELIST_PAUSE_MAX: Duration = Duration::from_secs(30);

/// Why a wait with a time limit failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitUntilError {
    /// The time limit passed.
    #[error("{what} was not over after {limit:?}{}", because(.problem.as_ref()))]
    Timeout {
        /// The object: kind and name.
        what: Str,
        /// The limit.
        limit: Duration,
        /// The most recent problem, in one line with cause and advice; none if the server answered
        /// and the object did not meet the condition.
        problem: Option<Str>,
    },
    /// A permanent error.
    #[error(transparent)]
    Failed(#[from] ApiError),
}

fn because(problem: Option<&Str>) -> String {
    problem.map_or_else(String::new, |problem| format!(": {problem}"))
}

impl<K: Object> Api<K> {
    /// Waits until `condition` holds for the named object, and returns the object in that state.
    /// `None`, as the argument of the condition and as the result, means that the object does not
    /// exist. The condition is called with the current state first, then with every later one.
    ///
    /// There is no time limit; [`Self::wait_until_within`] has one. An object that cannot be
    /// decoded counts as unchanged, and at the start as existing: the condition is not called for
    /// it. A deletion is always observed.
    ///
    /// While the server is unreachable, fails with transient errors or sends objects that cannot be
    /// decoded, the wait goes on and logs a warning at most once in ten seconds.
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
    /// Cancel safety: dropping the future ends the wait.
    ///
    /// # Errors
    /// A permanent error of the list or the watch.
    pub async fn wait_until(
        &self,
        name: &str,
        condition: impl FnMut(Option<&K>) -> bool,
    ) -> Result<Option<K>, ApiError> {
        let passing = Arc::new(Passing::new(self.wait_for(name)));
        self.wait(name, condition, &passing).await
    }

    /// Same as [`Self::wait_until`], with a time limit. Unlike a `tokio::time::timeout` around it,
    /// its error names the problem that kept it waiting.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::{Api, WaitUntilError};
    /// # async fn example(pods: Api<Pod>) -> Result<(), WaitUntilError> {
    /// let minute = Duration::from_secs(60);
    /// pods.wait_until_within("web-1", minute, |pod| pod.is_none()).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// Cancel safety: dropping the future ends the wait.
    ///
    /// # Errors
    /// The limit has passed, or any error of [`Self::wait_until`].
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
                // The watch cannot be resumed: list again.
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

    /// One list and the watch after it.
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
                // The event cannot be decoded at all: the next list shows the state.
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
            lists.without_event = 0;
            if condition(object.as_ref()) {
                return Ok(Some(Found(object)));
            }
        }
        Ok(None)
    }

    /// The current object, and the resource version of the list.
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

/// What a list shows of one name.
enum Present<K> {
    Object(Box<K>),
    Unread(InvalidItem),
    Nothing,
}

/// How often the wait has listed.
#[derive(Debug, Default)]
struct Lists {
    /// The number of lists since the last watch event.
    without_event: u32,
    /// The time of the last list.
    last: Option<Instant>,
}

impl Lists {
    /// Returns the earliest time of the next list: the first at once, later ones with growing
    /// pauses while nothing arrives.
    fn next(&mut self) -> Instant {
        let now = Instant::now();
        let doublings = self.without_event.saturating_sub(1).min(16);
        let pause = RELIST_PAUSE_MAX.min(RELIST_PAUSE_MIN * (1 << doublings));
        let next = self.last.map_or(now, |last| now.max(last + pause));
        self.without_event = self.without_event.saturating_add(1);
        self.last = Some(next);
        next
    }
}

/// The object for which the condition held, or `None` if it does not exist.
struct Found<K>(Option<K>);
