//! `DataLimit`: the size limit of a store, and the writes refused for it.
//!
//! The writer checks it; its state may be read by anyone.

use crate::WriteError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// No write was refused, or there has been space for it since.
const NOTHING: usize = 0;

#[derive(Debug)]
pub(crate) struct DataLimit {
    bytes_max: Option<usize>,
    /// What the smallest refused write would have added, until there is space for it.
    refused: AtomicUsize,
}

impl DataLimit {
    pub(crate) fn new(bytes_max: Option<usize>) -> Self {
        Self {
            bytes_max,
            refused: AtomicUsize::new(NOTHING),
        }
    }

    /// Returns the same limit for another store.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.bytes_max)
    }

    /// Reports whether a store of `live` bytes may grow by `added`. A write that adds nothing
    /// always fits.
    pub(crate) fn check(&self, live: usize, added: usize) -> Result<(), WriteError> {
        let Some(bytes_max) = self.bytes_max else {
            return Ok(());
        };
        if added == NOTHING || live + added <= bytes_max {
            return Ok(());
        }
        let before = self.refused.load(Ordering::Relaxed);
        if before == NOTHING || added < before {
            self.refused.store(added, Ordering::Relaxed);
        }
        let bytes = live;
        Err(WriteError::Full { bytes, bytes_max })
    }

    /// Notes that the store has `live` bytes now.
    pub(crate) fn note(&self, live: usize) {
        let refused = self.refused.load(Ordering::Relaxed);
        if refused != NOTHING && self.bytes_max.is_none_or(|most| live + refused <= most) {
            self.refused.store(NOTHING, Ordering::Relaxed);
        }
    }

    /// Returns the error of the refused write, if it would still be refused with `live` bytes.
    pub(crate) fn refused(&self, live: usize) -> Option<WriteError> {
        let is_refused = self.refused.load(Ordering::Relaxed) != NOTHING;
        let bytes_max = self.bytes_max.filter(|_| is_refused)?;
        Some(WriteError::Full {
            bytes: live,
            bytes_max,
        })
    }
}
