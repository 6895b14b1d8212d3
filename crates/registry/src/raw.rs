//! `RawStorage`: the objects of one resource over an engine, without any rule of the API.
//!
//! Create, read, compare-and-set update and delete with upstream's semantics: preconditions, a
//! suggestion to start from, no write where nothing changes. Objects are stored without resource
//! version, in a protobuf envelope; the version is the engine's revision.

mod encoding;
mod list;

pub(crate) use list::{Scope, parse_version};

use crate::Stored;
use crate::storage_error::StorageError;
use crate::storage_key::KeyLayout;
use crate::stored_cache::StoredCache;
use crate::strategy::BoxFuture;
use bytes::Bytes;
use kubist_api::Kind;
use kubist_apimachinery::{AnyObject, Preconditions, Status};
use kubist_storage::{DeleteRequest, Expected, KeyValue, Kv, PutRequest, Revision, WriteOutcome};
use std::sync::Arc;
use std::time::Duration;

/// The objects of one resource.
#[derive(Clone, Debug)]
pub(crate) struct RawStorage {
    pub(crate) kv: Arc<dyn Kv>,
    pub(crate) kind: &'static Kind,
    pub(crate) keys: KeyLayout,
    pub(crate) cache: Arc<StoredCache>,
}

/// One try to change an object. Called again whenever another write came in between, and must
/// look at `current` each time.
pub(crate) trait Change: Send {
    /// What shall become of the object; `current` is None if there is none.
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>>;
}

/// What a change wants.
pub(crate) enum Changed {
    /// This object in place of the other, for so long.
    Write(Box<dyn AnyObject>, Option<Duration>),
    /// Nothing: what is there stays, and is the answer.
    Keep,
    /// No object any more; this is the answer.
    Delete(Box<dyn AnyObject>),
}

/// What became of a change.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The object as it is stored now, or as it last was.
    pub(crate) stored: Stored,
    /// Whether it did not exist before.
    pub(crate) created: bool,
    /// Whether it is gone.
    pub(crate) deleted: bool,
}

impl RawStorage {
    /// Stores a new object under a key that nothing is under. In a dry run nothing is written,
    /// and the result has no resource version.
    pub(crate) async fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        ttl: Option<Duration>,
        dry_run: bool,
    ) -> Result<Stored, StorageError> {
        let key = Bytes::from(key);
        if dry_run {
            return match self.kv.get(&key, None).await?.kv {
                Some(kv) => Err(self.exists(&kv)),
                None => Ok(Stored::from_object(self.kind, 0, object)),
            };
        }
        let value = encoding::encode(object);
        let put = self.put(&key, value.clone(), Expected::Absent, ttl).await?;
        match put {
            WriteOutcome::Committed { revision } => Ok(self.stored_value(&key, revision.0, &value)),
            WriteOutcome::Conflict { current, .. } => Err(match current {
                Some(kv) => self.exists(&kv),
                None => StorageError::Exists {
                    key: text(&key),
                    terminating: false,
                },
            }),
        }
    }

    /// Reads an object; None if there is none. Fails if storage is not at `not_older_than` yet.
    pub(crate) async fn get(
        &self,
        key: &str,
        not_older_than: u64,
    ) -> Result<Option<Stored>, StorageError> {
        let response = self.kv.get(key.as_bytes(), None).await?;
        if response.revision.0 < not_older_than {
            return Err(StorageError::TooLarge {
                requested: not_older_than,
                current: response.revision.0,
            });
        }
        Ok(response.kv.map(|kv| self.stored(&kv)))
    }

    /// Changes an object until no other write comes in between. `missing_ok`: `change` decides
    /// what becomes of an object that does not exist.
    pub(crate) async fn update(
        &self,
        key: String,
        preconditions: &Preconditions,
        missing_ok: bool,
        dry_run: bool,
        change: &mut dyn Change,
    ) -> Result<Outcome, StorageError> {
        let key = Bytes::from(key);
        let mut current = self.kv.get(&key, None).await?.kv;
        loop {
            let stored = current.as_deref().map(|kv| self.stored(kv));
            if stored.is_none() && !missing_ok {
                return Err(StorageError::NotFound { key: text(&key) });
            }
            if let Some(stored) = &stored {
                check(&key, preconditions, stored)?;
            }
            let changed = change.attempt(stored.as_ref()).await?;
            match self.apply(&key, stored, changed, dry_run).await? {
                Applied::Done(outcome) => return Ok(outcome),
                Applied::Conflict(found) => current = found,
            }
        }
    }

    /// Removes an object, whatever its version is, if `allowed` agrees and the preconditions
    /// hold. The answer is the content that was removed, with the resource version of the delete.
    pub(crate) async fn delete(
        &self,
        key: String,
        preconditions: &Preconditions,
        dry_run: bool,
        allowed: impl Fn(&Stored) -> Result<(), Status> + Send,
    ) -> Result<Stored, StorageError> {
        let key = Bytes::from(key);
        let mut current = self.kv.get(&key, None).await?.kv;
        loop {
            let Some(kv) = current else {
                return Err(StorageError::NotFound { key: text(&key) });
            };
            let stored = self.stored(&kv);
            check(&key, preconditions, &stored)?;
            allowed(&stored)?;
            if dry_run {
                return Ok(stored);
            }
            match self.remove(&key, kv.mod_revision).await? {
                Ok(revision) => return Ok(stored.at_revision(revision)),
                Err(found) => current = found,
            }
        }
    }

    /// Where storage stands.
    pub(crate) async fn revision(&self) -> Result<u64, StorageError> {
        Ok(self.kv.revision().await?.0)
    }

    async fn apply(
        &self,
        key: &Bytes,
        current: Option<Stored>,
        changed: Changed,
        dry_run: bool,
    ) -> Result<Applied, StorageError> {
        let revision = current.as_ref().map_or(0, Stored::revision);
        let done = |stored, created, deleted| {
            Ok(Applied::Done(Outcome {
                stored,
                created,
                deleted,
            }))
        };
        match (changed, current) {
            (Changed::Keep, Some(current)) => done(current, false, false),
            (Changed::Keep | Changed::Delete(_), None) => {
                Err(StorageError::NotFound { key: text(key) })
            }
            (Changed::Delete(last), Some(_)) => {
                let last = Stored::from_object(self.kind, revision, last);
                if dry_run {
                    return done(last, false, true);
                }
                match self.remove(key, Revision(revision)).await? {
                    Ok(_) => done(last, false, true),
                    Err(found) => Ok(Applied::Conflict(found)),
                }
            }
            (Changed::Write(object, _), current) if dry_run => {
                let stored = Stored::from_object(self.kind, revision, object);
                done(stored, current.is_none(), false)
            }
            (Changed::Write(object, ttl), current) => {
                let value = encoding::encode(object);
                if let Some(current) = &current
                    && *current.raw()? == encoding::raw_of(&value)
                {
                    return done(current.clone(), false, false);
                }
                let expected = Expected::Revision(Revision(revision));
                match self.put(key, value.clone(), expected, ttl).await? {
                    WriteOutcome::Committed { revision } => {
                        let stored = self.stored_value(key, revision.0, &value);
                        done(stored, current.is_none(), false)
                    }
                    WriteOutcome::Conflict { current, .. } => Ok(Applied::Conflict(current)),
                }
            }
        }
    }

    async fn put(
        &self,
        key: &Bytes,
        value: Bytes,
        expected: Expected,
        ttl: Option<Duration>,
    ) -> Result<WriteOutcome, StorageError> {
        let mut put = PutRequest::new(key.clone(), value, expected);
        if let Some(ttl) = ttl {
            put = put.lease(self.kv.grant(ttl).await?);
        }
        Ok(self.kv.put(put).await?)
    }

    async fn remove(
        &self,
        key: &Bytes,
        revision: Revision,
    ) -> Result<Result<u64, Option<Arc<KeyValue>>>, StorageError> {
        let delete = DeleteRequest::new(key.clone(), Expected::Revision(revision));
        Ok(match self.kv.delete(delete).await? {
            WriteOutcome::Committed { revision } => Ok(revision.0),
            WriteOutcome::Conflict { current, .. } => Err(current),
        })
    }

    /// The object in a stored value.
    pub(crate) fn stored(&self, kv: &KeyValue) -> Stored {
        self.stored_value(&kv.key, kv.mod_revision.0, &kv.value)
    }

    fn stored_value(&self, key: &Bytes, revision: u64, value: &Bytes) -> Stored {
        self.cache.get(key, revision, value.len(), || {
            encoding::decode(self.kind, revision, value)
        })
    }

    /// The content that a delete at `revision` removed.
    pub(crate) fn removed(&self, kv: &KeyValue, revision: u64) -> Stored {
        self.cache.get(&kv.key, revision, kv.value.len(), || {
            encoding::decode(self.kind, revision, &kv.value)
        })
    }

    /// The content before a write that did not remove it, for those who may no longer see it,
    /// with the revision of that write. Not remembered: the write's own content has its place.
    pub(crate) fn replaced(&self, kv: &KeyValue, revision: u64) -> Stored {
        encoding::decode(self.kind, revision, &kv.value)
    }

    fn exists(&self, kv: &KeyValue) -> StorageError {
        let terminating = self
            .stored(kv)
            .object()
            .is_ok_and(|object| object.meta().is_terminating());
        StorageError::Exists {
            key: text(&kv.key),
            terminating,
        }
    }
}

enum Applied {
    Done(Outcome),
    Conflict(Option<Arc<KeyValue>>),
}

fn text(key: &Bytes) -> String {
    String::from_utf8_lossy(key).into_owned()
}

/// Whether the stored object is the one that a write means.
fn check(key: &Bytes, preconditions: &Preconditions, stored: &Stored) -> Result<(), StorageError> {
    let Preconditions {
        uid,
        resource_version,
    } = preconditions;
    if uid.is_none() && resource_version.is_none() {
        return Ok(());
    }
    let object = stored.object()?;
    let meta = object.meta();
    let invalid = |why| StorageError::InvalidObject {
        key: text(key),
        why,
    };
    if let Some(uid) = uid
        && *uid != meta.uid
    {
        return Err(invalid(format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta.uid
        )));
    }
    if let Some(version) = resource_version
        && *version != meta.resource_version
    {
        return Err(invalid(format!(
            "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in \
             object meta: {}",
            meta.resource_version
        )));
    }
    Ok(())
}
