//! Backups: everything that an engine holds on one revision, as a stream of bytes.
//!
//! [`Snapshot`] reads it page by page while others write; [`Writer`] turns pages into bytes,
//! [`Reader`] verifies them and turns them back. Neither holds more than a page. A backup has no
//! history: what was written before its revision and replaced until then is not in it.
//!
//! # The form
//!
//! `kubist backup 1\n`, the revision, one record for each key in byte order, and the end: how
//! many records there are and the SHA-256 of all bytes before it. A record is the byte 1, creation
//! (8), modification (8), lease (8, zero for none), the lengths of key (4) and value (4), key and
//! value; the end is the byte 0, the number (8) and the digest (32). Numbers are little-endian. A
//! stream that breaks off has no end, so it can be told from a whole one.

mod reader;
mod snapshot;
mod writer;

pub use self::reader::{BackupError, Reader};
pub use self::snapshot::Snapshot;
pub use self::writer::Writer;

/// What a backup begins with: the name of the form, and its version.
const MAGIC: &[u8; 16] = b"kubist backup 1\n";
/// The first byte of a record.
const RECORD: u8 = 1;
/// The first byte of the end.
const END: u8 = 0;
/// Bytes of a record before its key.
const HEAD_BYTES: usize = 8 + 8 + 8 + 4 + 4;
/// Bytes of the digest.
const DIGEST_BYTES: usize = 32;
/// The largest key, and the largest value, that a reader takes, in bytes: far more than any
/// engine does, and no more than a damaged length may cost.
const PART_BYTES_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests;
