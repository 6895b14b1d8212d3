//! `Views`: the objects of a batch of events, converted to the version of the watch.
//!
//! A batch is converted before its events are rewritten, so that rewriting needs no I/O and one
//! call of a webhook converts many objects.

use super::{ClientState, EventStream};
use crate::storage::convert::ConvertStored;
use crate::stored::Stored;
use bytes::Bytes;
use hashbrown::HashMap;
use kubist_apimachinery::Status;
use kubist_storage::{EventKind, KeyValue};
use std::sync::Arc;

/// Converted objects, by key and revision.
#[derive(Debug, Default)]
pub(super) struct Views(HashMap<(Bytes, u64), Stored>);

/// The objects of a batch that must be converted, with their keys and revisions.
#[derive(Debug, Default)]
pub(super) struct Unconverted {
    places: Vec<(Bytes, u64)>,
    objects: Vec<Stored>,
}

impl Unconverted {
    /// Converts the objects.
    ///
    /// # Errors
    /// The error event that ends the watch.
    pub(super) async fn convert(
        self,
        conversion: Option<Arc<dyn ConvertStored>>,
    ) -> Result<Views, Status> {
        let converted = convert(conversion, self.objects).await?;
        Ok(Views(self.places.into_iter().zip(converted).collect()))
    }
}

/// Converts objects to the version of a watch, if it has a conversion.
///
/// # Errors
/// The error event that ends the watch.
pub(super) async fn convert(
    conversion: Option<Arc<dyn ConvertStored>>,
    objects: Vec<Stored>,
) -> Result<Vec<Stored>, Status> {
    let Some(conversion) = conversion.filter(|_| !objects.is_empty()) else {
        return Ok(objects);
    };
    let converted = conversion.convert(&objects).await;
    // As upstream, an error event is always an internal error.
    converted.map_err(|status| Status::internal_error(status.message))
}

impl EventStream {
    /// Returns the conversion of the objects, if there is one.
    pub(super) fn conversion(&self) -> Option<Arc<dyn ConvertStored>> {
        self.interest.predicate.conversion().map(Arc::clone)
    }

    /// Returns the objects that the pending events can deliver. Empty if the watch converts
    /// nothing.
    pub(super) fn unconverted(&self) -> Unconverted {
        let (Some(batch), Some(_)) = (&self.pending, self.interest.predicate.conversion()) else {
            return Unconverted::default();
        };
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
        let (places, objects) = found.into_iter().unzip();
        Unconverted { places, objects }
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
