//! The seam between the store with the rules of the API and what keeps the objects of a resource.
//!
//! [`Storage`] is what the store calls. [`RawStorage`](crate::RawStorage) implements it over an
//! engine, [`Cacher`](cacher::Cacher) decorates that with a watch cache. Both give the same
//! answers, except where they differ by design (see the table in `tests/it/storage`). No rule of
//! the API is known here, and dry runs lie above.

pub mod cacher;
pub(crate) mod continue_token;
mod dry_run;
pub(crate) mod error;
mod factory;
pub(crate) mod list;
pub(crate) mod predicate;
pub(crate) mod raw;
pub(crate) mod reader;
mod stats;
pub(crate) mod upstream_form;
pub(crate) mod watch;
mod watch_cache;
pub(crate) mod watch_event;
pub(crate) mod work_budget;

pub(crate) use dry_run::DryRunnable;
pub use factory::{MadeStorage, StorageFactory, StorageOptions};
pub use stats::StorageStats;
pub use watch_cache::{WatchCache, WatchCacheSizes, WatchCacheSizesError};

use crate::storage::error::StorageError;
use crate::storage::predicate::Predicate;
use crate::storage::watch::EventStream;
use crate::stored::Stored;
use crate::stored::key::KeyLayout;
use crate::stored::scheme::StoredKind;
use crate::strategy::BoxFuture;
use kubist_api::Kind;
use kubist_apimachinery::{
    AnyObject, CauseType, GroupResource, ListMeta, ListOptions, Preconditions, Status, StatusCause,
    StatusDetails, StatusReason, Str,
};
use kubist_storage::Guard;
use std::fmt;
use std::time::Duration;

/// The objects of one resource.
///
/// All objects are of the storage version of the kind. Keys come from [`keys`](Self::keys).
pub trait Storage: StorageState {
    /// The kind in its storage version.
    fn kind(&self) -> StoredKind;

    /// Where the objects are.
    fn keys(&self) -> &KeyLayout;

    /// Stores a new object under a key that nothing is under.
    ///
    /// # Errors
    /// The object has a resource version already, something is under the key, or what the request
    /// was judged by has changed.
    fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: CreateRequest,
    ) -> BoxFuture<'_, Result<Stored, StorageError>>;

    /// Reads an object; None if there is none. `not_older_than`: None reads the most recent state,
    /// `Some(0)` any state, another version that state or a later one.
    ///
    /// # Errors
    /// Storage (or, for so long as it waits, the cache) is not at that version yet.
    fn get<'a>(
        &'a self,
        key: &'a str,
        not_older_than: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<Stored>, StorageError>>;

    /// Lists what a predicate selects.
    fn list<'a>(&'a self, request: ListRequest<'a>) -> BoxFuture<'a, Result<Listed, Status>>;

    /// Changes an object until no other write comes in between. Writes nothing if the bytes that
    /// are stored would stay the same.
    fn update<'a>(
        &'a self,
        key: String,
        request: UpdateRequest<'a>,
        change: &'a mut dyn Change,
    ) -> BoxFuture<'a, Result<Outcome, StorageError>>;

    /// Removes an object, whatever its version is, if `allowed` agrees and the preconditions
    /// hold. The answer is the content that was removed, with the resource version of the delete.
    /// `allowed` is called once for each state that was looked at; with None for an object that
    /// cannot be read.
    fn delete<'a>(
        &'a self,
        key: String,
        request: DeleteRequest<'a>,
        allowed: &'a Allowed<'a>,
    ) -> BoxFuture<'a, Result<Stored, StorageError>>;

    /// Follows what a predicate selects. A version that cannot be read is held back: the client
    /// keeps what it knows of the object until a version comes that can be read, or the object is
    /// gone. Only the end of an object that could not be read all the while is an error, and so
    /// is the 101st that is held back. Errors that upstream answers with a stream come as its
    /// only event.
    fn watch<'a>(
        &'a self,
        request: StorageWatchRequest<'a>,
    ) -> BoxFuture<'a, Result<EventStream, Status>>;
}

/// What is known of the storage of one resource, for those who operate it.
pub trait StorageState: fmt::Debug + Send + Sync + 'static {
    /// How many objects there are.
    fn count(&self) -> BoxFuture<'_, Result<usize, StorageError>>;

    /// How many objects there are, and how large they are on average. Without a cache all of them
    /// are read.
    fn stats(&self) -> BoxFuture<'_, Result<StorageStats, StorageError>>;

    /// Where the engine stands: never older than any write answered before the call.
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>>;

    /// The last compaction of the engine that this process knows of; 0 if none.
    fn compacted(&self) -> u64;

    /// Asks the engine to tell those who follow it how far they are. Nobody does without a cache.
    fn request_progress(&self);

    /// Whether it can answer.
    ///
    /// # Errors
    /// The cache has not read everything yet.
    fn readiness(&self) -> Result<(), StorageError>;
}

/// Whether an object may go. See [`Storage::delete`].
pub type Allowed<'a> = dyn Fn(Option<&Stored>) -> Result<(), Status> + Send + Sync + 'a;

/// Where to look: a namespace (all if empty), and perhaps one name in it.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a key has no other parts")]
pub struct Scope<'a> {
    /// The namespace; all if it is empty.
    pub namespace: &'a str,
    /// The name; all if there is none.
    pub name: Option<&'a str>,
}

/// What [`Storage::list`] shall read.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct ListRequest<'a> {
    /// The resource, as messages name it.
    pub resource: &'a GroupResource,
    /// Where to look.
    pub scope: Scope<'a>,
    /// What is selected. The selectors of `options` are not looked at.
    pub predicate: &'a Predicate,
    /// Version, match, limit and continue.
    pub options: &'a ListOptions,
}

impl ListRequest<'_> {
    /// Whether at most one object can be meant, by its name.
    pub fn is_single(&self) -> bool {
        self.scope.name.or_else(|| self.predicate.name()).is_some()
    }
}

/// What a list found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Listed {
    /// The objects, in the order of their keys.
    pub items: Vec<Stored>,
    /// The version of the list and the token of the next page.
    pub metadata: ListMeta,
    /// Those that could have been selected and cannot be read.
    pub unreadable: Vec<Unreadable>,
}

/// An object that cannot be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unreadable {
    /// Its key.
    pub key: String,
    /// Why.
    pub status: Status,
}

impl Listed {
    /// The list, if all of it can be read.
    ///
    /// # Errors
    /// 500, with one cause for each object that cannot be read, up to a bound, as upstream.
    pub fn complete(self) -> Result<Self, Status> {
        if self.unreadable.is_empty() {
            return Ok(self);
        }
        let message = "failed to read one or more objects from the storage";
        let status = Status::failure(500, StatusReason::StorageReadError, message);
        let cause = |it: &Unreadable| StatusCause {
            reason: CauseType::UnexpectedServerResponse.into(),
            message: it.status.message.clone(),
            field: it.key.as_str().into(),
        };
        let named = self.unreadable.iter().take(UNREADABLE_NAMED_MAX);
        let mut causes: Vec<_> = named.map(cause).collect();
        if self.unreadable.len() > UNREADABLE_NAMED_MAX {
            causes.push(StatusCause {
                reason: CauseType::FieldValueTooMany.into(),
                message: format!(
                    "too many errors, the list is truncated after {UNREADABLE_NAMED_MAX}"
                )
                .into(),
                field: Str::default(),
            });
        }
        Err(status.with_details(StatusDetails {
            causes,
            ..StatusDetails::default()
        }))
    }
}

/// Objects that cannot be read which the status of a list names, as upstream.
const UNREADABLE_NAMED_MAX: usize = 100;

/// How [`Storage::create`] goes about it.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct CreateRequest {
    /// For how long the object is stored; forever if None.
    pub ttl: Option<Duration>,
    /// Other keys by which the object may come, such as that of its namespace. It comes only
    /// while they are the same.
    pub guards: Vec<Guard>,
}

/// How [`Storage::update`] goes about it.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct UpdateRequest<'a> {
    /// What must be true of the stored object.
    pub preconditions: Option<&'a Preconditions>,
    /// Whether the change decides what becomes of an object that does not exist.
    pub missing_ok: bool,
    /// What the object was a moment ago, to save a read. Never the last word: what fails with it
    /// is tried again with what is stored.
    pub suggestion: Option<Stored>,
}

/// How [`Storage::delete`] goes about it.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct DeleteRequest<'a> {
    /// What must be true of the stored object.
    pub preconditions: Option<&'a Preconditions>,
    /// As in [`UpdateRequest::suggestion`].
    pub suggestion: Option<Stored>,
    /// Whether the object is to be removed because it cannot be read; one that can be read stays.
    pub unreadable: bool,
}

/// What [`Storage::watch`] shall follow.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct StorageWatchRequest<'a> {
    /// The version of the kind to deliver.
    pub kind: &'static Kind,
    /// Where to look.
    pub scope: Scope<'a>,
    /// What is selected. The selectors of `options` are not looked at.
    pub predicate: &'a Predicate,
    /// Where to begin, and whether bookmarks are wanted.
    pub options: &'a ListOptions,
    /// When the caller will end it; a bookmark comes shortly before.
    pub timeout: Option<Duration>,
    /// Whether the initial events leave out objects that cannot be read; otherwise one of them is
    /// an error that ends the watch. Later versions that cannot be read are held back either way.
    pub around_unreadable: bool,
}

/// One try to change an object. Called again whenever another write came in between, and must
/// look at `current` each time.
pub trait Change: Send {
    /// What shall become of the object; `current` is None if there is none.
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>>;
}

/// What a change wants.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "storage handles each")]
pub enum Changed {
    /// This object in place of the other, for so long.
    Write(Box<dyn AnyObject>, Option<Duration>),
    /// This object, where there was none.
    Create(Box<dyn AnyObject>, CreateRequest),
    /// Nothing: what is there stays, and is the answer.
    Keep,
    /// No object any more; this is the answer.
    Delete(Box<dyn AnyObject>),
    /// No object any more; the answer is what was there, with the resource version of its end.
    Remove,
}

/// What became of a change.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The object as it is stored now, or as it last was.
    pub stored: Stored,
    /// Whether it did not exist before.
    pub created: bool,
    /// Whether it is gone.
    pub deleted: bool,
}

/// Whether the stored object is the one that a write means. What is not there has neither uid nor
/// version.
pub(crate) fn check(
    key: &str,
    preconditions: Option<&Preconditions>,
    stored: Option<&Stored>,
) -> Result<(), StorageError> {
    let Some(Preconditions {
        uid,
        resource_version,
    }) = preconditions
    else {
        return Ok(());
    };
    if uid.is_none() && resource_version.is_none() {
        return Ok(());
    }
    let object = stored.map(Stored::object).transpose()?;
    let (uid_now, version_now) = object.map_or(("", ""), |object| {
        let meta = object.meta();
        (meta.uid.as_str(), meta.resource_version.as_str())
    });
    let invalid = |why| StorageError::InvalidObject {
        key: key.to_owned(),
        why,
    };
    if let Some(uid) = uid
        && *uid != uid_now
    {
        return Err(invalid(format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {uid_now}"
        )));
    }
    if let Some(version) = resource_version
        && *version != version_now
    {
        return Err(invalid(format!(
            "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in \
             object meta: {version_now}"
        )));
    }
    Ok(())
}
