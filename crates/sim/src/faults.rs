//! `Faults`: which faults are injected, and until when.

use crate::plan::FaultRates;
use crate::rng::SimRng;
use crate::trace::Trace;
use std::sync::atomic::{AtomicBool, Ordering};

/// The frequencies of faults, as long as they are injected.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) trouble: FaultRates,
    calm: AtomicBool,
    pub(crate) trace: Trace,
}

impl Faults {
    pub(crate) fn new(trouble: FaultRates, trace: &Trace) -> Self {
        Self {
            trouble,
            calm: AtomicBool::new(false),
            trace: trace.clone(),
        }
    }

    /// Stops injecting faults.
    pub(crate) fn calm_down(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Reports whether faults have stopped.
    pub(crate) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    /// Decides whether a fault of this frequency occurs now.
    pub(crate) fn strike(&self, rng: &mut SimRng, percent: u32) -> bool {
        // The generator is used in any case, so that later numbers are the same.
        rng.chance(percent) && !self.is_calm()
    }
}
