//! The mutex of a listener, in one place.
//!
//! With `--cfg shuttle` it is the shuttle crate's, so that tests can try many interleavings of the
//! same code (`listener/interleavings.rs`). In every other build this module only renames
//! `parking_lot`'s. `kubist-workqueue` has the same wrapper: the only crate below both would be one
//! for a test configuration (decision 0069).

#[cfg(shuttle)]
pub(crate) use self::under_shuttle::Mutex;
#[cfg(not(shuttle))]
pub(crate) use parking_lot::Mutex;

#[cfg(shuttle)]
mod under_shuttle {
    use shuttle::sync::MutexGuard;
    use std::sync::PoisonError;

    /// Behaves like `parking_lot`'s mutex: a panic of one holder does not poison it.
    #[derive(Debug)]
    pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(shuttle::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
