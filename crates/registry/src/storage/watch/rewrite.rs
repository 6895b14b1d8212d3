//! Rewrites engine events for a client that sees only selected and decodable objects.

use super::{EventStream, Known};
use crate::storage::watch_event::WatchEvent;
use crate::stored::Stored;
use bytes::Bytes;
use kubist_apimachinery::wire::DecodeContext;
use kubist_apimachinery::{Status, StatusReason};
use kubist_storage::{Event, EventKind, KeyValue};
use std::sync::Arc;

impl EventStream {
    /// Returns the event to deliver, if there is one.
    pub(super) fn rewrite(&mut self, event: &Event) -> Result<Option<WatchEvent>, Status> {
        let held = self.held.take(&event.key);
        let event = match &event.kind {
            EventKind::Delete => self.ended(event, held)?,
            EventKind::Put(kv) => self.written(event, kv, held)?,
        };
        event.map(|event| self.serve(event)).transpose()
    }

    fn ended(&self, event: &Event, held: Option<Known>) -> Result<Option<WatchEvent>, Status> {
        let revision = event.revision.0;
        match held {
            Some(Known::Nothing) => return Ok(None),
            Some(Known::Version(kv)) => {
                let last = self.codec.replaced(&kv, revision);
                return Ok(Some(WatchEvent::Deleted(last)));
            }
            Some(Known::Untold) | None => {}
        }
        let Some(previous) = &event.previous else {
            let why = "the previous version of a deleted object has been compacted";
            return Err(Status::internal_error(why));
        };
        let removed = self.codec.removed(previous, revision);
        // The client may have an unknown older version, so it must list again.
        self.check(&removed)?;
        let shown = self.shows(&event.key, &removed);
        Ok(shown.then_some(WatchEvent::Deleted(removed)))
    }

    fn written(
        &mut self,
        event: &Event,
        kv: &Arc<KeyValue>,
        held: Option<Known>,
    ) -> Result<Option<WatchEvent>, Status> {
        let new = self.codec.stored(kv);
        let previous = event.previous.as_ref().filter(|_| !kv.is_created());
        if let Err(failure) = self.check(&new) {
            let known = held.unwrap_or_else(|| self.known(&event.key, previous));
            if !self.held.hold(&event.key, known) {
                return Err(failure);
            }
            self.tell(kv, &failure);
            return Ok(None);
        }
        let shown = self.shows(&event.key, &new);
        let known = match (held, previous) {
            (Some(known), _) => known,
            (None, None) => Known::Nothing,
            (None, Some(previous)) => self.assumed(&event.key, previous),
        };
        Ok(match (known, shown) {
            (Known::Nothing, true) => Some(WatchEvent::Added(new)),
            (Known::Version(_) | Known::Untold, true) => Some(WatchEvent::Modified(new)),
            (Known::Nothing, false) => None,
            (Known::Version(old), false) => {
                let last = self.codec.replaced(&old, event.revision.0);
                Some(WatchEvent::Deleted(last))
            }
            // The client may have a matching version, which it would keep forever.
            (Known::Untold, false) => {
                let why = "an older version of an object cannot be read: list again";
                return Err(Status::expired(why));
            }
        })
    }

    /// Returns the client's state, from the version before an undecodable one.
    fn known(&self, key: &Bytes, previous: Option<&Arc<KeyValue>>) -> Known {
        let Some(previous) = previous else {
            return Known::Nothing;
        };
        let old = self.codec.stored(previous);
        if self.check(&old).is_err() {
            Known::Untold
        } else if self.shows(key, &old) {
            Known::Version(Arc::clone(previous))
        } else {
            Known::Nothing
        }
    }

    /// Returns the client's state before a decodable version, without extra work.
    fn assumed(&self, key: &Bytes, previous: &Arc<KeyValue>) -> Known {
        if self.everything {
            return Known::Version(Arc::clone(previous));
        }
        let old = self.codec.stored(previous);
        if old.failure().is_some() {
            Known::Untold
        } else if self.shows(key, &old) {
            Known::Version(Arc::clone(previous))
        } else {
            Known::Nothing
        }
    }

    fn shows(&self, key: &Bytes, stored: &Stored) -> bool {
        self.everything || {
            let (namespace, name) = self.codec.keys().names(key);
            self.interest.predicate.matches(stored, namespace, name)
        }
    }

    fn serve(&self, event: WatchEvent) -> Result<WatchEvent, Status> {
        Ok(match event {
            WatchEvent::Added(it) => WatchEvent::Added(it.in_version(self.kind)?),
            WatchEvent::Modified(it) => WatchEvent::Modified(it.in_version(self.kind)?),
            WatchEvent::Deleted(it) => WatchEvent::Deleted(it.in_version(self.kind)?),
            other => other,
        })
    }

    /// Checks that an object can be decoded.
    pub(super) fn check(&self, stored: &Stored) -> Result<(), Status> {
        if stored.is_sound() && stored.failure().is_none() {
            return Ok(());
        }
        let cx = &mut DecodeContext::new();
        let Some(failure) = self.codec.failure(stored, cx) else {
            return Ok(());
        };
        let reason = StatusReason::StorageReadError;
        Err(Status::failure(500, reason, failure.message.clone()))
    }

    /// Logs a held-back object, once for all watches.
    pub(super) fn tell(&self, kv: &KeyValue, failure: &Status) {
        let revision = kv.mod_revision.0;
        if self.codec.metrics().tells(revision) {
            let key = String::from_utf8_lossy(&kv.key);
            let error = &*failure.message;
            let message = "a stored object cannot be read; watches go on without this version";
            tracing::warn!(%key, revision, error, "{message}");
        }
    }
}
