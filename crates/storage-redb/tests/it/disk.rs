//! An in-memory disk that loses power: unsynced data is there, or missing, or there in part.

use crate::random::Random;
use redb::StorageBackend;
use std::io;
use std::sync::{Arc, Mutex};

/// What is written atomically, or not at all.
const SECTOR: usize = 512;

/// Clones share the disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The data that survives a loss of power.
    synced: Vec<u8>,
    /// The data that a process sees.
    seen: Vec<u8>,
    unsynced: Vec<Change>,
    /// Number of changes and syncs until the power is lost; `None` for never.
    left: Option<u64>,
    /// Whether it is then full instead of gone.
    full: bool,
    /// The error from then on; full, if there is none.
    refusal: Option<io::ErrorKind>,
    changes: u64,
}

#[derive(Debug)]
enum Change {
    Write { offset: usize, data: Vec<u8> },
    SetLen(usize),
}

impl Disk {
    /// A disk that contains `bytes`.
    pub(crate) fn holding(bytes: Vec<u8>) -> Self {
        let disk = Self::default();
        {
            let mut state = disk.0.lock().unwrap();
            state.synced.clone_from(&bytes);
            state.seen = bytes;
        }
        disk
    }

    /// Loses power after this many further changes and syncs.
    pub(crate) fn fail_after(&self, changes: u64) {
        self.0.lock().unwrap().left = Some(changes);
    }

    /// Is full after this many further changes and syncs.
    pub(crate) fn full_after(&self, changes: u64) {
        let mut state = self.0.lock().unwrap();
        (state.left, state.full) = (Some(changes), true);
    }

    /// Has space again.
    pub(crate) fn free(&self) {
        let mut state = self.0.lock().unwrap();
        (state.left, state.full) = (None, false);
    }

    /// Refuses every change from now on, like a file system that became read-only.
    pub(crate) fn read_only(&self) {
        let mut state = self.0.lock().unwrap();
        (state.left, state.full) = (Some(0), true);
        state.refusal = Some(io::ErrorKind::ReadOnlyFilesystem);
    }

    /// Number of changes and syncs so far.
    pub(crate) fn changes(&self) -> u64 {
        self.0.lock().unwrap().changes
    }

    /// Returns what the process saw last.
    pub(crate) fn seen(&self) -> Vec<u8> {
        self.0.lock().unwrap().seen.clone()
    }

    /// Returns one of the many states in which the disk may be found: each sector of each unsynced
    /// write is there or missing.
    pub(crate) fn after_power_loss(&self, random: &mut Random) -> Vec<u8> {
        let state = self.0.lock().unwrap();
        let mut image = state.synced.clone();
        let kept_of_four = random.below(5);
        for change in &state.unsynced {
            match change {
                Change::SetLen(len) if random.below(4) < kept_of_four => image.resize(*len, 0),
                Change::SetLen(_) => {}
                Change::Write { offset, data } => {
                    let mut at = *offset;
                    let end = offset + data.len();
                    while at < end {
                        let sector_end = ((at / SECTOR + 1) * SECTOR).min(end);
                        if random.below(4) < kept_of_four {
                            put(&mut image, at, &data[at - offset..sector_end - offset]);
                        }
                        at = sector_end;
                    }
                }
            }
        }
        image
    }
}

fn put(image: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if image.len() < end {
        image.resize(end, 0);
    }
    image[offset..end].copy_from_slice(data);
}

impl State {
    fn alive(&self) -> io::Result<()> {
        if self.left == Some(0) && !self.full {
            Err(io::Error::other("the power is gone"))
        } else {
            Ok(())
        }
    }

    fn change(&mut self) -> io::Result<()> {
        self.alive()?;
        if self.left == Some(0) {
            return Err(self.refusal.unwrap_or(io::ErrorKind::StorageFull).into());
        }
        self.left = self.left.map(|left| left - 1);
        self.changes += 1;
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        let state = self.0.lock().unwrap();
        state.alive()?;
        Ok(state.seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.0.lock().unwrap();
        state.alive()?;
        let offset = usize::try_from(offset).unwrap();
        let found = state.seen.get(offset..offset + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.change()?;
        let len = usize::try_from(len).unwrap();
        state.seen.resize(len, 0);
        state.unsynced.push(Change::SetLen(len));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.change()?;
        let state = &mut *state;
        for change in state.unsynced.drain(..) {
            match change {
                Change::SetLen(len) => state.synced.resize(len, 0),
                Change::Write { offset, data } => put(&mut state.synced, offset, &data),
            }
        }
        debug_assert_eq!(state.synced.len(), state.seen.len());
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.change()?;
        let (offset, data) = (usize::try_from(offset).unwrap(), data.to_vec());
        put(&mut state.seen, offset, &data);
        state.unsynced.push(Change::Write { offset, data });
        Ok(())
    }
}
