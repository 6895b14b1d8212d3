//! Conversion between etcd's messages and storage types. No message makes it panic.

use bytes::Bytes;
use kubist_etcd_api as api;
use kubist_storage::{Event, EventKind, KeyRange, KeyValue, LeaseId, Note, Revision};
use std::sync::Arc;

/// As the end of a range, etcd's marker for "all keys from the start on". As a key, the lowest one.
pub(crate) const LOWEST_KEY: Bytes = Bytes::from_static(b"\0");

/// Converts a revision to etcd's type. A value out of range is in the future of every store.
pub(crate) fn number(revision: Revision) -> i64 {
    i64::try_from(revision.0).unwrap_or(i64::MAX)
}

/// Converts a revision from etcd's type.
pub(crate) fn revision(number: i64) -> Revision {
    Revision(u64::try_from(number).unwrap_or(0))
}

/// Returns the current revision in a response header.
pub(crate) fn head(header: Option<&api::ResponseHeader>) -> Revision {
    header.map_or(Revision::ZERO, |header| revision(header.revision))
}

pub(crate) fn key_value(kv: api::KeyValue) -> Arc<KeyValue> {
    Arc::new(KeyValue {
        // Slices would keep the whole response in memory.
        key: Bytes::copy_from_slice(&kv.key),
        value: Bytes::copy_from_slice(&kv.value),
        create_revision: revision(kv.create_revision),
        mod_revision: revision(kv.mod_revision),
        version: u64::try_from(kv.version).unwrap_or(0),
        lease: (kv.lease != 0).then_some(LeaseId(kv.lease)),
        note: Note::default(),
    })
}

/// Converts an event; `None` for an unknown kind or a missing key.
pub(crate) fn event(event: api::Event) -> Option<Arc<Event>> {
    let kv = key_value(event.kv?);
    let kind = match api::EventType::try_from(event.kind).ok()? {
        api::EventType::Put => EventKind::Put(Arc::clone(&kv)),
        api::EventType::Delete => EventKind::Delete,
    };
    Some(Arc::new(Event {
        revision: kv.mod_revision,
        key: kv.key.clone(),
        kind,
        previous: event.prev_kv.map(key_value),
    }))
}

/// Returns the key and the range end for etcd; `None` for an empty range.
///
/// etcd has no empty key, and an end that is empty or a single zero byte has a special meaning.
pub(crate) fn bounds(range: &KeyRange) -> Option<(Bytes, Bytes)> {
    let start = if range.start().is_empty() {
        LOWEST_KEY
    } else {
        range.start().clone()
    };
    match range.end() {
        None => Some((start, LOWEST_KEY)),
        Some(end) if *end <= start => None,
        Some(_) if range.as_key().is_some_and(|key| !key.is_empty()) => Some((start, Bytes::new())),
        Some(end) => Some((start, end.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(range: &KeyRange) -> Option<(Vec<u8>, Vec<u8>)> {
        bounds(range).map(|(start, end)| (start.to_vec(), end.to_vec()))
    }

    #[test]
    fn ranges_never_use_etcds_special_ends_by_accident() {
        let pair = |start: &str, end: &str| Some((start.into(), end.into()));
        assert_eq!(found(&KeyRange::key("a")), pair("a", ""));
        assert_eq!(found(&KeyRange::prefix("a/")), pair("a/", "a0"));
        assert_eq!(found(&KeyRange::all()), pair("\0", "\0"));
        assert_eq!(found(&KeyRange::starting_at("k")), pair("k", "\0"));
        assert_eq!(found(&KeyRange::between("", "b")), pair("\0", "b"));
        for (start, end) in [("b", "a"), ("a", "a"), ("a", ""), ("a", "\0"), ("", "\0")] {
            assert_eq!(
                found(&KeyRange::between(start, end)),
                None,
                "{start:?} {end:?}"
            );
        }
    }

    #[test]
    fn numbers_out_of_range_become_the_nearest() {
        assert_eq!(number(Revision(u64::MAX)), i64::MAX);
        assert_eq!(revision(-1), Revision::ZERO);
    }

    #[test]
    fn an_event_of_no_known_kind_is_none() {
        let kv = Some(api::KeyValue::default());
        let strange = api::Event {
            kind: 7,
            kv,
            prev_kv: None,
        };
        assert_eq!(event(strange), None);
        assert_eq!(event(api::Event::default()), None);
    }
}
