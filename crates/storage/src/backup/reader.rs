//! `Reader`: decodes and verifies a backup.

use super::{DIGEST_BYTES, END, LENGTHS_BYTES, MAGIC, PART_BYTES_MAX};
use super::{RECORD, RECORD_WITHOUT_VERSION, REVISIONS_BYTES};
use crate::{KeyValue, LeaseId, Note, Revision};
use bytes::Bytes;
use ring::digest::{Context, SHA256};
use std::fmt;
use std::io::{self, ErrorKind, Read};

/// Why a backup cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// It does not begin like a backup.
    #[error("this is not a backup, or of another version")]
    Foreign,
    /// It is truncated.
    #[error("the backup is truncated after {records} objects")]
    BrokenOff {
        /// Number of objects that were read.
        records: u64,
    },
    /// It is corrupt.
    #[error("the backup is damaged: {why}")]
    Damaged {
        /// What is wrong.
        why: &'static str,
    },
    /// Reading failed.
    #[error("the backup cannot be read")]
    Io(#[source] io::Error),
}

/// Reads a backup. Until [`next`](Self::next) returns `None`, the data is not verified.
pub struct Reader<R> {
    input: R,
    digest: Context,
    revision: Revision,
    records: u64,
    /// The previous key.
    last: Bytes,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the header. `input` is read in small pieces, so it should be buffered.
    ///
    /// # Errors
    /// It is not a backup, or cannot be read.
    pub fn open(input: R) -> Result<Self, BackupError> {
        let mut reader = Self {
            input,
            digest: Context::new(&SHA256),
            revision: Revision::ZERO,
            records: 0,
            last: Bytes::new(),
            ended: false,
        };
        let mut magic = [0; MAGIC.len()];
        reader.fill(&mut magic).map_err(|error| match error {
            BackupError::BrokenOff { .. } => BackupError::Foreign,
            error => error,
        })?;
        if magic != *MAGIC {
            return Err(BackupError::Foreign);
        }
        reader.revision = Revision(reader.number()?);
        Ok(reader)
    }

    /// Returns the revision of the backup.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the number of objects read.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the next key; `None` at the end, once everything is verified.
    ///
    /// # Errors
    /// It is truncated, corrupt, or cannot be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator would hide errors"
    )]
    pub fn next(&mut self) -> Result<Option<KeyValue>, BackupError> {
        if self.ended {
            return Ok(None);
        }
        let mut kind = [0];
        self.fill(&mut kind)?;
        match kind[0] {
            RECORD => self.record(true).map(Some),
            RECORD_WITHOUT_VERSION => self.record(false).map(Some),
            END => self.end().map(|()| None),
            _ => Err(damaged("there is neither an object nor the end")),
        }
    }

    fn record(&mut self, has_version: bool) -> Result<KeyValue, BackupError> {
        let mut revisions = [0; REVISIONS_BYTES];
        self.fill(&mut revisions)?;
        let create_revision = Revision(number_at(&revisions, 0));
        let mod_revision = Revision(number_at(&revisions, 8));
        let version = if has_version {
            self.number()?
        } else {
            // Earlier releases did not count.
            1 + u64::from(create_revision != mod_revision)
        };
        let mut lengths = [0; LENGTHS_BYTES];
        self.fill(&mut lengths)?;
        let length = |at: usize| {
            let bytes = lengths[at..].first_chunk().copied();
            u32::from_le_bytes(bytes.unwrap_or_default()) as usize
        };
        let (key_len, value_len) = (length(8), length(12));
        if key_len == 0 || key_len > PART_BYTES_MAX || value_len > PART_BYTES_MAX {
            return Err(damaged("the size of an object is invalid"));
        }
        let (key, value) = (self.bytes(key_len)?, self.bytes(value_len)?);
        let lease = i64::from_le_bytes(number_at(&lengths, 0).to_le_bytes());
        let kv = KeyValue {
            key,
            value,
            create_revision,
            mod_revision,
            version,
            lease: Some(LeaseId(lease)).filter(|lease| lease.0 != 0),
            note: Note::default(),
        };
        if kv.key <= self.last {
            return Err(damaged("its keys are not in order"));
        }
        if kv.create_revision > kv.mod_revision || kv.mod_revision > self.revision {
            return Err(damaged("the revisions of an object make no sense"));
        }
        self.last = kv.key.clone();
        self.records += 1;
        Ok(kv)
    }

    fn end(&mut self) -> Result<(), BackupError> {
        if self.number()? != self.records {
            return Err(damaged("objects are missing"));
        }
        let expected = self.digest.clone().finish();
        let mut found = [0; DIGEST_BYTES];
        self.fill(&mut found)?;
        if expected.as_ref() != found {
            return Err(damaged("its digest is not that of its bytes"));
        }
        match self.input.read(&mut [0]) {
            Ok(0) => {
                self.ended = true;
                Ok(())
            }
            Ok(_) => Err(damaged("there is more behind its end")),
            Err(error) => Err(BackupError::Io(error)),
        }
    }

    fn number(&mut self) -> Result<u64, BackupError> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads this many bytes; the buffer grows as they arrive.
    fn bytes(&mut self, len: usize) -> Result<Bytes, BackupError> {
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(len as u64).read_to_end(&mut bytes);
        read.map_err(BackupError::Io)?;
        if bytes.len() < len {
            return Err(self.broken_off());
        }
        self.digest.update(&bytes);
        Ok(bytes.into())
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), BackupError> {
        match self.input.read_exact(buffer) {
            Ok(()) => {
                self.digest.update(buffer);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.broken_off()),
            Err(error) => Err(BackupError::Io(error)),
        }
    }

    fn broken_off(&self) -> BackupError {
        BackupError::BrokenOff {
            records: self.records,
        }
    }
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..].first_chunk().copied();
    u64::from_le_bytes(bytes.unwrap_or_default())
}

fn damaged(why: &'static str) -> BackupError {
    BackupError::Damaged { why }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("revision", &self.revision)
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
}
