//! Who asks, and when: what every operation of the registry is told about its request.
//!
//! Made by whoever serves the request. It carries no deadline: dropping a future cancels it.

use kubist_apimachinery::{MicroTime, Str, Time};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The user that a request was authenticated as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "authenticators fill it in")]
pub struct User {
    /// The name.
    pub name: Str,
    /// The uid; empty if the authenticator knows none.
    pub uid: Str,
    /// The groups.
    pub groups: Vec<Str>,
    /// Whatever else the authenticator knows.
    pub extra: BTreeMap<Str, Vec<Str>>,
}

/// One request, as the registry sees it. A clone shares the warnings and what was noted
/// of its work.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestContext {
    /// Who asks.
    pub user: User,
    /// When the request came in, since the Unix epoch.
    pub received: Duration,
    /// Whether lists, and the initial events of watches, leave out objects that cannot be read,
    /// where they would be an error otherwise. Who takes such a list for the whole, and deletes
    /// what it lacks, is wrong. Default: no, as upstream.
    pub around_unreadable: bool,
    warnings: Arc<Mutex<Vec<String>>>,
    work: Arc<AtomicUsize>,
}

impl RequestContext {
    /// Bytes of an object or a body that it takes long to work on: about a millisecond.
    pub const LONG_WORK: usize = 32 << 10;
    /// Warnings kept for one request; more are dropped.
    pub const WARNINGS_MAX: usize = 256;

    /// A request of `user` that came in at `received`, since the Unix epoch.
    pub fn new(user: User, received: Duration) -> Self {
        Self {
            user,
            received,
            around_unreadable: false,
            warnings: Arc::default(),
            work: Arc::default(),
        }
    }

    /// When the request came in, to the second.
    pub fn now(&self) -> Time {
        Time::from_unix(i64::try_from(self.received.as_secs()).unwrap_or(i64::MAX))
    }

    /// When the request came in, to the microsecond.
    pub fn now_micro(&self) -> MicroTime {
        let nanos = i32::try_from(self.received.subsec_micros() * 1000).unwrap_or_default();
        MicroTime::from_unix(self.now().unix(), nanos)
    }

    /// Adds a warning for the client, once.
    pub fn warn(&self, text: impl Into<String>) {
        let text = text.into();
        let mut warnings = self.warnings.lock();
        if warnings.len() < Self::WARNINGS_MAX && !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// Adds a warning before all others, once.
    pub fn warn_first(&self, text: impl Into<String>) {
        let text = text.into();
        let mut warnings = self.warnings.lock();
        if !warnings.contains(&text) {
            warnings.truncate(Self::WARNINGS_MAX - 1);
            warnings.insert(0, text);
        }
    }

    /// Notes that an object or a body of so many bytes is worked on next. If that takes long,
    /// whoever runs the request has the choice to run it elsewhere from here on.
    ///
    /// Cancel safe.
    pub async fn begin_work(&self, bytes: usize) {
        if self.work.fetch_max(bytes, Ordering::Relaxed) < bytes && bytes >= Self::LONG_WORK {
            tokio::task::yield_now().await;
        }
    }

    /// Bytes of the largest thing that this request, or a clone, works on, if that takes long.
    pub fn long_work(&self) -> Option<usize> {
        let bytes = self.work.load(Ordering::Relaxed);
        (bytes >= Self::LONG_WORK).then_some(bytes)
    }

    /// The warnings so far, which are forgotten here.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock())
    }
}
