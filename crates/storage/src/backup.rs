//! Backups: all current keys of an engine at one revision, as a byte stream.
//!
//! [`Snapshot`] reads them page by page while others write, [`Writer`] encodes pages, and
//! [`Reader`] verifies and decodes them. Neither holds more than a page. A backup has no history:
//! values that were replaced before its revision are not in it.
//!
//! # Format
//!
//! `kubist backup 1\n`, the revision, one record for each key in byte order, and the end marker
//! with the number of records and the SHA-256 of all bytes before it. A record is the byte 2,
//! creation revision (8), modification revision (8), version (8), lease (8, zero for none), the
//! lengths of key (4) and value (4), key and value. The byte 1 begins a record without a version,
//! as earlier releases wrote it. The end marker is the byte 0, the number (8) and the digest (32).
//! Numbers are little-endian. A truncated stream has no end marker, so it is detected.

mod reader;
mod snapshot;
mod writer;

pub use self::reader::{BackupError, Reader};
pub use self::snapshot::Snapshot;
pub use self::writer::Writer;

/// The header of a backup: the name of the format and its version.
const MAGIC: &[u8; 16] = b"kubist backup 1\n";
/// The first byte of a record.
const RECORD: u8 = 2;
/// The first byte of a record without a version.
const RECORD_WITHOUT_VERSION: u8 = 1;
/// The first byte of the end marker.
const END: u8 = 0;
/// Bytes of a record's revisions.
const REVISIONS_BYTES: usize = 8 + 8;
/// Bytes of a record between the version and the key.
const LENGTHS_BYTES: usize = 8 + 4 + 4;
/// Bytes of the digest.
const DIGEST_BYTES: usize = 32;
/// The largest key, and the largest value, that a reader accepts, in bytes: far more than any
/// engine accepts, and a bound on the cost of a corrupt length.
const PART_BYTES_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests;
