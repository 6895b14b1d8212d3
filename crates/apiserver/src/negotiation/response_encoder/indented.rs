//! `Indented`: indents JSON piece by piece.

use super::document::{Pieces, Step};
use crate::response::pretty::Indenter;
use bytes::Bytes;
use kubist_apimachinery::Status;

/// Bytes of an object indented at a time.
const SLICE_BYTES: usize = 32 << 10;

/// The JSON of `inner`, indented.
pub(super) struct Indented<P> {
    inner: P,
    indenter: Indenter,
    scratch: Vec<u8>,
}

impl<P> Indented<P> {
    pub(super) fn new(inner: P) -> Self {
        Self {
            inner,
            indenter: Indenter::default(),
            scratch: Vec::new(),
        }
    }
}

impl<P: Pieces> Pieces for Indented<P> {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Step, Status> {
        self.scratch.clear();
        let step = self.inner.write(&mut self.scratch)?;
        self.indenter.push(&self.scratch, out);
        Ok(step)
    }
}

/// JSON in memory.
pub(super) struct Slices(Vec<Bytes>);

impl Slices {
    /// Writes these pieces in order.
    pub(super) fn new(mut all: Vec<Bytes>) -> Self {
        all.reverse();
        Self(all)
    }
}

impl Pieces for Slices {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<Step, Status> {
        let Some(next) = self.0.last_mut() else {
            return Ok(Step::Ended);
        };
        let slice = next.split_to(next.len().min(SLICE_BYTES));
        if next.is_empty() {
            self.0.pop();
        }
        out.extend_from_slice(&slice);
        Ok(Step::Wrote(slice.len()))
    }
}
