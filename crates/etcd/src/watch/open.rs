//! `Open`: one watch of a stream, and how its batches become responses.

use crate::header::message;
use crate::range::key_range;
use crate::service::Etcd;
use bytes::Bytes;
use futures_util::stream::AbortHandle;
use kubist_etcd_api as api;
use kubist_etcd_api::{EventType, FilterType};
use kubist_storage::{Event, EventKind, KeyRange, ProgressRequester, Revision, WatchRangeRequest};
use std::sync::atomic::Ordering;

/// etcd's lowest key: a watch without a key starts there.
const LOWEST_KEY: Bytes = Bytes::from_static(b"\0");

/// What a client asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes {
    /// Whether progress is sent from time to time.
    pub(super) progress: bool,
    previous: bool,
    no_put: bool,
    no_delete: bool,
}

/// An open watch. Dropping it ends it.
pub(super) struct Open {
    pub(super) wishes: Wishes,
    pub(super) progress: ProgressRequester,
    /// All events up to here were delivered, or are before the start.
    pub(super) reached: Revision,
    abort: AbortHandle,
    etcd: Etcd,
}

impl Wishes {
    pub(super) fn of(request: &api::WatchCreateRequest) -> Self {
        let filters = |filter: FilterType| request.filters.contains(&filter.into());
        Self {
            progress: request.progress_notify,
            previous: request.prev_kv,
            no_put: filters(FilterType::NoPut),
            no_delete: filters(FilterType::NoDelete),
        }
    }

    /// The request to the engine.
    pub(super) fn request(self, range: KeyRange, from: Revision) -> WatchRangeRequest {
        WatchRangeRequest {
            range,
            from: Some(from),
            previous: self.previous,
            progress: self.progress,
        }
    }

    /// Converts an event; `None` if it is filtered out.
    pub(super) fn event(self, event: &Event) -> Option<api::Event> {
        let (kind, kv) = match &event.kind {
            EventKind::Put(_) if self.no_put => return None,
            EventKind::Delete if self.no_delete => return None,
            EventKind::Put(kv) => (EventType::Put, message(kv)),
            EventKind::Delete => {
                let kv = api::KeyValue {
                    key: event.key.clone(),
                    mod_revision: crate::header::number(event.revision),
                    ..api::KeyValue::default()
                };
                (EventType::Delete, kv)
            }
        };
        let previous = event.previous.as_ref().filter(|_| self.previous);
        Some(api::Event {
            kind: kind.into(),
            kv: Some(kv),
            prev_kv: previous.map(|kv| message(kv)),
        })
    }
}

/// Returns the range of a request; `None` if no key can be in it.
pub(super) fn range_of(request: &api::WatchCreateRequest) -> Option<KeyRange> {
    let key = if request.key.is_empty() {
        LOWEST_KEY
    } else {
        request.key.clone()
    };
    let range = key_range(key, request.range_end.clone());
    let is_empty = range.end().is_some_and(|end| end <= range.start());
    (!is_empty).then_some(range)
}

impl Open {
    pub(super) fn new(
        etcd: Etcd,
        wishes: Wishes,
        (progress, abort): (ProgressRequester, AbortHandle),
        from: Revision,
    ) -> Self {
        etcd.counters().watches.fetch_add(1, Ordering::Relaxed);
        Self {
            wishes,
            progress,
            reached: from.previous(),
            abort,
            etcd,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.abort.abort();
        self.etcd.counters().watches.fetch_sub(1, Ordering::Relaxed);
    }
}
