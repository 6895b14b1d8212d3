//! Rewrites engine events for a client that sees only selected and decodable objects.

use super::{ClientState, EventStream};
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

    fn ended(
        &self,
        event: &Event,
        held: Option<ClientState>,
    ) -> Result<Option<WatchEvent>, Status> {
        let revision = event.revision.0;
        match held {
            Some(ClientState::Absent) => return Ok(None),
            Some(ClientState::Version(kv)) => {
                let last = self.view(&kv, self.codec.replaced(&kv, revision))?;
                return Ok(Some(WatchEvent::Deleted(last)));
            }
            Some(ClientState::Unknown) | None => {}
        }
        let Some(previous) = &event.previous else {
            let why = "the previous version of a deleted object has been compacted";
            return Err(Status::internal_error(why));
        };
        let removed = self.codec.removed(previous, revision);
        // The client may have an unknown older version, so it must list again.
        self.check(&removed)?;
        let removed = self.view(previous, removed)?;
        let shown = self.shows(&event.key, &removed);
        Ok(shown.then_some(WatchEvent::Deleted(removed)))
    }

    fn written(
        &mut self,
        event: &Event,
        kv: &Arc<KeyValue>,
        held: Option<ClientState>,
    ) -> Result<Option<WatchEvent>, Status> {
        let new = self.codec.stored(kv);
        let previous = event.previous.as_ref().filter(|_| !kv.is_created());
        if let Err(failure) = self.check(&new) {
            let state = match held {
                Some(held) => held,
                None => self.client_state(&event.key, previous)?,
            };
            if !self.held.hold(&event.key, state) {
                return Err(failure);
            }
            self.log_held_back(kv, &failure);
            return Ok(None);
        }
        let new = self.view(kv, new)?;
        let shown = self.shows(&event.key, &new);
        let state = match (held, previous) {
            (Some(state), _) => state,
            (None, None) => ClientState::Absent,
            (None, Some(previous)) => self.assumed_client_state(&event.key, previous)?,
        };
        Ok(match (state, shown) {
            (ClientState::Absent, true) => Some(WatchEvent::Added(new)),
            (ClientState::Version(_) | ClientState::Unknown, true) => {
                Some(WatchEvent::Modified(new))
            }
            (ClientState::Absent, false) => None,
            (ClientState::Version(old), false) => {
                let last = self.codec.replaced(&old, event.revision.0);
                let last = self.view(&old, last)?;
                Some(WatchEvent::Deleted(last))
            }
            // The client may have a matching version, which it would keep forever.
            (ClientState::Unknown, false) => {
                let why = "an older version of an object cannot be decoded: list again";
                return Err(Status::expired(why));
            }
        })
    }

    /// Returns the client's state, from the version before an undecodable one.
    fn client_state(
        &self,
        key: &Bytes,
        previous: Option<&Arc<KeyValue>>,
    ) -> Result<ClientState, Status> {
        let Some(previous) = previous else {
            return Ok(ClientState::Absent);
        };
        let old = self.codec.stored(previous);
        if self.check(&old).is_err() {
            return Ok(ClientState::Unknown);
        }
        self.seen(key, previous, old)
    }

    /// Returns the client's state before a decodable version, without extra work.
    fn assumed_client_state(
        &self,
        key: &Bytes,
        previous: &Arc<KeyValue>,
    ) -> Result<ClientState, Status> {
        if self.everything {
            return Ok(ClientState::Version(Arc::clone(previous)));
        }
        let old = self.codec.stored(previous);
        if old.failure().is_some() {
            return Ok(ClientState::Unknown);
        }
        self.seen(key, previous, old)
    }

    /// Returns the client's state after a decodable version.
    fn seen(&self, key: &Bytes, kv: &Arc<KeyValue>, stored: Stored) -> Result<ClientState, Status> {
        let stored = self.view(kv, stored)?;
        Ok(if self.shows(key, &stored) {
            ClientState::Version(Arc::clone(kv))
        } else {
            ClientState::Absent
        })
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
    pub(super) fn log_held_back(&self, kv: &KeyValue, failure: &Status) {
        let revision = kv.mod_revision.0;
        if self.codec.metrics().should_log(revision) {
            let key = String::from_utf8_lossy(&kv.key);
            let error = &*failure.message;
            let message =
                "a stored object cannot be decoded; watches continue without this version";
            tracing::warn!(%key, revision, error, "{message}");
        }
    }
}
