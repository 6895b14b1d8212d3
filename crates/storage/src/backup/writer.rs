//! `Writer`: encodes a backup.

use super::{DIGEST_BYTES, END, MAGIC, RECORD};
use crate::{KeyValue, Revision};
use ring::digest::{Context, SHA256};
use std::fmt;

/// Encodes a backup piece by piece into the caller's buffers.
pub struct Writer {
    digest: Context,
    records: u64,
}

impl Writer {
    /// Begins a backup of the state at `revision`.
    pub fn begin(revision: Revision, out: &mut Vec<u8>) -> Self {
        let mut writer = Self {
            digest: Context::new(&SHA256),
            records: 0,
        };
        writer.append(out, |out| {
            out.extend_from_slice(MAGIC);
            out.extend_from_slice(&revision.0.to_le_bytes());
        });
        writer
    }

    /// Appends a key. Keys must be in byte order.
    pub fn put(&mut self, kv: &KeyValue, out: &mut Vec<u8>) {
        self.records += 1;
        // Requests are far smaller than 4 GiB.
        let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
        self.append(out, |out| {
            out.push(RECORD);
            out.extend_from_slice(&kv.create_revision.0.to_le_bytes());
            out.extend_from_slice(&kv.mod_revision.0.to_le_bytes());
            out.extend_from_slice(&kv.version.to_le_bytes());
            out.extend_from_slice(&kv.lease.map_or(0, |lease| lease.0).to_le_bytes());
            out.extend_from_slice(&len(&kv.key));
            out.extend_from_slice(&len(&kv.value));
            out.extend_from_slice(&kv.key);
            out.extend_from_slice(&kv.value);
        });
    }

    /// Appends the end marker.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        let records = self.records;
        self.append(out, |out| {
            out.push(END);
            out.extend_from_slice(&records.to_le_bytes());
        });
        let digest = self.digest.finish();
        debug_assert_eq!(digest.as_ref().len(), DIGEST_BYTES);
        out.extend_from_slice(digest.as_ref());
    }

    fn append(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let before = out.len();
        write(out);
        self.digest.update(&out[before..]);
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}
