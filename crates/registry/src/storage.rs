//! `Storage`: the interface between the store with the API rules and the persistence of objects.
//!
//! The store calls [`Storage`]. [`RawStorage`](crate::RawStorage) implements it over an engine,
//! [`Cacher`](cacher::Cacher) decorates that with a watch cache. Both return the same results,
//! except for differences by design (see the table in `tests/it/storage`). This layer has no API
//! rules and no dry runs; those lie above.

pub mod cacher;
pub(crate) mod continue_token;
pub(crate) mod convert;
mod dry_run;
pub(crate) mod engines;
pub(crate) mod error;
mod factory;
pub(crate) mod index;
pub(crate) mod list;
pub(crate) mod predicate;
pub(crate) mod raw;
pub(crate) mod reader;
mod stats;
pub(crate) mod upstream_form;
pub(crate) mod watch;
mod watch_cache_config;
pub(crate) mod watch_event;
pub(crate) mod work_budget;

pub(crate) use dry_run::DryRunnable;
pub use factory::{MadeStorage, StorageFactory, StorageOptions};
pub use stats::StorageStats;
pub use watch_cache_config::{WatchCacheConfig, WatchCacheSizes, WatchCacheSizesError};

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
    /// Returns the kind in its storage version.
    fn kind(&self) -> StoredKind;

    /// Returns the key layout.
    fn keys(&self) -> &KeyLayout;

    /// Stores a new object under an unused key.
    ///
    /// # Errors
    /// The object already has a resource version, the key is in use, or a guard of the request has
    /// changed.
    fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
    ) -> BoxFuture<'_, Result<Stored, StorageError>>;

    /// Returns an object as it would be read after it was written: for dry runs.
    ///
    /// # Errors
    /// The error of the write.
    fn as_written(&self, object: Stored) -> BoxFuture<'_, Result<Stored, StorageError>> {
        Box::pin(std::future::ready(Ok(object.completed())))
    }

    /// Reads an object; `None` if it does not exist. `not_older_than`: `None` reads the most recent
    /// state, `Some(0)` any state, another version that state or a later one.
    ///
    /// # Errors
    /// Storage has not reached that version (the cache waits for it for a limited time).
    fn get<'a>(
        &'a self,
        key: &'a str,
        not_older_than: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<Stored>, StorageError>>;

    /// Returns the revision from which on a read sees all writes through this storage; `None` if
    /// every read does, so that asking for less than the most recent state saves nothing.
    fn written(&self) -> Option<u64> {
        None
    }

    /// Lists the objects that a predicate selects.
    fn list<'a>(&'a self, request: ListRequest<'a>) -> BoxFuture<'a, Result<Listed, Status>>;

    /// Updates an object, and retries after concurrent writes. Writes nothing if the stored bytes
    /// would not change.
    fn update<'a>(
        &'a self,
        key: String,
        request: UpdateRequest<'a>,
        change: &'a mut dyn Change,
    ) -> BoxFuture<'a, Result<Outcome, StorageError>>;

    /// Removes an object at any version, if `allowed` returns `Ok` and the preconditions hold.
    /// Returns the removed content with the resource version of the delete. `allowed` is called
    /// once for each examined state, with `None` for an object that cannot be decoded.
    fn delete<'a>(
        &'a self,
        key: String,
        request: DeleteRequest<'a>,
        allowed: &'a Allowed<'a>,
    ) -> BoxFuture<'a, Result<Stored, StorageError>>;

    /// Watches the objects that a predicate selects. A version that cannot be decoded is held back:
    /// the client keeps its last state of the object until a decodable version arrives or the
    /// object is removed. Only the removal of an object that was undecodable throughout is an
    /// error, and so is the 101st held-back object. Errors that upstream reports within a stream
    /// arrive as its only event.
    fn watch<'a>(
        &'a self,
        request: StorageWatchRequest<'a>,
    ) -> BoxFuture<'a, Result<EventStream, Status>>;
}

/// Operational state of the storage of one resource.
pub trait StorageState: fmt::Debug + Send + Sync + 'static {
    /// Returns the number of objects.
    fn count(&self) -> BoxFuture<'_, Result<usize, StorageError>>;

    /// Returns the number of objects and their average size. Without a cache, all objects are read.
    fn stats(&self) -> BoxFuture<'_, Result<StorageStats, StorageError>>;

    /// Returns the engine's revision, not older than any write answered before the call.
    fn revision(&self) -> BoxFuture<'_, Result<u64, StorageError>>;

    /// Returns the last compaction of the engine known to this process; 0 if none.
    fn compacted(&self) -> u64;

    /// Requests a progress notification from the engine for its watchers. No effect without a
    /// cache.
    fn request_progress(&self);

    /// Reports whether storage is ready.
    ///
    /// # Errors
    /// The cache is not filled yet.
    fn readiness(&self) -> Result<(), StorageError>;
}

/// Decides whether an object may be removed. See [`Storage::delete`].
pub type Allowed<'a> = dyn Fn(Option<&Stored>) -> Result<(), Status> + Send + Sync + 'a;

/// The scope of a read: a namespace (all if empty), and optionally one name in it.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a key has no other parts")]
pub struct Scope<'a> {
    /// The namespace; all if it is empty.
    pub namespace: &'a str,
    /// The name; all if `None`.
    pub name: Option<&'a str>,
}

/// A request of [`Storage::list`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct ListRequest<'a> {
    /// The resource, as in messages.
    pub resource: &'a GroupResource,
    /// The scope.
    pub scope: Scope<'a>,
    /// The selection. The selectors of `options` are ignored.
    pub predicate: &'a Predicate,
    /// Version, match, limit and continue.
    pub options: &'a ListOptions,
}

impl ListRequest<'_> {
    /// Reports whether the scope has at most one object, by its name.
    pub fn is_single(&self) -> bool {
        self.scope.name.or_else(|| self.predicate.name()).is_some()
    }
}

/// The result of a list.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Listed {
    /// The objects, in the order of their keys.
    pub items: Vec<Stored>,
    /// The version of the list and the token of the next page.
    pub metadata: ListMeta,
    /// The objects in scope that cannot be decoded.
    pub unreadable: Vec<Unreadable>,
}

/// An object that cannot be decoded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unreadable {
    /// Its key.
    pub key: String,
    /// The reason.
    pub status: Status,
}

impl Listed {
    /// Returns the list if all of it can be decoded.
    ///
    /// # Errors
    /// 500, with one cause for each object that cannot be decoded, up to a limit, as upstream.
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

/// The maximum of undecodable objects that the list status names, as upstream.
const UNREADABLE_NAMED_MAX: usize = 100;

/// The options of a write, as of [`Storage::create`].
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct PutOptions {
    /// The lifetime of the object; unlimited if `None`.
    pub ttl: Option<Duration>,
    /// Other keys, such as that of its namespace or of its definition, that must not have changed
    /// when the object is written.
    pub guards: Vec<Guard>,
}

/// The options of [`Storage::update`].
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct UpdateRequest<'a> {
    /// The preconditions on the stored object.
    pub preconditions: Option<&'a Preconditions>,
    /// Whether the change handles a missing object.
    pub missing_ok: bool,
    /// A recent state of the object, to save a read. It is only a hint: a failure with it is
    /// retried with the stored state.
    pub suggestion: Option<Stored>,
}

/// The options of [`Storage::delete`].
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct DeleteRequest<'a> {
    /// The preconditions on the stored object.
    pub preconditions: Option<&'a Preconditions>,
    /// As in [`UpdateRequest::suggestion`].
    pub suggestion: Option<Stored>,
    /// Whether to remove the object because it cannot be decoded; a decodable object is kept.
    pub unreadable: bool,
}

/// A request of [`Storage::watch`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the store fills it in")]
pub struct StorageWatchRequest<'a> {
    /// The version of the kind to deliver.
    pub kind: &'static Kind,
    /// The scope.
    pub scope: Scope<'a>,
    /// The selection. The selectors of `options` are ignored.
    pub predicate: &'a Predicate,
    /// The start version, and whether bookmarks are requested.
    pub options: &'a ListOptions,
    /// When the caller will end it; a bookmark comes shortly before.
    pub timeout: Option<Duration>,
    /// Whether the initial events omit objects that cannot be decoded; otherwise one of them is an
    /// error that ends the watch. Later versions that cannot be decoded are held back in both
    /// cases.
    pub skip_unreadable: bool,
}

/// One attempt to change an object. Called again after each concurrent write, and must examine
/// `current` each time.
pub trait Change: Send {
    /// Returns the outcome for the object; `current` is `None` if it does not exist.
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>>;
}

/// The outcome of a change.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "storage handles each")]
pub enum Changed {
    /// Replace the object by this one. Guards that have changed are as a concurrent write: the
    /// change is attempted again.
    Write(Box<dyn AnyObject>, PutOptions),
    /// Create this object.
    Create(Box<dyn AnyObject>, PutOptions),
    /// Write nothing, and return the stored object.
    Keep,
    /// Remove the object, and return this one.
    Delete(Box<dyn AnyObject>),
    /// Remove the object, and return its last state with the resource version of the delete.
    Remove,
}

/// The result of a change.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The object as stored, or its last state.
    pub stored: Stored,
    /// Whether it was created.
    pub created: bool,
    /// Whether it was removed.
    pub deleted: bool,
}

/// Checks the preconditions of a write against the stored object. A missing object has neither uid
/// nor version.
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
