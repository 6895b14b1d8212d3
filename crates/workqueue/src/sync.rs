//! The locks, the counter and the clock of the queue, in one place.
//!
//! With `--cfg shuttle` they are the shuttle crate's and a test clock, so that tests can try many
//! interleavings of the same code (`queue/interleavings.rs`). In every other build this module is a
//! list of names and one way to lock. `kubist-informers` has a mutex like this one (decision 0069).

#[cfg(shuttle)]
pub(crate) mod under_shuttle;

#[cfg(shuttle)]
pub(crate) use self::under_shuttle::{
    AtomicUsize, Instant, Mutex, MutexGuard, Sleep, lock_after_others, sleep_until,
};
#[cfg(not(shuttle))]
pub(crate) use {
    parking_lot::{Mutex, MutexGuard},
    std::sync::atomic::AtomicUsize,
    tokio::time::{Instant, Sleep, sleep_until},
};

/// How long a caller that finds the lock taken leaves it to the others; the kernel makes it a few
/// times as long. Meanwhile, the others work with warm caches.
#[cfg(not(shuttle))]
const OTHERS_TURN: std::time::Duration = std::time::Duration::from_micros(20);

/// Locks a mutex that is held for well under a microsecond. If it is taken, this thread sleeps
/// once, instead of contending: operations of several processors in turns are as slow as moving
/// the queue's memory between them.
#[cfg(not(shuttle))]
#[expect(
    clippy::disallowed_methods,
    reason = "it is as long as the context switch of a contended lock, and bounded"
)]
pub(crate) fn lock_after_others<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.try_lock().unwrap_or_else(|| {
        std::thread::sleep(OTHERS_TURN);
        mutex.lock()
    })
}
