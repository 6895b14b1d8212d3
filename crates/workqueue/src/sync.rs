//! The locks, the flag and the clock of the shell, from one place.
//!
//! Built with `--cfg shuttle` they are those of the shuttle crate and of a clock that the test
//! moves, so that tests can try many interleavings of the same code (`queue/interleavings.rs`).
//! In every other build this module is a list of names.

#[cfg(shuttle)]
pub(crate) mod under_shuttle;

#[cfg(shuttle)]
pub(crate) use self::under_shuttle::{AtomicBool, Instant, Mutex, MutexGuard, Sleep, sleep_until};
#[cfg(not(shuttle))]
pub(crate) use {
    parking_lot::{Mutex, MutexGuard},
    std::sync::atomic::AtomicBool,
    tokio::time::{Instant, Sleep, sleep_until},
};
