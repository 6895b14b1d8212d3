//! `Unsynced`: a file whose writes the system keeps and writes to the disk when it likes.

use redb::backends::FileBackend;
use redb::{DatabaseError, StorageBackend};
use std::fs::File;
use std::io;

/// A file that is never synced.
#[derive(Debug)]
pub(crate) struct Unsynced(FileBackend);

impl Unsynced {
    pub(crate) fn new(file: File) -> Result<Self, DatabaseError> {
        FileBackend::new(file).map(Self)
    }
}

impl StorageBackend for Unsynced {
    fn len(&self) -> Result<u64, io::Error> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.0.write(offset, data)
    }

    fn close(&self) -> Result<(), io::Error> {
        self.0.close()
    }
}
