//! Assertions that wait: `eventually`, `never` and `stable`.
//!
//! They follow a watch, so they see every version of an object and wake nobody in between. Their
//! bounds are on tokio's clock: in virtual time they cost nothing. They do not retry a test.

mod difference;
pub(crate) mod error;
mod expect;
mod follow;
pub(crate) mod observer;

use error::AssertionError;
use expect::Expect;
use kubist::apimachinery::wire::Encode;
use kubist::apimachinery::{Object, Str};
use kubist::client::Api;
use observer::Observer;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

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
    /// The bound has passed, or the object cannot be read; or none with its name can exist.
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

    /// Checks for this long that no version of the object meets a condition; the one that exists at
    /// first is looked at whatever the time.
    ///
    /// # Errors
    /// A version meets it, or the object cannot be read; or none with its name can exist.
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
    /// It still changes at the bound, or cannot be read; or `quiet` is zero, in which nothing is
    /// seen.
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
    /// They still change at the bound, or cannot be read; or `quiet` is zero, in which nothing is
    /// seen.
    #[track_caller]
    pub fn stable(self, quiet: Duration) -> impl Future<Output = Result<Vec<K>, AssertionError>> {
        let location = Location::caller();
        async move { self.expect.quiet_for(location, quiet).await }
    }
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
