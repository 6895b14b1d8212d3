//! `Views`: the objects of a batch of events, converted to the version of the watch.
//!
//! A batch is converted before its events are rewritten, so that rewriting needs no I/O and one
//! call of a webhook converts many objects.

use super::{ClientState, EventStream};
use crate::stored::Stored;
use bytes::Bytes;
use hashbrown::HashMap;
use kubist_apimachinery::Status;
use kubist_storage::{EventKind, KeyValue, WatchBatch};
use std::sync::Arc;

/// Converted objects, by key and revision.
#[derive(Debug, Default)]
pub(super) struct Views(HashMap<(Bytes, u64), Stored>);

impl EventStream {
    /// Converts the objects that the events of a batch can deliver. Empty if the watch converts
    /// nothing.
    ///
    /// # Errors
    /// The error event that ends the watch.
    pub(super) async fn views_of(&self, batch: &WatchBatch) -> Result<Views, Status> {
        if self.interest.predicate.conversion().is_none() {
            return Ok(Views::default());
        }
        let mut found: HashMap<(Bytes, u64), Stored> = HashMap::new();
        let mut add = |kv: &Arc<KeyValue>| {
            let stored = self.codec.stored(kv);
            let is_readable = self.check(&stored).is_ok();
            if is_readable {
                found.insert(place_of(kv), stored);
            }
            is_readable
        };
        for event in &batch.events {
            let is_delivered = match &event.kind {
                EventKind::Put(kv) => add(kv),
                EventKind::Delete => false,
            };
            if let Some(previous) = &event.previous
                && !(is_delivered && self.everything)
            {
                add(previous);
            }
            if let Some(ClientState::Version(kv)) = self.held.get(&event.key) {
                add(kv);
            }
        }
        let (places, objects): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let converted = self.convert(&objects).await?;
        Ok(Views(places.into_iter().zip(converted).collect()))
    }

    /// Converts objects to the version of the watch, if it has a conversion.
    pub(super) async fn convert(&self, objects: &[Stored]) -> Result<Vec<Stored>, Status> {
        match self.interest.predicate.conversion() {
            None => Ok(objects.to_vec()),
            Some(conversion) => {
                let converted = conversion.convert(objects).await;
                // As upstream, an error event is always an internal error.
                converted.map_err(|status| Status::internal_error(status.message))
            }
        }
    }

    /// Returns an object as the predicate and the client see it. `stored` is the content of `kv`.
    pub(super) fn view(&self, kv: &KeyValue, stored: Stored) -> Result<Stored, Status> {
        if self.interest.predicate.conversion().is_none() {
            return Ok(stored);
        }
        let found = self.views.0.get(&place_of(kv));
        let found = found.ok_or_else(|| Status::internal_error("an object was not converted"))?;
        Ok(if found.revision() == stored.revision() {
            found.clone()
        } else {
            found.at_revision(stored.revision())
        })
    }
}

fn place_of(kv: &KeyValue) -> (Bytes, u64) {
    (kv.key.clone(), kv.mod_revision.0)
}
