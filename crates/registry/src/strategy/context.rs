//! `RequestContext`: the user and the time of a request, which every operation of the registry
//! takes.
//!
//! The server creates it. It carries no deadline: dropping a future cancels the request.

use crate::strategy::conversion_memo::ConversionMemo;
use crate::strategy::object_write::ObjectWrite;
use kubist_apimachinery::{MicroTime, Str, Time};
pub use kubist_authorization::User;
use kubist_authorization::rbac::Grants;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// One request, as seen by the registry. A clone shares the warnings, the writes and the record of
/// long work.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestContext {
    /// The requesting user.
    pub user: User,
    /// When the request came in, since the Unix epoch.
    pub received: Duration,
    /// The program that made the request: the default name of the manager of what it writes.
    pub user_agent: Str,
    /// Whether lists and the initial events of watches omit objects that cannot be decoded, instead
    /// of failing. A client must not treat such a list as complete, and delete what is missing from
    /// it. Default: no, as upstream.
    pub skip_unreadable: bool,
    /// Judges the roles and bindings that the request writes. Default: none, so that they may grant
    /// everything.
    pub grants: Option<Arc<Grants>>,
    notes: Arc<Mutex<Notes>>,
    work: Arc<AtomicUsize>,
    /// The conversions that field ownership needs.
    pub(crate) conversions: Arc<ConversionMemo>,
}

#[derive(Debug, Default)]
struct Notes {
    warnings: Vec<String>,
    writes: Vec<ObjectWrite>,
    annotations: BTreeMap<String, String>,
}

impl RequestContext {
    /// The size in bytes of an object or a body that takes long to process: about a millisecond.
    pub const LONG_WORK: usize = 32 << 10;
    /// The maximum of warnings per request; more are dropped.
    pub const WARNINGS_MAX: usize = 256;
    /// The maximum of audit annotations per request; more are dropped.
    pub const ANNOTATIONS_MAX: usize = 256;
    /// The maximum of writes that are noted per request, such as the deletes of a collection.
    pub const WRITES_MAX: usize = 4096;

    /// Creates the context of a request by `user` that arrived at `received`, since the Unix epoch.
    pub fn new(user: User, received: Duration) -> Self {
        Self {
            user,
            received,
            user_agent: Str::default(),
            skip_unreadable: false,
            grants: None,
            notes: Arc::default(),
            work: Arc::default(),
            conversions: Arc::default(),
        }
    }

    /// Returns the arrival time of the request, to the second.
    pub fn now(&self) -> Time {
        Time::from_unix(i64::try_from(self.received.as_secs()).unwrap_or(i64::MAX))
    }

    /// Returns the arrival time of the request, to the microsecond.
    pub fn now_micro(&self) -> MicroTime {
        let nanos = i32::try_from(self.received.subsec_micros() * 1000).unwrap_or_default();
        MicroTime::from_unix(self.now().unix(), nanos)
    }

    /// Adds a warning for the client, unless it is already there.
    pub fn warn(&self, text: impl Into<String>) {
        let text = text.into();
        let warnings = &mut self.notes.lock().warnings;
        if warnings.len() < Self::WARNINGS_MAX && !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// Adds a warning before all others, unless it is already there.
    pub fn warn_first(&self, text: impl Into<String>) {
        let text = text.into();
        let warnings = &mut self.notes.lock().warnings;
        if !warnings.contains(&text) {
            warnings.truncate(Self::WARNINGS_MAX - 1);
            warnings.insert(0, text);
        }
    }

    /// Records that an object or a body of this size is processed next. If that takes long, the
    /// caller of the request may move it to another thread from here on.
    ///
    /// Cancel safe.
    pub async fn begin_work(&self, bytes: usize) {
        if self.work.fetch_max(bytes, Ordering::Relaxed) < bytes && bytes >= Self::LONG_WORK {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the size in bytes of the largest object or body that this request, or a clone,
    /// processes, if that takes long.
    pub fn long_work(&self) -> Option<usize> {
        let bytes = self.work.load(Ordering::Relaxed);
        (bytes >= Self::LONG_WORK).then_some(bytes)
    }

    /// Takes the warnings so far.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().warnings)
    }

    /// Notes something about the request for its audit event, by a name such as
    /// `pod-security.kubernetes.io/enforce-policy`. The first value of a name counts, as upstream.
    pub fn annotate(&self, name: impl Into<String>, value: impl Into<String>) {
        let annotations = &mut self.notes.lock().annotations;
        if annotations.len() < Self::ANNOTATIONS_MAX {
            annotations
                .entry(name.into())
                .or_insert_with(|| value.into());
        }
    }

    /// Takes the audit annotations so far.
    pub fn take_annotations(&self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.notes.lock().annotations)
    }

    /// Notes a committed write.
    pub(crate) fn wrote(&self, write: ObjectWrite) {
        let writes = &mut self.notes.lock().writes;
        if writes.len() < Self::WRITES_MAX {
            writes.push(write);
        }
    }

    /// Takes the writes so far, in their order: dry runs and updates that changed nothing are not
    /// among them.
    pub fn take_writes(&self) -> Vec<ObjectWrite> {
        std::mem::take(&mut self.notes.lock().writes)
    }
}
