//! `Steps`: the work that one validation may take.

/// The number of steps that validation may still take: one for each schema that is applied to a
/// value, and more for long texts. A schema and an object that are both large could otherwise take
/// minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    left: u64,
    max: u64,
}

impl Steps {
    /// Creates a number of steps.
    pub fn new(max: u64) -> Self {
        Self { left: max, max }
    }

    /// Returns the steps taken.
    pub fn taken(&self) -> u64 {
        self.max - self.left
    }

    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Takes steps, and reports whether there were enough.
    pub(crate) fn take(&mut self, count: u64) -> bool {
        self.left = self.left.saturating_sub(count);
        self.left > 0
    }
}

/// Twenty million steps: a second or two, and a hundred times what the largest objects of usual
/// schemas take.
impl Default for Steps {
    fn default() -> Self {
        Self::new(20_000_000)
    }
}
