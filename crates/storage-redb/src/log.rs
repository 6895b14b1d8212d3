//! `Log`: a file to which records are appended, each synced before it counts.
//!
//! The file is used again and again: it begins with the number of the round, twice, and a record
//! counts only if its checksum is that of this round and place. So what is left of earlier rounds
//! need not be erased, and a file that does not grow is synced at the cost of its data alone.
//!
//! A record that was being written when the power failed is not complete, was not acknowledged, and
//! is ignored. If complete records follow it, it was complete once, and the log is damaged.

use crc32fast::Hasher;
use redb::StorageBackend;
use std::fmt;
use std::io::{self, ErrorKind};

const MAGIC: &[u8; 8] = b"kubistL1";
/// Each copy of the header is in a sector of its own, which is written whole or not at all.
const SECTOR_BYTES: usize = 512;
/// Where the records begin.
const START: usize = 2 * SECTOR_BYTES;
const HEADER_BYTES: usize = 8 + 8 + 8 + 4;
const RECORD_MAGIC: [u8; 4] = [0xA5, b'r', b'e', b'c'];
/// Bytes of a record before its payload: the magic, its length and its checksum.
const RECORD_HEAD_BYTES: usize = 4 + 4 + 4;
/// The file grows by so much at once, filled with zeros.
const GROWTH_BYTES: usize = 256 << 10;

/// A log that is open.
pub(crate) struct Log {
    file: Box<dyn StorageBackend>,
    /// The number of the round; zero before the first.
    round: u64,
    /// Where the next record begins.
    end: usize,
    len: usize,
}

/// Records of a round, in their order.
#[derive(Debug, Default)]
pub(crate) struct Records(pub(crate) Vec<Vec<u8>>);

impl Log {
    /// Opens a log of a store, and returns the records of its round.
    ///
    /// # Errors
    /// It is that of another store, or damaged (`InvalidData`); or it cannot be read.
    pub(crate) fn open(file: Box<dyn StorageBackend>, store: u64) -> io::Result<(Self, Records)> {
        let len = usize::try_from(file.len()?).unwrap_or(usize::MAX);
        let mut log = Self {
            file,
            round: 0,
            end: START,
            len,
        };
        if len < START {
            // It was created and not begun.
            return Ok((log, Records::default()));
        }
        let mut bytes = vec![0; len];
        log.file.read(0, &mut bytes)?;
        let headers = [&bytes[..SECTOR_BYTES], &bytes[SECTOR_BYTES..START]];
        let found = headers.into_iter().filter_map(header).max_by_key(|it| it.1);
        let Some((of, round)) = found else {
            // Its round was being begun, so there are no records yet.
            return Ok((log, Records::default()));
        };
        if of != store {
            return Err(damaged("the log is that of another store"));
        }
        log.round = round;
        let mut records = Vec::new();
        while let Some(payload) = record(&bytes, log.end, round) {
            log.end += RECORD_HEAD_BYTES + payload.len();
            records.push(payload.to_vec());
        }
        if has_record_after(&bytes, log.end, round) {
            return Err(damaged("a record of the log is damaged"));
        }
        Ok((log, Records(records)))
    }

    /// The number of its round.
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    /// Bytes of its records.
    pub(crate) fn used(&self) -> usize {
        self.end - START
    }

    /// Bytes of its file.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.len as u64
    }

    /// Begins a round: the records of earlier ones are gone.
    pub(crate) fn begin(&mut self, store: u64, round: u64) -> io::Result<()> {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(MAGIC);
        header[8..16].copy_from_slice(&store.to_le_bytes());
        header[16..24].copy_from_slice(&round.to_le_bytes());
        let checksum = crc32fast::hash(&header[..24]);
        header[24..].copy_from_slice(&checksum.to_le_bytes());
        let mut block = [0; START];
        block[..HEADER_BYTES].copy_from_slice(&header);
        block[SECTOR_BYTES..][..HEADER_BYTES].copy_from_slice(&header);
        self.grow_to(START)?;
        self.file.write(0, &block)?;
        self.file.sync_data()?;
        self.round = round;
        self.end = START;
        Ok(())
    }

    /// Appends a record. It is durable when this returns.
    pub(crate) fn append(&mut self, payload: &[u8]) -> io::Result<()> {
        let len =
            u32::try_from(payload.len()).map_err(|_| io::Error::from(ErrorKind::FileTooLarge))?;
        let mut record = Vec::with_capacity(RECORD_HEAD_BYTES + payload.len());
        record.extend_from_slice(&RECORD_MAGIC);
        record.extend_from_slice(&len.to_le_bytes());
        record.extend_from_slice(&checksum(self.round, self.end, payload).to_le_bytes());
        record.extend_from_slice(payload);
        self.grow_to(self.end + record.len())?;
        self.file.write(self.end as u64, &record)?;
        self.file.sync_data()?;
        self.end += record.len();
        Ok(())
    }

    fn grow_to(&mut self, needed: usize) -> io::Result<()> {
        if needed <= self.len {
            return Ok(());
        }
        let len = needed.next_multiple_of(GROWTH_BYTES);
        self.file.set_len(len as u64)?;
        // Written, so that later writes do not have to find room.
        self.file.write(self.len as u64, &vec![0; len - self.len])?;
        self.len = len;
        Ok(())
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("round", &self.round)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

fn damaged(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Returns the store and the round of a header, if it is one.
fn header(sector: &[u8]) -> Option<(u64, u64)> {
    let (content, checksum) = sector.get(..HEADER_BYTES)?.split_at_checked(24)?;
    let is_whole =
        content.starts_with(MAGIC) && crc32fast::hash(content).to_le_bytes() == *checksum;
    let number = |at: usize| Some(u64::from_le_bytes(*content[at..].first_chunk()?));
    is_whole.then_some(())?;
    Some((number(8)?, number(16)?))
}

fn checksum(round: u64, offset: usize, payload: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&round.to_le_bytes());
    hasher.update(&(offset as u64).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Returns the payload of the record at an offset, if there is a complete one of this round.
fn record(bytes: &[u8], offset: usize, round: u64) -> Option<&[u8]> {
    let rest = bytes.get(offset..)?.strip_prefix(&RECORD_MAGIC)?;
    let (len, rest) = rest.split_first_chunk()?;
    let (found, rest) = rest.split_first_chunk()?;
    let payload = rest.get(..u32::from_le_bytes(*len) as usize)?;
    (checksum(round, offset, payload) == u32::from_le_bytes(*found)).then_some(payload)
}

/// Reports whether there is a complete record of this round anywhere behind an offset.
fn has_record_after(bytes: &[u8], offset: usize, round: u64) -> bool {
    let rest = bytes.get(offset..).unwrap_or_default();
    let places = rest.windows(RECORD_MAGIC.len()).enumerate();
    let mut places = places.filter(|(_, window)| **window == RECORD_MAGIC);
    places.any(|(at, _)| record(bytes, offset + at, round).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use redb::backends::InMemoryBackend;
    use std::sync::Arc;

    /// Clones share the file.
    #[derive(Clone, Debug)]
    struct Shared(Arc<InMemoryBackend>);

    impl StorageBackend for Shared {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.0.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.0.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.0.write(offset, data)
        }
    }

    fn file() -> Shared {
        Shared(Arc::new(InMemoryBackend::new()))
    }

    fn open(file: &Shared) -> io::Result<(Log, Vec<Vec<u8>>)> {
        let (log, records) = Log::open(Box::new(file.clone()), 5)?;
        Ok((log, records.0))
    }

    #[test]
    fn records_of_the_last_round_are_found_and_those_of_earlier_ones_are_not() {
        let file = file();
        let (mut log, found) = open(&file).unwrap();
        assert!(found.is_empty());
        log.begin(5, 1).unwrap();
        for record in ["a", "bc", "", "def"] {
            log.append(record.as_bytes()).unwrap();
        }
        let (mut log, found) = open(&file).unwrap();
        assert_eq!(found, [&b"a"[..], b"bc", b"", b"def"]);
        assert_eq!(log.round(), 1);
        log.begin(5, 2).unwrap();
        assert!(open(&file).unwrap().1.is_empty());
        log.append(b"x").unwrap();
        assert_eq!(open(&file).unwrap().1, [b"x"]);
    }

    #[test]
    fn record_that_is_cut_off_is_ignored_and_overwritten() {
        let file = file();
        let (mut log, _) = open(&file).unwrap();
        log.begin(5, 1).unwrap();
        log.append(b"first").unwrap();
        let end = log.end;
        log.append(&[7; 100]).unwrap();
        file.write((end + 60) as u64, &[0; 20]).unwrap();
        let (mut log, found) = open(&file).unwrap();
        assert_eq!(found, [b"first"]);
        log.append(b"second").unwrap();
        assert_eq!(open(&file).unwrap().1, [&b"first"[..], b"second"]);
    }

    #[test]
    fn record_that_is_damaged_before_others_is_an_error() {
        let file = file();
        let (mut log, _) = open(&file).unwrap();
        log.begin(5, 1).unwrap();
        for _ in 0..3 {
            log.append(&[7; 100]).unwrap();
        }
        let second = START + RECORD_HEAD_BYTES + 100;
        for at in [0, 4, 8, RECORD_HEAD_BYTES + 50] {
            let mut before = [0];
            let at = (second + at) as u64;
            file.read(at, &mut before).unwrap();
            file.write(at, &[before[0] ^ 1]).unwrap();
            let error = open(&file).unwrap_err();
            assert_eq!(error.to_string(), "a record of the log is damaged");
            file.write(at, &before).unwrap();
        }
        assert_eq!(open(&file).unwrap().1.len(), 3);
    }

    #[test]
    fn one_copy_of_the_header_is_enough_and_the_store_must_be_the_same() {
        let file = file();
        let (mut log, _) = open(&file).unwrap();
        log.begin(5, 9).unwrap();
        log.append(b"a").unwrap();
        for sector in [0, SECTOR_BYTES] {
            let mut copy = [0; SECTOR_BYTES];
            file.read(sector as u64, &mut copy).unwrap();
            file.write(sector as u64, &[0; SECTOR_BYTES]).unwrap();
            assert_eq!(open(&file).unwrap().1, [b"a"]);
            file.write(sector as u64, &copy).unwrap();
        }
        let error = Log::open(Box::new(file), 6).unwrap_err();
        assert_eq!(error.to_string(), "the log is that of another store");
    }
}
