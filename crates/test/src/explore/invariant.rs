//! `Invariant`: what must hold in every state.

use crate::explore::panics::Panics;
use crate::explore::problem::Problem;
use crate::explore::state::State;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Check = dyn Fn(&State) -> Result<(), String> + Send + Sync;

/// A named function of a state.
#[derive(Clone)]
pub(crate) struct Invariant {
    name: String,
    check: Arc<Check>,
}

impl Invariant {
    pub(crate) fn new(
        name: impl Into<String>,
        check: impl Fn(&State) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            check: Arc::new(check),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Asks whether it holds.
    ///
    /// # Errors
    /// It does not, or it panicked.
    pub(crate) fn check(&self, state: &State) -> Result<(), Problem> {
        let name = || self.name.clone();
        let checked = catch_unwind(AssertUnwindSafe(|| (self.check)(state)));
        match checked {
            Ok(Ok(())) => Ok(()),
            Ok(Err(message)) => Err(Problem::Invariant {
                name: name(),
                message,
            }),
            Err(_) => Err(Problem::InvariantPanicked {
                name: name(),
                // It is not a panic of a controller.
                message: Panics::take().pop().unwrap_or_default(),
            }),
        }
    }
}

impl fmt::Debug for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Invariant").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invariant_that_panics_is_named() {
        let panics = Panics::collect();
        let invariant = Invariant::new("never", |_| panic!("at nothing"));
        let Err(Problem::InvariantPanicked { name, message }) = invariant.check(&State::default())
        else {
            panic!("it panicked");
        };
        assert_eq!(name, "never");
        assert!(message.starts_with("at nothing at "), "{message}");
        assert!(Panics::take().is_empty());
        drop(panics);
    }
}
