//! The lock of a listener, from one place.
//!
//! Built with `--cfg shuttle` it is the shuttle crate's, so that tests can try many interleavings
//! of the same code (`listener/interleavings.rs`). In every other build this module is a name.

#[cfg(shuttle)]
pub(crate) use self::under_shuttle::Mutex;
#[cfg(not(shuttle))]
pub(crate) use parking_lot::Mutex;

#[cfg(shuttle)]
mod under_shuttle {
    use shuttle::sync::MutexGuard;
    use std::sync::PoisonError;

    /// As that of `parking_lot`: a panic of one holder is no concern of the next.
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
