//! The selection of a list whose objects are converted before they are matched.
//!
//! Objects are converted in batches, because one call of a webhook can convert many.

use super::Listing;
use crate::storage::convert::ConvertStored;
use crate::storage::work_budget::{OBJECT, WorkBudget};
use crate::storage::{Listed, Unreadable};
use crate::stored::Stored;
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::DecodeContext;
use kubist_storage::KeyValue;
use std::sync::Arc;

/// The maximum number of objects in one batch.
const BATCH_MAX: usize = 500;

/// A list that converts its objects.
pub(super) struct Converting<'a, 'b> {
    pub(super) listing: &'a Listing<'b>,
    pub(super) conversion: &'a dyn ConvertStored,
    pub(super) budget: &'a mut WorkBudget,
}

impl Converting<'_, '_> {
    /// Appends at most `left` selected objects. Returns how many were examined.
    ///
    /// # Errors
    /// A conversion has failed.
    pub(super) async fn select(
        mut self,
        kvs: &[Arc<KeyValue>],
        left: Option<usize>,
        listed: &mut Listed,
    ) -> Result<usize, Status> {
        let predicate = self.listing.request.predicate;
        let everything = predicate.is_everything();
        let remember = self.listing.codec.remembers(kvs);
        let end = left.map_or(usize::MAX, |left| listed.items.len().saturating_add(left));
        let mut examined = 0;
        while examined < kvs.len() && listed.items.len() < end {
            let room = if everything {
                end - listed.items.len()
            } else {
                BATCH_MAX
            };
            let rest = kvs.get(examined..).unwrap_or_default();
            let batch = rest.get(..room.min(BATCH_MAX)).unwrap_or(rest);
            let (read, readable) = self.read(batch, remember).await;
            let mut converted = self.conversion.convert(&readable).await?.into_iter();
            for (kv, status) in batch.iter().zip(read) {
                if listed.items.len() >= end {
                    return Ok(examined);
                }
                examined += 1;
                if let Some(status) = status {
                    listed.unreadable.push(Unreadable {
                        key: String::from_utf8_lossy(&kv.key).into_owned(),
                        status,
                    });
                } else if let Some(stored) = converted.next()
                    && (everything || self.listing.is_selected(&stored, kv))
                {
                    listed.items.push(stored);
                }
            }
        }
        Ok(examined)
    }

    /// Returns the error of each object, and the objects without an error.
    async fn read(
        &mut self,
        kvs: &[Arc<KeyValue>],
        remember: bool,
    ) -> (Vec<Option<Status>>, Vec<Stored>) {
        let codec = self.listing.codec;
        let mut cx = DecodeContext::new();
        let (mut read, mut readable) = (Vec::with_capacity(kvs.len()), Vec::new());
        for kv in kvs {
            let stored = if remember {
                codec.stored(kv)
            } else {
                codec.stored_uncached(kv)
            };
            self.budget.spend(OBJECT + kv.value.len()).await;
            let failure = codec.failure(&stored, &mut cx).cloned();
            if failure.is_none() {
                readable.push(stored);
            }
            read.push(failure);
        }
        (read, readable)
    }
}
