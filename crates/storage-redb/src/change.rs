//! `Changes`: batches as bytes, as they are in the logs, and what they amount to in the tables.
//!
//! A batch is encoded once: its bytes go to a log, and later from memory to the tables. Batches
//! that are applied together are merged first: a row that a later one removes is never written.

use crate::format::{self, LEASES, META, VERSIONS, meta};
use kubist_storage::journal::Batch;
use kubist_storage::{Event, EventKind, LeaseId};
use redb::{Database, ReadableTable as _};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// In place of a revision: the batch compacts nothing.
const NO_COMPACTION: u64 = u64::MAX;

/// The bytes are no batch.
#[derive(Debug, thiserror::Error)]
#[error("a batch of the log makes no sense")]
pub(crate) struct Malformed;

/// What batches amount to.
#[derive(Debug, Default)]
pub(crate) struct Changes<'a> {
    /// The lifetimes of new leases; `None` for those that ended.
    leases: BTreeMap<i64, Option<u64>>,
    /// New rows by revision; `None` for those that are not needed any more.
    rows: BTreeMap<u64, Option<&'a [u8]>>,
    revision: Option<u64>,
    compacted: Option<u64>,
    /// The highest new lease id.
    granted: Option<u64>,
}

/// Appends a batch: the new leases (id, nanoseconds), the ended ones, the new rows (revision,
/// length, bytes), the removed rows, each list with its length (4), and the compaction (8).
pub(crate) fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
    out.extend_from_slice(&count(batch.granted.len()));
    for (LeaseId(lease), ttl) in &batch.granted {
        out.extend_from_slice(&lease.to_le_bytes());
        out.extend_from_slice(&nanoseconds(*ttl).to_le_bytes());
    }
    out.extend_from_slice(&count(batch.ended.len()));
    for LeaseId(lease) in &batch.ended {
        out.extend_from_slice(&lease.to_le_bytes());
    }
    out.extend_from_slice(&count(batch.written.len()));
    let mut row = Vec::new();
    for event in &batch.written {
        row.clear();
        format::write(event, &mut row);
        out.extend_from_slice(&event.revision.0.to_le_bytes());
        out.extend_from_slice(&count(row.len()));
        out.extend_from_slice(&row);
    }
    let removed: Vec<u64> = batch.dropped.iter().flat_map(removed_with).collect();
    out.extend_from_slice(&count(removed.len()));
    for revision in removed {
        out.extend_from_slice(&revision.to_le_bytes());
    }
    let compacted = batch.compacted.map_or(NO_COMPACTION, |it| it.0);
    out.extend_from_slice(&compacted.to_le_bytes());
}

/// Discarding an event also deletes the versions that are no longer readable.
fn removed_with(event: &Arc<Event>) -> impl Iterator<Item = u64> {
    let previous = event.previous.as_ref().map(|kv| kv.mod_revision.0);
    let own = (event.kind == EventKind::Delete).then_some(event.revision.0);
    previous.into_iter().chain(own)
}

/// Lifetimes beyond five centuries are truncated.
fn nanoseconds(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_nanos()).unwrap_or(u64::MAX)
}

impl<'a> Changes<'a> {
    /// Adds the next batch.
    pub(crate) fn add(&mut self, batch: &'a [u8]) -> Result<(), Malformed> {
        let mut rest = Bytes(batch);
        for _ in 0..rest.count()? {
            let (lease, ttl) = (rest.number()?.cast_signed(), rest.number()?);
            self.leases.insert(lease, Some(ttl));
            self.granted = self.granted.max(Some(lease.unsigned_abs()));
        }
        for _ in 0..rest.count()? {
            self.leases.insert(rest.number()?.cast_signed(), None);
        }
        for _ in 0..rest.count()? {
            let (revision, len) = (rest.number()?, rest.count()?);
            self.rows.insert(revision, Some(rest.take(len as usize)?));
            self.revision = Some(revision);
        }
        for _ in 0..rest.count()? {
            self.rows.insert(rest.number()?, None);
        }
        let compacted = Some(rest.number()?).filter(|it| *it != NO_COMPACTION);
        self.compacted = compacted.or(self.compacted);
        if rest.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    /// Writes all in one synced transaction. `log` is the last log whose batches are among them.
    pub(crate) fn store(&self, database: &Database, log: Option<u64>) -> Result<(), redb::Error> {
        // Durable when `commit` returns, which is redb's default.
        let transaction = database.begin_write()?;
        if !self.leases.is_empty() {
            let mut leases = transaction.open_table(LEASES)?;
            for (lease, ttl) in &self.leases {
                match ttl {
                    Some(ttl) => drop(leases.insert(lease, ttl)?),
                    None => drop(leases.remove(lease)?),
                }
            }
        }
        let mut versions = transaction.open_table(VERSIONS)?;
        for (revision, row) in &self.rows {
            match row {
                Some(row) => drop(versions.insert(revision, row)?),
                None => drop(versions.remove(revision)?),
            }
        }
        drop(versions);
        let mut table = transaction.open_table(META)?;
        // A client may choose a lower id than those granted before.
        let before = table.get(meta::LEASES_GRANTED)?.map_or(0, |it| it.value());
        let numbers = [
            (meta::REVISION, self.revision),
            (meta::COMPACTED, self.compacted),
            (meta::LEASES_GRANTED, self.granted.map(|it| it.max(before))),
            (meta::LOG, log),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                table.insert(name, value)?;
            }
        }
        drop(table);
        transaction.commit()?;
        Ok(())
    }
}

/// Bytes that are being read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn count(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?.first_chunk().ok_or(Malformed)?;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        let bytes = self.take(8)?.first_chunk().ok_or(Malformed)?;
        Ok(u64::from_le_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_storage::Revision;

    fn encoded(batch: &Batch) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(batch, &mut bytes);
        bytes
    }

    #[test]
    fn later_batches_override_earlier_ones() {
        let delete = |revision| {
            Arc::new(Event {
                revision: Revision(revision),
                key: "a".into(),
                kind: EventKind::Delete,
                previous: None,
            })
        };
        let first = encoded(&Batch {
            granted: vec![
                (LeaseId(7), Duration::from_secs(1)),
                (LeaseId(3), Duration::MAX),
            ],
            written: vec![delete(2), delete(3)],
            compacted: Some(Revision(2)),
            ..Batch::default()
        });
        let second = encoded(&Batch {
            ended: vec![LeaseId(7)],
            dropped: vec![delete(2)],
            ..Batch::default()
        });
        let mut changes = Changes::default();
        changes.add(&first).unwrap();
        changes.add(&second).unwrap();
        let rows: Vec<_> = changes
            .rows
            .iter()
            .map(|it| (*it.0, it.1.is_some()))
            .collect();
        assert_eq!(rows, [(2, false), (3, true)]);
        let leases: Vec<_> = changes.leases.into_iter().collect();
        assert_eq!(leases, [(3, Some(u64::MAX)), (7, None)]);
        assert_eq!((changes.revision, changes.compacted), (Some(3), Some(2)));
        assert_eq!(changes.granted, Some(7));
    }

    #[test]
    fn no_part_of_a_batch_is_a_batch() {
        let batch = encoded(&Batch {
            ended: vec![LeaseId(7)],
            ..Batch::default()
        });
        for len in 0..batch.len() {
            assert!(Changes::default().add(&batch[..len]).is_err(), "{len}");
        }
        let longer = [&batch[..], &[0]].concat();
        assert!(Changes::default().add(&longer).is_err());
    }
}
