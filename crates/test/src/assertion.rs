//! Assertions that wait: `eventually`, `never` and `stable`.
//!
//! They follow a watch, so they see every version of an object and wake nobody in between. Their
//! bounds are on tokio's clock: in virtual time they cost nothing. They do not retry a test.

mod difference;
pub(crate) mod error;
mod follow;
pub(crate) mod observer;

use error::{AssertionError, Failure};
use follow::Follow;
use kubist::apimachinery::wire::Encode;
use kubist::apimachinery::{ApiResource, Object, Selector, Str};
use kubist::client::{Api, ApiError};
use observer::Observer;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long `eventually` and `stable` wait unless told otherwise, in virtual time.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same in real time.
const REAL_PATIENCE: Duration = Duration::from_secs(10);

/// What is expected of one object.
///
/// ```
/// # use kubist::api::core::v1::ConfigMap;
/// # use kubist::client::Api;
/// # use kubist_test::TestServer;
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> kubist_test::Result {
/// # let server = TestServer::start().await?;
/// server.apply_yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}").await?;
/// server.object::<ConfigMap>("default", "a").eventually(|it| it.data.is_empty()).await?;
/// let minute = Duration::from_secs(60);
/// server.object::<ConfigMap>("default", "a").never(minute, |it| !it.data.is_empty()).await?;
/// # Ok(()) }
/// ```
#[must_use = "it expects nothing by itself"]
pub struct ExpectObject<K> {
    expect: Expect<K>,
}

/// What is expected of several objects.
///
/// ```
/// # use kubist::api::core::v1::ConfigMap;
/// # use kubist_test::TestServer;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> kubist_test::Result {
/// # let server = TestServer::start().await?;
/// let maps = server.objects::<ConfigMap>("default").labels("app=shop");
/// maps.eventually(|maps| maps.is_empty()).await?;
/// # Ok(()) }
/// ```
#[must_use = "it expects nothing by itself"]
pub struct ExpectObjects<K> {
    expect: Expect<K>,
}

struct Expect<K> {
    observer: Arc<Observer>,
    api: Api<K>,
    resource: ApiResource,
    namespace: Str,
    name: Option<Str>,
    labels: Str,
    patience: Duration,
}

impl<K: Object + Encode> ExpectObject<K> {
    pub(crate) fn new(observer: Arc<Observer>, api: Api<K>, namespace: &str, name: &str) -> Self {
        let expect = Expect::new(observer, api, namespace, Some(name.into()));
        Self { expect }
    }

    /// Bounds how long [`eventually`](Self::eventually) and its like wait. Default: a minute of
    /// virtual time, ten seconds of real time.
    pub fn within(mut self, bound: Duration) -> Self {
        self.expect.patience = bound;
        self
    }

    /// Waits until the object exists and meets a condition, and returns it.
    ///
    /// # Errors
    /// The bound has passed, or the object cannot be read.
    #[track_caller]
    pub fn eventually(
        self,
        mut condition: impl FnMut(&K) -> bool,
    ) -> impl Future<Output = Result<K, AssertionError>> {
        let location = Location::caller();
        async move {
            let met = |objects: &[K]| objects.first().is_some_and(&mut condition);
            let found = self.expect.until(location, "eventually", met).await?;
            // The condition was met by it.
            let gone = "it is gone";
            found
                .into_iter()
                .next()
                .ok_or_else(|| self.expect.fail(location, gone, None))
        }
    }

    /// Waits until the object does not exist.
    ///
    /// # Errors
    /// The bound has passed, or the object cannot be read.
    #[track_caller]
    pub fn eventually_gone(self) -> impl Future<Output = Result<(), AssertionError>> {
        let location = Location::caller();
        async move {
            let met = |objects: &[K]| objects.is_empty();
            self.expect
                .until(location, "eventually gone", met)
                .await
                .map(drop)
        }
    }

    /// Checks for this long that no version of the object meets a condition.
    ///
    /// # Errors
    /// A version meets it, or the object cannot be read.
    #[track_caller]
    pub fn never(
        self,
        time: Duration,
        mut condition: impl FnMut(&K) -> bool,
    ) -> impl Future<Output = Result<(), AssertionError>> {
        let location = Location::caller();
        async move {
            let met = |objects: &[K]| objects.first().is_some_and(&mut condition);
            self.expect.not_for(location, time, met).await
        }
    }

    /// Waits until the object has not changed for this long, and returns it; none if it does not
    /// exist.
    ///
    /// # Errors
    /// It still changes at the bound, or cannot be read.
    #[track_caller]
    pub fn stable(
        self,
        quiet: Duration,
    ) -> impl Future<Output = Result<Option<K>, AssertionError>> {
        let location = Location::caller();
        async move {
            let objects = self.expect.quiet_for(location, quiet).await?;
            Ok(objects.into_iter().next())
        }
    }
}

impl<K: Object + Encode> ExpectObjects<K> {
    pub(crate) fn new(observer: Arc<Observer>, api: Api<K>, namespace: &str) -> Self {
        let expect = Expect::new(observer, api, namespace, None);
        Self { expect }
    }

    /// Looks at the objects that a label selector selects, such as `app=web,tier!=back`.
    pub fn labels(mut self, selector: impl Into<Str>) -> Self {
        self.expect.labels = selector.into();
        self
    }

    /// Bounds how long [`eventually`](Self::eventually) and [`stable`](Self::stable) wait. Default:
    /// a minute of virtual time, ten seconds of real time.
    pub fn within(mut self, bound: Duration) -> Self {
        self.expect.patience = bound;
        self
    }

    /// Waits until the objects, by namespace and name, meet a condition, and returns them.
    ///
    /// # Errors
    /// The bound has passed, or the objects cannot be read.
    #[track_caller]
    pub fn eventually(
        self,
        condition: impl FnMut(&[K]) -> bool,
    ) -> impl Future<Output = Result<Vec<K>, AssertionError>> {
        let location = Location::caller();
        async move { self.expect.until(location, "eventually", condition).await }
    }

    /// Checks for this long that the objects never meet a condition. It is asked after each change
    /// of any of them.
    ///
    /// # Errors
    /// They meet it, or cannot be read.
    #[track_caller]
    pub fn never(
        self,
        time: Duration,
        condition: impl FnMut(&[K]) -> bool,
    ) -> impl Future<Output = Result<(), AssertionError>> {
        let location = Location::caller();
        async move { self.expect.not_for(location, time, condition).await }
    }

    /// Waits until none of the objects has changed for this long, and returns them.
    ///
    /// # Errors
    /// They still change at the bound, or cannot be read.
    #[track_caller]
    pub fn stable(self, quiet: Duration) -> impl Future<Output = Result<Vec<K>, AssertionError>> {
        let location = Location::caller();
        async move { self.expect.quiet_for(location, quiet).await }
    }
}

impl<K: Object + Encode> Expect<K> {
    fn new(observer: Arc<Observer>, api: Api<K>, namespace: &str, name: Option<Str>) -> Self {
        let patience = if observer.clock.is_virtual() {
            PATIENCE
        } else {
            REAL_PATIENCE
        };
        let api = if namespace.is_empty() {
            api
        } else {
            api.in_namespace(namespace)
        };
        Self {
            resource: api.resource().clone(),
            observer,
            api,
            namespace: namespace.into(),
            name,
            labels: Str::default(),
            patience,
        }
    }

    async fn until(
        &self,
        location: &'static Location<'static>,
        what: &str,
        mut met: impl FnMut(&[K]) -> bool,
    ) -> Result<Vec<K>, AssertionError> {
        let mut follow = self.follow(location)?;
        let until = Instant::now() + self.patience;
        loop {
            let Some(changed) = self.changed(&mut follow, until).await else {
                let why = format!("{what}: not within {:?}", self.patience);
                return Err(self.fail(location, &why, Some(&follow)));
            };
            changed.map_err(|why| self.fail(location, &why, Some(&follow)))?;
            if met(follow.objects()) {
                return Ok(follow.into_objects());
            }
        }
    }

    async fn not_for(
        &self,
        location: &'static Location<'static>,
        time: Duration,
        mut met: impl FnMut(&[K]) -> bool,
    ) -> Result<(), AssertionError> {
        let mut follow = self.follow(location)?;
        let begun = Instant::now();
        while let Some(changed) = self.changed(&mut follow, begun + time).await {
            changed.map_err(|why| self.fail(location, &why, Some(&follow)))?;
            if met(follow.objects()) {
                let why = format!("never for {time:?}: but after {:?}", begun.elapsed());
                return Err(self.fail(location, &why, Some(&follow)));
            }
        }
        Ok(())
    }

    async fn quiet_for(
        &self,
        location: &'static Location<'static>,
        quiet: Duration,
    ) -> Result<Vec<K>, AssertionError> {
        let mut follow = self.follow(location)?;
        let until = Instant::now() + self.patience;
        loop {
            let calm = Instant::now() + quiet;
            let Some(changed) = self.changed(&mut follow, calm).await else {
                return Ok(follow.into_objects());
            };
            changed.map_err(|why| self.fail(location, &why, Some(&follow)))?;
            if Instant::now() >= until {
                let why = format!("stable for {quiet:?}: not within {:?}", self.patience);
                return Err(self.fail(location, &why, Some(&follow)));
            }
        }
    }

    fn follow(&self, location: &'static Location<'static>) -> Result<Follow<K>, AssertionError> {
        let labels: Selector = self.labels.parse().map_err(|error| {
            let why = format!("{:?} is not a label selector: {error}", &*self.labels);
            self.fail(location, &why, None)
        })?;
        Ok(Follow::new(self.api.clone(), self.name.as_deref(), labels))
    }

    /// Waits for a change of the objects; none at the time. The error says why there will be none.
    async fn changed(&self, follow: &mut Follow<K>, until: Instant) -> Option<Result<(), String>> {
        tokio::select! {
            biased;
            reason = self.observer.pulse.stuck() => Some(Err(reason)),
            changed = follow.change() => Some(changed.map_err(|error| words(&error))),
            () = tokio::time::sleep_until(until) => None,
        }
    }

    fn fail(
        &self,
        location: &'static Location<'static>,
        why: &str,
        follow: Option<&Follow<K>>,
    ) -> AssertionError {
        let (kind, namespace) = (&self.resource.kind, &self.namespace);
        let subject = match (&self.name, namespace.is_empty()) {
            (Some(name), true) => format!("{kind} {name}"),
            (Some(name), false) => format!("{kind} {namespace}/{name}"),
            (None, true) => format!("all {}", self.resource.plural),
            (None, false) => format!("the {} of {namespace}", self.resource.plural),
        };
        let subject = match self.labels.as_str() {
            "" => subject,
            labels => format!("{subject} with labels {labels}"),
        };
        let last = follow.map(Follow::last);
        let names = follow.filter(|_| self.name.is_none()).map(|follow| {
            let names = follow
                .objects()
                .iter()
                .map(|it| it.object_name().to_string());
            names.collect()
        });
        Failure {
            observer: &self.observer,
            resource: &self.resource,
            expected: format!("{subject}, {why}"),
            location,
            last: last.and_then(|it| it.object.as_ref()),
            before: last.and_then(|it| it.before.as_ref()),
            deleted: last.is_some_and(|it| it.deleted),
            names,
        }
        .into_error()
    }
}

/// Returns an error with its causes.
fn words(error: &ApiError) -> String {
    crate::controllers::RunError::new(error.clone()).to_string()
}

impl<K> fmt::Debug for ExpectObject<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExpectObject").field(&self.expect).finish()
    }
}

impl<K> fmt::Debug for ExpectObjects<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExpectObjects").field(&self.expect).finish()
    }
}

impl<K> fmt::Debug for Expect<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expect")
            .field("kind", &self.resource.kind)
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}
