//! `Unchanged`: by which values errors pass in an update.

use crate::correlate::Correlation;

/// The values that, if they are unchanged, let errors pass.
#[derive(Clone, Copy, Default)]
pub(super) struct Unchanged<'a> {
    /// The value itself; none if it does not correlate.
    pub(super) current: Option<Correlation<'a>>,
    /// The nearest value around it that correlates.
    pub(super) nearest: Option<Correlation<'a>>,
}

impl<'a> Unchanged<'a> {
    pub(super) fn member(self, name: &str) -> Self {
        match self.current {
            None => self,
            // These do not show a change: both objects have the same version.
            Some(_) if self.nearest.is_none() && matches!(name, "apiVersion" | "kind") => {
                Self::default()
            }
            Some(current) => Self {
                current: current.member(name),
                nearest: Some(current),
            },
        }
    }

    pub(super) fn item(self, item: Option<Correlation<'a>>) -> Self {
        match self.current {
            None => self,
            Some(current) => Self {
                current: item,
                nearest: Some(current),
            },
        }
    }
}
