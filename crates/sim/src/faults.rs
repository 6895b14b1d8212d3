//! `Faults`: which faults are injected, and until when.

use crate::dice::Dice;
use crate::plan::Trouble;
use crate::trace::Trace;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often things go wrong, as long as they do.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) trouble: Trouble,
    calm: AtomicBool,
    pub(crate) trace: Trace,
}

impl Faults {
    pub(crate) fn new(trouble: Trouble, trace: &Trace) -> Self {
        Self {
            trouble,
            calm: AtomicBool::new(false),
            trace: trace.clone(),
        }
    }

    /// No faults from now on.
    pub(crate) fn calm_down(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Whether there are no faults any more.
    pub(crate) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    /// Whether a fault of this frequency happens now.
    pub(crate) fn strike(&self, dice: &mut Dice, percent: u32) -> bool {
        // The dice are rolled in any case, so that they mean the same afterwards.
        dice.chance(percent) && !self.is_calm()
    }
}
