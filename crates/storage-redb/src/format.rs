//! The tables, and the encoding of versions. Any change must increase `FORMAT`.

use bytes::Bytes;
use kubist_storage::{Event, EventKind, KeyValue, LeaseId, Note, Revision};
use redb::TableDefinition;

/// The format that this version writes, and the newest that it reads.
pub(crate) const FORMAT: u64 = 2;
/// The oldest format that it reads, and turns into the newest: its rows have no versions.
pub(crate) const FORMAT_MIN: u64 = 1;

/// Numbers of the whole store by name.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("kubist.meta");
/// Versions by revision.
pub(crate) const VERSIONS: TableDefinition<'_, u64, &[u8]> =
    TableDefinition::new("kubist.versions");
/// Active leases by id: the lifetime in nanoseconds.
pub(crate) const LEASES: TableDefinition<'_, i64, u64> = TableDefinition::new("kubist.leases");

/// The rows of `META`.
pub(crate) mod meta {
    /// The format of the file; written first and never changed.
    pub(crate) const FORMAT: &str = "format";
    /// Identifies the store; a backup has the same id.
    pub(crate) const CLUSTER_ID: &str = "cluster id";
    /// The newest version.
    pub(crate) const REVISION: &str = "revision";
    /// The oldest readable revision; zero if nothing was compacted.
    pub(crate) const COMPACTED: &str = "compacted";
    /// The highest lease id so far.
    pub(crate) const LEASES_GRANTED: &str = "leases granted";
    /// The last round of the logs that is in the tables; absent before the first.
    pub(crate) const LOG: &str = "log";
}

/// The first version of a key, or a version that format 1 did not count.
const PUT: u8 = 1;
const DELETE: u8 = 2;
/// A later version of a key.
const PUT_AGAIN: u8 = 3;

/// A row of `VERSIONS` as read.
#[derive(Debug, PartialEq)]
pub(crate) enum Row<'a> {
    Put(KeyValue),
    Delete { key: &'a [u8] },
}

/// The row is truncated or of an unknown kind.
#[derive(Debug, thiserror::Error)]
#[error("the row of revision {revision} is malformed")]
pub(crate) struct RowError {
    revision: u64,
}

/// Writes the row of an event into an empty buffer: kind, creation revision (8), version (8, unless
/// it is the first), lease (8, zero for none), length of the key (4), key, value; or kind, key.
pub(crate) fn write(event: &Event, row: &mut Vec<u8>) {
    debug_assert!(row.is_empty(), "rows are not joined");
    match &event.kind {
        EventKind::Put(kv) => {
            let lease = kv.lease.map_or(0, |lease| lease.0);
            // Requests are far smaller than 4 GiB.
            let key_len = u32::try_from(kv.key.len()).unwrap_or(u32::MAX);
            row.push(if kv.is_created() { PUT } else { PUT_AGAIN });
            row.extend_from_slice(&kv.create_revision.0.to_le_bytes());
            if !kv.is_created() {
                row.extend_from_slice(&kv.version.to_le_bytes());
            }
            row.extend_from_slice(&lease.to_le_bytes());
            row.extend_from_slice(&key_len.to_le_bytes());
            row.extend_from_slice(&kv.key);
            row.extend_from_slice(&kv.value);
        }
        EventKind::Delete => {
            row.push(DELETE);
            row.extend_from_slice(&event.key);
        }
    }
}

pub(crate) fn read(revision: u64, row: &[u8]) -> Result<Row<'_>, RowError> {
    parse(revision, row).ok_or(RowError { revision })
}

fn parse(revision: u64, row: &[u8]) -> Option<Row<'_>> {
    let (kind, row) = row.split_first()?;
    match *kind {
        PUT | PUT_AGAIN => {
            let (created, row) = row.split_first_chunk()?;
            let created = u64::from_le_bytes(*created);
            let (version, row) = if *kind == PUT_AGAIN {
                let (version, row) = row.split_first_chunk()?;
                (u64::from_le_bytes(*version), row)
            } else {
                // Format 1 did not count.
                (1 + u64::from(created != revision), row)
            };
            let (lease, row) = row.split_first_chunk()?;
            let (key_len, row) = row.split_first_chunk()?;
            let key_len = usize::try_from(u32::from_le_bytes(*key_len)).ok()?;
            let (key, value) = row.split_at_checked(key_len)?;
            let lease = Some(LeaseId(i64::from_le_bytes(*lease))).filter(|lease| lease.0 != 0);
            Some(Row::Put(KeyValue {
                key: Bytes::copy_from_slice(key),
                value: Bytes::copy_from_slice(value),
                create_revision: Revision(created),
                mod_revision: Revision(revision),
                version,
                lease,
                note: Note::default(),
            }))
        }
        DELETE => Some(Row::Delete { key: row }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn event(kind: EventKind) -> Event {
        Event {
            revision: Revision(7),
            key: Bytes::from("key"),
            kind,
            previous: None,
        }
    }

    #[test]
    fn row_of_format_1_has_the_lowest_version_that_it_can_have() {
        let mut row = vec![PUT];
        row.extend_from_slice(&3_u64.to_le_bytes());
        row.extend_from_slice(&0_i64.to_le_bytes());
        row.extend_from_slice(&3_u32.to_le_bytes());
        row.extend_from_slice(b"keyvalue");
        for (revision, version) in [(3, 1), (7, 2)] {
            let Row::Put(kv) = read(revision, &row).unwrap() else {
                panic!("it is a put");
            };
            assert_eq!((kv.version, &kv.value[..]), (version, &b"value"[..]));
        }
    }

    #[test]
    fn row_reads_back_as_it_was_and_no_part_of_it_does() {
        let kv = KeyValue {
            key: Bytes::from("key"),
            value: Bytes::from("value"),
            create_revision: Revision(3),
            mod_revision: Revision(7),
            version: 4,
            lease: Some(LeaseId(9)),
            note: Note::default(),
        };
        let mut row = Vec::new();
        write(&event(EventKind::Put(Arc::new(kv.clone()))), &mut row);
        assert_eq!(row.len(), 1 + 8 + 8 + 8 + 4 + 3 + 5);
        assert_eq!(read(7, &row).unwrap(), Row::Put(kv));
        for len in 0..1 + 8 + 8 + 8 + 4 + 3 {
            assert!(read(7, &row[..len]).is_err(), "{len}");
        }
        row.clear();
        write(&event(EventKind::Delete), &mut row);
        assert_eq!(read(7, &row).unwrap(), Row::Delete { key: b"key" });
        row[0] = 4;
        let error = read(7, &row).unwrap_err();
        assert_eq!(error.to_string(), "the row of revision 7 is malformed");
    }
}
