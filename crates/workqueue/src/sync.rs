//! The locks, the counter and the clock of the queue, in one place.
//!
//! With `--cfg shuttle` they are the shuttle crate's and a test clock, so that tests can try many
//! interleavings of the same code (`queue/interleavings.rs`). In every other build this module is a
//! list of names. `kubist-informers` has a mutex like this one (decision 0069).

#[cfg(shuttle)]
pub(crate) mod under_shuttle;

#[cfg(shuttle)]
pub(crate) use self::under_shuttle::{AtomicUsize, Instant, Mutex, MutexGuard, Sleep, sleep_until};
#[cfg(not(shuttle))]
pub(crate) use {
    parking_lot::{Mutex, MutexGuard},
    std::sync::atomic::AtomicUsize,
    tokio::time::{Instant, Sleep, sleep_until},
};
