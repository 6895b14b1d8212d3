//! `RateLimiter`: how long a failed item waits before it runs again.
//!
//! A limiter receives the number of consecutive failures, so most limiters need no state. The queue
//! keeps the count while the item waits or runs, and drops it on success. Time is the duration
//! since the queue was created. A limiter has no timer and adds nothing to a queue.
//!
//! Numbers and behaviour are those of client-go's `default_rate_limiters.go`; [`Jitter`] is ours.

mod bucket;
mod exponential;
mod fast_slow;
mod jitter;
mod max_of;
mod max_wait;

pub use self::bucket::Bucket;
pub use self::exponential::Exponential;
pub use self::fast_slow::FastSlow;
pub use self::jitter::Jitter;
pub use self::max_of::MaxOf;
pub use self::max_wait::MaxWait;
use std::time::Duration;

/// Decides how long an item waits after a failure.
///
/// The queue calls it under its lock: it must not block, panic or use the queue.
pub trait RateLimiter<T: ?Sized>: Send {
    /// Returns how long `item` waits from `now` on. `failures` is the number of consecutive
    /// failures, including this one, so it is at least 1.
    fn delay(&mut self, item: &T, failures: u32, now: Duration) -> Duration;

    /// Called when an item that had failed succeeds or is forgotten; its next failure will be its
    /// first.
    fn forget(&mut self, _item: &T) {}
}

impl<T: ?Sized, L: RateLimiter<T> + ?Sized> RateLimiter<T> for Box<L> {
    fn delay(&mut self, item: &T, failures: u32, now: Duration) -> Duration {
        (**self).delay(item, failures, now)
    }

    fn forget(&mut self, item: &T) {
        (**self).forget(item);
    }
}

/// The default of client-go's controllers: the larger of [`Exponential::default`] for the item and
/// [`Bucket::default`] for the queue as a whole. Without jitter.
pub fn default_controller<T: ?Sized + 'static>() -> MaxOf<T> {
    MaxOf::new(vec![
        Box::new(Exponential::default()),
        Box::new(Bucket::default()),
    ])
}

/// The default of client-go for independent keys: 1 ms doubling to 1,000 s for the item, and no
/// limit for the queue as a whole.
pub fn default_item_based() -> Exponential {
    Exponential {
        base: Duration::from_millis(1),
        ..Exponential::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_based_default_doubles_from_1_ms_to_1000_s() {
        let mut limiter = default_item_based();
        let mut wait = |failures| limiter.delay("a", failures, Duration::ZERO).as_millis();
        assert_eq!(
            [1, 2, 20, 21, 50].map(&mut wait),
            [1, 2, 524_288, 1_000_000, 1_000_000]
        );
    }
}
