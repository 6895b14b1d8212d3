//! Dry runs: the whole write path, with a read in place of the final write.
//!
//! Lies above [`Storage`], so that the layers below have no dry runs.

use super::{Change, Changed, Outcome, PutOptions, Storage, UpdateRequest, check};
use crate::storage::error::StorageError;
use crate::storage::raw::resource_version_of;
use crate::stored::Stored;
use kubist_apimachinery::{AnyObject, Preconditions};
use std::ops::Deref;
use std::sync::Arc;

/// Storage with support for dry runs.
#[derive(Clone, Debug)]
pub(crate) struct DryRunnable(pub(crate) Arc<dyn Storage>);

impl Deref for DryRunnable {
    type Target = dyn Storage;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DryRunnable {
    /// As [`Storage::create`]. In a dry run nothing is written, and the result has the resource
    /// version that the object came with.
    pub(crate) async fn create(
        &self,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
        dry_run: bool,
    ) -> Result<Stored, StorageError> {
        if !dry_run {
            return self.0.create(key, object, request).await;
        }
        if let Some(found) = self.get(&key, None).await? {
            return Err(StorageError::exists(key, &found));
        }
        // The result keeps a resource version that a real create rejects, as upstream.
        let version = resource_version_of(&*object);
        let stored = Stored::from_object(self.kind(), version, object);
        self.as_written(stored).await
    }

    /// As [`Storage::update`]. A dry run keeps the resource version.
    pub(crate) async fn update(
        &self,
        key: String,
        preconditions: &Preconditions,
        missing_ok: bool,
        dry_run: bool,
        change: &mut dyn Change,
    ) -> Result<Outcome, StorageError> {
        if !dry_run {
            let request = UpdateRequest {
                preconditions: Some(preconditions),
                missing_ok,
                suggestion: None,
            };
            return self.0.update(key, request, change).await;
        }
        let current = self.get(&key, None).await?;
        if current.is_none() && !missing_ok {
            return Err(StorageError::NotFound { key });
        }
        // Upstream's dry run names the key without the root.
        let shown = self.keys().below_root(&key);
        check(shown, Some(preconditions), current.as_ref())?;
        let changed = change.attempt(current.as_ref()).await?;
        let revision = current.as_ref().map_or(0, Stored::revision);
        let created = current.is_none();
        let (stored, deleted) = match (changed, current) {
            (Changed::Keep, Some(current)) => (current, false),
            (Changed::Remove, Some(current)) => (current, true),
            (Changed::Keep | Changed::Delete(_) | Changed::Remove, None) => {
                return Err(StorageError::NotFound { key });
            }
            (Changed::Delete(last), Some(_)) => {
                (Stored::from_object(self.kind(), revision, last), true)
            }
            (Changed::Write(object, _) | Changed::Create(object, _), _) => {
                let stored = Stored::from_object(self.kind(), revision, object);
                (self.as_written(stored).await?, false)
            }
        };
        Ok(Outcome {
            stored,
            created,
            deleted,
        })
    }
}
