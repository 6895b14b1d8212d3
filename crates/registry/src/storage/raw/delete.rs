//! Delete: removes an object at any version, if that is allowed.

use super::{Current, RawStorage};
use crate::storage::error::StorageError;
use crate::storage::{Allowed, DeleteRequest, check};
use crate::stored::Stored;
use kubist_apimachinery::Status;

impl RawStorage {
    pub(super) async fn delete_object(
        &self,
        key: String,
        mut request: DeleteRequest<'_>,
        allowed: &Allowed<'_>,
    ) -> Result<Stored, StorageError> {
        if request.unreadable {
            // Only the stored state can prove that the object cannot be decoded.
            request.suggestion = None;
        }
        let mut current = self.begin(&key, request.suggestion.take()).await?;
        loop {
            let Some(stored) = &current.stored else {
                return Err(StorageError::NotFound { key });
            };
            if let Err(error) = check_removal(&key, &request, stored, allowed) {
                if current.fresh {
                    return Err(error);
                }
                let fresh = self.read(&key).await?;
                let same = |it: &Stored| it.revision() == stored.revision();
                if fresh.stored.as_ref().is_some_and(same) {
                    return Err(error);
                }
                current = fresh;
                continue;
            }
            match self.remove(&key, stored.revision()).await? {
                Ok(revision) => return Ok(self.removed(&current, stored, revision)),
                Err(found) => current = self.fresh(found),
            }
        }
    }

    /// Returns the removed content with the revision of the delete, the same that watches deliver.
    pub(super) fn removed(&self, current: &Current, stored: &Stored, revision: u64) -> Stored {
        match &current.kv {
            Some(kv) => self.codec.removed(kv, revision),
            None => stored.at_revision(revision),
        }
    }
}

fn check_removal(
    key: &str,
    request: &DeleteRequest<'_>,
    stored: &Stored,
    allowed: &Allowed<'_>,
) -> Result<(), StorageError> {
    if request.unreadable {
        if stored.object().is_ok() {
            return Err(StorageError::InvalidObject {
                key: key.to_owned(),
                why: "unsafe deletion not allowed: the object can be read".to_owned(),
            });
        }
        return allowed(None).map_err(StorageError::from);
    }
    let readable: Result<_, Status> = stored.object();
    readable?;
    check(key, request.preconditions, Some(stored))?;
    allowed(Some(stored))?;
    Ok(())
}
