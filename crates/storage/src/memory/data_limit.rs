//! `DataLimit`: how much a store may hold, and whether it had to refuse a write because of that.
//!
//! Asked by the one who decides on writes; what it remembers anybody may read.

use crate::WriteError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Nothing has been refused, or there has been room for it since.
const NOTHING: usize = 0;

#[derive(Debug)]
pub(crate) struct DataLimit {
    bytes_max: Option<usize>,
    /// What the smallest write that was refused would have added, until there is room for it.
    missed: AtomicUsize,
}

impl DataLimit {
    pub(crate) fn new(bytes_max: Option<usize>) -> Self {
        Self {
            bytes_max,
            missed: AtomicUsize::new(NOTHING),
        }
    }

    /// The same limit for another store.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.bytes_max)
    }

    /// Whether a store that holds `live` bytes takes `added` more. What adds nothing always fits.
    pub(crate) fn check(&self, live: usize, added: usize) -> Result<(), WriteError> {
        let Some(bytes_max) = self.bytes_max else {
            return Ok(());
        };
        if added == NOTHING || live + added <= bytes_max {
            return Ok(());
        }
        let before = self.missed.load(Ordering::Relaxed);
        if before == NOTHING || added < before {
            self.missed.store(added, Ordering::Relaxed);
        }
        let bytes = live;
        Err(WriteError::Full { bytes, bytes_max })
    }

    /// Notes that the store holds `live` bytes now.
    pub(crate) fn note(&self, live: usize) {
        let missed = self.missed.load(Ordering::Relaxed);
        if missed != NOTHING && self.bytes_max.is_none_or(|most| live + missed <= most) {
            self.missed.store(NOTHING, Ordering::Relaxed);
        }
    }

    /// What a write was refused with, if it would be now that the store holds `live` bytes.
    pub(crate) fn missed(&self, live: usize) -> Option<WriteError> {
        let is_missed = self.missed.load(Ordering::Relaxed) != NOTHING;
        let bytes_max = self.bytes_max.filter(|_| is_missed)?;
        Some(WriteError::Full {
            bytes: live,
            bytes_max,
        })
    }
}
