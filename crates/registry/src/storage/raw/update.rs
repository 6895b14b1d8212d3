//! Update: compare-and-set, repeated after concurrent writes.

use super::{Current, RawStorage};
use crate::metrics::StorageRequest;
use crate::storage::error::StorageError;
use crate::storage::{Change, Changed, Outcome, PutOptions, UpdateRequest, check};
use crate::stored::Stored;
use crate::stored::codec::is_encoded_as;
use bytes::Bytes;
use kubist_apimachinery::{AnyObject, Status};
use kubist_storage::{Expected, PutRequest, Revision, WriteOutcome};

/// The result of an attempt without an error.
enum Tried {
    Done(Outcome),
    /// Another write came first; retry with this stored state.
    Retry(Current),
}

impl RawStorage {
    pub(super) async fn update_object(
        &self,
        key: String,
        request: UpdateRequest<'_>,
        change: &mut dyn Change,
    ) -> Result<Outcome, StorageError> {
        let mut current = self.begin(&key, request.suggestion.clone()).await?;
        loop {
            if current.stored.is_none() && !request.missing_ok {
                return Err(StorageError::NotFound { key });
            }
            let stored = current.stored.as_ref();
            if let Err(error) = check(&key, request.preconditions, stored) {
                if current.fresh {
                    return Err(error);
                }
                current = self.read(&key).await?;
                continue;
            }
            let changed = match self.attempt(&current, change).await {
                Ok(changed) => changed,
                Err(status) if current.fresh => return Err(status.into()),
                Err(status) => {
                    let fresh = self.read(&key).await?;
                    if revision(&fresh) == revision(&current) {
                        return Err(status.into());
                    }
                    current = fresh;
                    continue;
                }
            };
            match self.apply(&key, current, changed).await? {
                Tried::Done(outcome) => return Ok(outcome),
                Tried::Retry(found) => current = found,
            }
        }
    }

    async fn attempt(&self, current: &Current, change: &mut dyn Change) -> Result<Changed, Status> {
        if let Some(status) = current.stored.as_ref().and_then(Stored::failure) {
            return Err(status.clone());
        }
        change.attempt(current.stored.as_ref()).await
    }

    async fn apply(
        &self,
        key: &str,
        current: Current,
        changed: Changed,
    ) -> Result<Tried, StorageError> {
        match changed {
            Changed::Write(object, options) => self.write(key, current, object, options).await,
            Changed::Create(object, request) => self.create(key, object, request).await,
            Changed::Keep if !current.fresh => self.retry_with_stored(key, current).await,
            Changed::Keep => match current.stored {
                Some(stored) => Ok(unchanged(stored)),
                None => Err(StorageError::NotFound {
                    key: key.to_owned(),
                }),
            },
            Changed::Delete(last) => self.end(key, current, Some(last)).await,
            Changed::Remove => self.end(key, current, None).await,
        }
    }

    /// Removes the examined object. Returns `last`, or its last state.
    async fn end(
        &self,
        key: &str,
        current: Current,
        last: Option<Box<dyn AnyObject>>,
    ) -> Result<Tried, StorageError> {
        let Some(stored) = &current.stored else {
            return Err(StorageError::NotFound {
                key: key.to_owned(),
            });
        };
        let removed = match self.remove(key, stored.revision()).await? {
            Ok(revision) => revision,
            Err(found) => return Ok(Tried::Retry(self.fresh(found))),
        };
        let stored = match last {
            Some(last) => Stored::from_object(self.codec.kind(), stored.revision(), last),
            None => self.removed(&current, stored, removed),
        };
        Ok(Tried::Done(Outcome {
            stored,
            created: false,
            deleted: true,
        }))
    }

    async fn write(
        &self,
        key: &str,
        current: Current,
        object: Box<dyn AnyObject>,
        PutOptions { ttl, guards }: PutOptions,
    ) -> Result<Tried, StorageError> {
        let value = self.codec.encode(object)?;
        if let Some(stored) = &current.stored
            && is_encoded_as(stored, &value)
        {
            let Some(kv) = &current.kv else {
                return self.retry_with_stored(key, current).await;
            };
            if self.codec.is_stored_as(kv, &value) {
                return Ok(unchanged(stored.clone()));
            }
        }
        let bytes = Bytes::copy_from_slice(key.as_bytes());
        let expected = Expected::Revision(Revision(revision(&current)));
        let guarded = !guards.is_empty();
        let put = PutRequest::new(bytes.clone(), self.codec.seal(&bytes, &value)?, expected);
        let put = put.guards(guards);
        let put = self.put(StorageRequest::Update, put, ttl).await?;
        if guarded && matches!(put, WriteOutcome::Conflict { current: None, .. }) {
            // A guard that another engine has does not say what is stored here.
            return self.retry_with_stored(key, current).await;
        }
        Ok(self.put_or_retry(&bytes, &value, put, current.stored.is_none()))
    }

    /// Creates a missing object.
    async fn create(
        &self,
        key: &str,
        object: Box<dyn AnyObject>,
        request: PutOptions,
    ) -> Result<Tried, StorageError> {
        let value = self.codec.encode(object)?;
        let bytes = Bytes::copy_from_slice(key.as_bytes());
        let put = self.put_new(&bytes, &value, request).await?;
        Ok(self.put_or_retry(&bytes, &value, put, true))
    }

    fn put_or_retry(&self, key: &Bytes, value: &Bytes, put: WriteOutcome, created: bool) -> Tried {
        match put {
            WriteOutcome::Committed { revision } => Tried::Done(Outcome {
                stored: self.codec.written(key, revision.0, value),
                created,
                deleted: false,
            }),
            WriteOutcome::Conflict { current, .. } => Tried::Retry(self.fresh(current)),
        }
    }

    /// Retries a change that keeps a suggestion with the stored state.
    async fn retry_with_stored(&self, key: &str, current: Current) -> Result<Tried, StorageError> {
        drop(current);
        Ok(Tried::Retry(self.read(key).await?))
    }
}

fn revision(current: &Current) -> u64 {
    current.stored.as_ref().map_or(0, Stored::revision)
}

fn unchanged(stored: Stored) -> Tried {
    Tried::Done(Outcome {
        stored,
        created: false,
        deleted: false,
    })
}
